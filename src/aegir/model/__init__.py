"""The byte network in numpy: what ships, and the readable truth of the architecture."""
