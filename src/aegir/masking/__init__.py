"""Masking: the same table with its personal columns redacted, tokenised, shifted or generalised, by a policy."""
