"""Annotators by name, for `--annotator`.

`dispatch` and `search` stand above this package and are given by their homes, which are imported when they are asked for.
"""

import warnings
from collections.abc import Callable
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path

from aegir.readers.calibration import Thresholds
from aegir.readers.scores import Annotator
from aegir_rl.base.errors import UsageError

DEFAULT = "dispatch"


def _combined(model: Path | None) -> Annotator:
    from aegir.pipeline.combined import CombinedAnnotator
    from aegir.readers.bytes.annotator import load_byte_model
    from aegir.readers.ngrams.annotator import load_ngrams

    return CombinedAnnotator(load_ngrams(model), load_byte_model())


def _ngrams(model: Path | None) -> Annotator:
    from aegir.readers.ngrams.annotator import load_ngrams

    return load_ngrams(model)


def _byte_model(model: Path | None) -> Annotator:
    from aegir.readers.bytes.annotator import load_byte_model

    return load_byte_model(model)


def _swarm(model: Path | None) -> Annotator:
    from aegir.readers.swarm.annotator import load_swarm_annotator

    return load_swarm_annotator(model)


def _rules(model: Path | None) -> Annotator:
    from aegir.readers.rules.annotator import RulesAnnotator

    if model is not None:
        raise UsageError("the annotator 'rules' has no weights; leave --model out")
    return RulesAnnotator()


def _dispatch(model: Path | None) -> Annotator:
    dispatcher: Annotator = import_module("aegir.pipeline.dispatcher").load_dispatcher(model)
    return dispatcher


def _search(
    model: Path | None, effort: str = "high", say: Callable[[str], None] = warnings.warn
) -> Annotator:
    load_search = import_module("aegir.pipeline.search").load_search
    annotator: Annotator = load_search(model, effort, say=say)
    return annotator


ANNOTATORS: dict[str, Callable[[Path | None], Annotator]] = {
    "dispatch": _dispatch,
    "combined": _combined,
    "byte_model": _byte_model,
    "ngrams": _ngrams,
    "rules": _rules,
    "search": _search,
    "swarm": _swarm,
}


def load_annotator(
    name: str = DEFAULT, model: Path | None = None, say: Callable[[str], None] = warnings.warn
) -> Annotator:
    """Return the annotator of that name, with the weights in `model` or those that ship with Aegir.

    `search@high` is a search with this effort, `search@0.75` one with a number; routing tables call it `swarm@high`. `say` is
    called with a sentence for each file of the user's pool that a search would use and cannot.
    """
    kind, sign, effort = name.partition("@")
    if name == "search" or (sign and kind in ("search", "swarm")):
        return _search(model, effort if sign else "high", say)
    if name not in ANNOTATORS:
        near = get_close_matches(name, ANNOTATORS, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(ANNOTATORS)}"
        raise UsageError(f"unknown annotator {name!r}; {hint}")
    return ANNOTATORS[name](model)


def thresholds_for(annotator: Annotator, precision: float) -> Thresholds:
    """Return the confidences from which the annotator reached the precision on held-out tables."""
    points = getattr(annotator, "operating_points", None)
    if points is None:
        raise UsageError(
            f"the annotator {annotator.name!r} has no validation figures to choose a threshold by; "
            "use --min-confidence"
        )
    thresholds: Thresholds = points.thresholds(precision)
    return thresholds


def with_times(annotator: Annotator) -> Annotator:
    """Return the annotator that also measures how long each table takes; raise UsageError if it cannot."""
    timed = getattr(annotator, "timed", None)
    if timed is None:
        raise UsageError(
            f"the annotator {annotator.name!r} measures no times; leave --timing out, or use --annotator swarm"
        )
    measuring: Annotator = timed()
    return measuring


def with_spawning(annotator: Annotator, spawn: str | int) -> Annotator:
    """Return the annotator that wakes so many specialists per table; raise UsageError if it has none."""
    limit = getattr(annotator, "spawning_at", None)
    if limit is None:
        raise UsageError(
            f"the annotator {annotator.name!r} has no specialists; leave --spawn out, or use --annotator swarm"
        )
    limited: Annotator = limit(spawn)
    return limited
