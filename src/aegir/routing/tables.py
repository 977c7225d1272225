"""The routing tables that ship, and those of users."""

from collections.abc import Collection
from importlib.resources import files
from pathlib import Path

from aegir.routing.features import FEATURES
from aegir_rl.offline.routing_table import RoutingTable, load_table, parse_table

SHIPPED, SHIPPED_WITH_LLM = "routing.yaml", "routing_llm.yaml"


def load_routing(path: Path | None, workers: Collection[str]) -> RoutingTable:
    """Read a routing table, or the one that ships for these workers; raise for what names other features or workers."""
    if path is not None:
        return load_table(path, FEATURES, workers)
    name = SHIPPED_WITH_LLM if "llm" in workers else SHIPPED
    text = (files("aegir.routing") / name).read_text("utf-8")
    return parse_table(text, name, FEATURES, workers)
