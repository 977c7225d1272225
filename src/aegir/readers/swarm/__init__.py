"""The swarm in numpy: network, annotator, pool of specialists."""
