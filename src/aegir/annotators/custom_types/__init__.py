"""Types that a user teaches by example columns: a linear head per type on frozen embeddings."""
