from aegir.memory.location import default_location as default_location
from aegir.memory.location import load_memory as load_memory
from aegir.memory.recall import Match as Match
from aegir.memory.recall import ReviewMemory as ReviewMemory
from aegir.memory.review import Review as Review
from aegir.memory.store import ReviewStore as ReviewStore
