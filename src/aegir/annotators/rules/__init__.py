"""Rules: validators, header words and plain arithmetic that need no training."""
