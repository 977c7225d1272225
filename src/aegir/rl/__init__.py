"""Learning rules: pure functions over episodes, and what decides which task comes next."""
