"""Annotators: whatever can say what a column is, behind one interface."""
