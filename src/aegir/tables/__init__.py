"""Tables: read any table from anywhere, sample it, describe what was found in it."""
