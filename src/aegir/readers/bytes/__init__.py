"""The byte network in numpy: the implementation that ships."""
