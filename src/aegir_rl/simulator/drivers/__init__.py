"""What runs inside a sandbox around a solution that is more than one function; see `kinds.py`. Uses the standard library only."""
