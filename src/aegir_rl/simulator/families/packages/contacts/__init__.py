"""A list of contacts: read blocks of text, clean them, merge those of one person."""
