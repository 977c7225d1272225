"""Types that a user teaches by example columns: a small head per type on what frozen networks read."""
