"""Annotators by name, for `--annotator`: plans over the pipeline (`dispatch`, `combined`, `search`), or a single reader."""

import warnings
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path

from aegir.pipeline.settings import AnnotationSettings
from aegir.readers.calibration import Thresholds
from aegir.readers.scores import Annotator
from aegir_rl.base.errors import UsageError

ROUTED = ("dispatch", "search")
"""Annotators that a routing table, a policy or a language model can be given to."""
READ_NAMES = ("dispatch", "combined", "search", "ngrams")
"""Annotators that answer for columns without values."""
ANNOTATORS = ("dispatch", "combined", "byte_model", "ngrams", "rules", "search", "swarm")


def load_annotator(
    settings: AnnotationSettings | str | None = None,
    *,
    readers: Mapping[str, Annotator] | None = None,
    say: Callable[[str], None] = warnings.warn,
) -> Annotator:
    """Return the annotator that the settings describe, or the one of that name, with the weights in `model` or those that ship.

    `search@high` is a search with this effort, `search@0.75` one with a number. `readers` are further annotators that a routing
    table may call, by name; by default the language model of the settings. `say` is called with a sentence for each file of the
    user's pool that a search would use and cannot.
    """
    if not isinstance(settings, AnnotationSettings):
        settings = AnnotationSettings(annotator=settings) if settings else AnnotationSettings()
    check_settings(settings)
    name = settings.annotator.partition("@")[0]
    annotator = (
        _load_pipeline(settings, readers, say)
        if name in ("dispatch", "combined", "search")
        else _load_reader(name, settings.model)
    )
    return _timed(annotator) if settings.timing else annotator


def check_settings(settings: AnnotationSettings) -> None:
    """Raise `UsageError` for an annotator that does not exist, or that cannot do what the other settings ask for."""
    name, sign, _ = settings.annotator.partition("@")
    if name not in ANNOTATORS or (sign and name != "search"):
        near = get_close_matches(settings.annotator, ANNOTATORS, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(ANNOTATORS)}"
        raise UsageError(f"unknown annotator {settings.annotator!r}; {hint}")
    if settings.names_only and name not in READ_NAMES:
        raise UsageError(
            f"the annotator {name!r} reads no names without values; leave --names-only or --annotator out"
        )
    if settings.effort is not None or settings.within is not None:
        option = "--effort" if settings.effort is not None else "--within"
        if sign and settings.effort is not None:
            raise UsageError(
                f"--annotator {settings.annotator} says its effort already; leave {option} out"
            )
        if name not in ROUTED:
            raise UsageError(
                f"the annotator {name!r} has no effort to choose; leave {option} or --annotator out"
            )
    if any(each is not None for each in (settings.routing, settings.policy, settings.llm)):
        check_routes(settings)


def check_routes(settings: AnnotationSettings) -> None:
    """Raise `UsageError` for an annotator that makes no routing decisions."""
    if settings.annotator.partition("@")[0] not in ROUTED:
        raise UsageError(
            f"the annotator {settings.annotator!r} does not route columns; leave --annotator out, or give "
            f"--annotator {ROUTED[0]}"
        )


def _load_pipeline(
    settings: AnnotationSettings,
    readers: Mapping[str, Annotator] | None,
    say: Callable[[str], None],
) -> Annotator:
    from aegir.pipeline.pipeline import load_pipeline

    if readers is None and settings.llm is not None:
        from aegir.readers.llm.annotator import LlmAnnotator

        readers = {LlmAnnotator.name: LlmAnnotator(settings.llm)}
    return load_pipeline(settings, readers=readers, say=say)


def _load_reader(name: str, model: Path | None) -> Annotator:
    if name == "ngrams":
        from aegir.readers.ngrams.annotator import load_ngrams

        return load_ngrams(model)
    if name == "byte_model":
        from aegir.readers.bytes.annotator import load_byte_model

        return load_byte_model(model)
    if name == "swarm":
        from aegir.readers.swarm.annotator import load_swarm_annotator

        return load_swarm_annotator(model)
    from aegir.readers.rules.annotator import RulesAnnotator

    if model is not None:
        raise UsageError("the annotator 'rules' has no weights; leave --model out")
    return RulesAnnotator()


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


def _timed(annotator: Annotator) -> Annotator:
    """Return the annotator that also measures times; raise `UsageError` if it cannot."""
    timed = getattr(annotator, "timed", None)
    if timed is None:
        raise UsageError(
            f"the annotator {annotator.name!r} measures no times; leave --timing out, or use --annotator swarm"
        )
    measuring: Annotator = timed()
    return measuring
