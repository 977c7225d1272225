"""Review memory: what people said about columns is kept, found again, and offered for similar columns.

location   where the memory is, and whether there is one
review     what a person says about a column, and JSON lines of it
store      reviews in a decision store, append-only (SQLite, PostgreSQL)
recall     which review is about a column, and which are about columns like it
conventions   what corrections have in common, learnt behind a gate (`aegir rl update`)
applying   the answer that follows from a review
"""

from aegir_rl.base.lazy import lazy_names

__getattr__ = lazy_names(__name__, __file__)
