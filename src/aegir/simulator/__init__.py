"""The simulator: software tasks about tables, sandboxes that run untrusted solutions, and an environment that learns from both."""
