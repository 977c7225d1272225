"""Rules: validators, header words and arithmetic that need no training; judge.py applies them."""
