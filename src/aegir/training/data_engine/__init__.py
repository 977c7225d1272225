"""Training tables from many sources: gold, translated, rebuilt, guessed and made up, each one switchable."""
