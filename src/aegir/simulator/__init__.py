"""Small software tasks about tables, programs that try to solve them, and a sandbox where solutions run."""
