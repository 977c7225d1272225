"""The byte network in torch, for training: its recurrences in a form to read and a form that is fast."""
