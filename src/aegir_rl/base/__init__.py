"""What every package may import: errors, arrays, files, seeds, settings, run folders, wording, HTML."""
