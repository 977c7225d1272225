"""Settings read from TOML files into plain dataclasses."""
