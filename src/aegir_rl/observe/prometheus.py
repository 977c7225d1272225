r"""A tracker's figures in the Prometheus text exposition format (version 0.0.4).

    aegir_operation_seconds{node="router",operation="forward",quantile="0.99"} 0.0123
    aegir_operation_seconds_sum{node="router",operation="forward"} 4.5
    aegir_operation_seconds_count{node="router",operation="forward"} 900

Serve the text as `text/plain; version=0.0.4; charset=utf-8`. Labels may contain any text: backslash, double quote and
line feed are escaped. Prometheus cannot average quantiles over processes, so merge trackers before exporting.
Format: https://prometheus.io/docs/instrumenting/exposition_formats/
"""

from collections.abc import Iterator

from aegir_rl.observe.performance_tracker import APIPerformanceTracker, OperationMetrics

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
QUANTILES = (("0.5", "p50"), ("0.95", "p95"), ("0.99", "p99"))
FAMILIES = (
    ("items_total", "counter", "Items that calls delivered."),
    ("errors_total", "counter", "Calls that raised."),
    ("refused_total", "counter", "Records left out: NaN, negative or infinite."),
    ("items_per_second", "gauge", "Items from the first start to the last end."),
)
"""Name, kind and help of the families beside the durations; without `_total`, a name is that of the metric."""


def render_prometheus(tracker: APIPerformanceTracker) -> str:
    """All metrics of the tracker as text, one metric family after the other."""
    every = tracker.figures()
    lines = [
        *_head("operation_seconds", "summary", "How long calls of an operation took."),
        *(line for metrics in every for line in _summary(metrics)),
    ]
    for name, kind, text in FAMILIES:
        lines += _head(name, kind, text)
        for metrics in every:
            value = getattr(metrics, name.removesuffix("_total"))
            if value is not None:  # a metric that was not measured has no sample; 0 would be wrong
                lines.append(f"aegir_{name}{_labels(metrics)} {value!r}")
    return "\n".join(lines) + "\n"


def _head(name: str, kind: str, text: str) -> tuple[str, str]:
    return f"# HELP aegir_{name} {text}", f"# TYPE aegir_{name} {kind}"


def _summary(figures: OperationMetrics) -> Iterator[str]:
    for share, name in QUANTILES:
        value = getattr(figures, name)
        if value is not None:
            yield f"aegir_operation_seconds{_labels(figures, quantile=share)} {value!r}"
    yield f"aegir_operation_seconds_sum{_labels(figures)} {figures.busy_seconds!r}"
    yield f"aegir_operation_seconds_count{_labels(figures)} {figures.calls}"


def _labels(figures: OperationMetrics, **more: str) -> str:
    labels = {"node": figures.node, "operation": figures.operation, **more}
    return "{" + ",".join(f'{name}="{_escaped(text)}"' for name, text in labels.items()) + "}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
