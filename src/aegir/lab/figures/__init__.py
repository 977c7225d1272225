"""Tables and plots of what was measured."""
