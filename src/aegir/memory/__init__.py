"""Review memory: what people said about columns is kept, found again, and offered for similar columns.

location   where the memory is, and whether there is one
review     what a person says about a column, and JSON lines of it
store      reviews in a decision store, append-only (SQLite, PostgreSQL)
recall     which review is about a column, and which are about columns like it
applying   the answer that follows from a review
"""

from typing import TYPE_CHECKING

from aegir_rl.base.lazy import lazy_names

if TYPE_CHECKING:
    from aegir.memory.location import default_location, load_memory
    from aegir.memory.recall import Match, ReviewMemory
    from aegir.memory.review import Review
    from aegir.memory.store import ReviewStore

__all__ = ["Match", "Review", "ReviewMemory", "ReviewStore", "default_location", "load_memory"]
__getattr__ = lazy_names(
    __name__,
    {
        "Match": "recall",
        "Review": "review",
        "ReviewMemory": "recall",
        "ReviewStore": "store",
        "default_location": "location",
        "load_memory": "location",
    },
)
