r"""A tracker's figures in the Prometheus text exposition format (version 0.0.4).

    aegir_operation_seconds{node="router",operation="forward",quantile="0.99"} 0.0123
    aegir_operation_seconds_sum{node="router",operation="forward"} 4.5
    aegir_operation_seconds_count{node="router",operation="forward"} 900

Serve the text as `text/plain; version=0.0.4; charset=utf-8`. Labels may contain any text: backslash, double quote and
line feed are escaped. Prometheus cannot average quantiles over processes, so merge trackers before exporting.
Format: https://prometheus.io/docs/instrumenting/exposition_formats/
"""

from collections.abc import Iterable, Iterator

from aegir.observe.performance_tracker import APIPerformanceTracker, Figures

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
QUANTILES = (("0.5", "p50"), ("0.95", "p95"), ("0.99", "p99"))


def render_prometheus(tracker: APIPerformanceTracker) -> str:
    """All figures of the tracker as text, one metric family after the other."""
    figures = tracker.figures()
    lines = [
        *_head("operation_seconds", "summary", "How long calls of an operation took."),
        *(line for one in figures for line in _summary(one)),
        *_head("items_total", "counter", "Items that calls delivered."),
        *_values("items_total", ((one, one.items) for one in figures)),
        *_head("errors_total", "counter", "Calls that raised."),
        *_values("errors_total", ((one, one.errors) for one in figures)),
        *_head("refused_total", "counter", "Records left out: NaN, negative or infinite."),
        *_values("refused_total", ((one, one.refused) for one in figures)),
        *_head("items_per_second", "gauge", "Items from the first start to the last end."),
        *_values("items_per_second", ((one, one.items_per_second) for one in figures)),
    ]
    return "\n".join(lines) + "\n"


def _head(name: str, kind: str, text: str) -> tuple[str, str]:
    return f"# HELP aegir_{name} {text}", f"# TYPE aegir_{name} {kind}"


def _summary(one: Figures) -> Iterator[str]:
    for share, name in QUANTILES:
        value = getattr(one, name)
        if value is not None:
            yield f"aegir_operation_seconds{_labels(one, quantile=share)} {value!r}"
    yield f"aegir_operation_seconds_sum{_labels(one)} {one.busy_seconds!r}"
    yield f"aegir_operation_seconds_count{_labels(one)} {one.calls}"


def _values(name: str, pairs: Iterable[tuple[Figures, float | None]]) -> Iterator[str]:
    for one, value in pairs:
        if value is not None:  # a figure that was not measured has no sample; 0 would be wrong
            yield f"aegir_{name}{_labels(one)} {value!r}"


def _labels(one: Figures, **more: str) -> str:
    labels = {"node": one.node, "operation": one.operation, **more}
    return "{" + ",".join(f'{name}="{_escaped(text)}"' for name, text in labels.items()) + "}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
