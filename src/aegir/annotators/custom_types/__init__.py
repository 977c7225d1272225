"""Types a user teaches: from a few example columns to an answer of `annotate`, without training a network."""
