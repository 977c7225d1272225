"""The swarm in numpy, as it ships: network, annotator, pool of specialists."""
