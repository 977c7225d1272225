"""What the service counts, and forgets."""

import json

import pytest

from aegir.service import status as statuses
from aegir.service.job_queue import QueueMetrics
from aegir.service.limits import RequestLimits
from aegir.service.responses import Reply, json_reply
from aegir.service.status import Status


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr("aegir.service.status.time.monotonic", lambda: now[0])
    return now


def annotated(columns: int = 3, **facts: object) -> Reply:
    return json_reply({}, facts={"run": "r", "tables": ["a.csv"], "columns": columns, **facts})


def new_status() -> Status:
    return Status(QueueMetrics(2), RequestLimits(), {"version": "7"})


def test_requests_and_columns_are_counted_by_operation(clock: list[float]):
    status = new_status()
    status.note("annotate", 0.5, annotated(columns=10))
    status.note("annotate", 0.5, None)  # it was refused
    status.note("types", 0.1, json_reply({}, 404))
    shown = status.as_dict()
    by_name = {each["operation"]: each for each in shown["operations"]}
    assert (by_name["annotate"]["calls"], by_name["annotate"]["errors"]) == (2, 1)
    assert (by_name["types"]["calls"], by_name["types"]["errors"]) == (1, 1)
    assert (shown["version"], shown["pool"]["workers"]) == ("7", 2)
    assert json.loads(json.dumps(shown)) == shown


def test_throughput_is_kept_in_stretches_of_time_and_quiet_ones_are_filled_in(clock: list[float]):
    status = new_status()
    status.note("annotate", 0.1, annotated(columns=4))
    clock[0] += 3 * statuses.BUCKET_SECONDS
    status.note("annotate", 0.1, annotated(columns=6))
    assert status.as_dict()["history"] == [[1, 4], [0, 0], [0, 0], [1, 6]]
    clock[0] += 10 * statuses.BUCKETS * statuses.BUCKET_SECONDS  # a quiet night
    history = status.as_dict()["history"]
    assert history == [[0, 0]] * statuses.BUCKETS


def test_the_last_runs_are_kept_the_newest_first_and_without_values():
    status = new_status()
    for number in range(statuses.RUNS + 5):
        status.note("annotate", 0.25, annotated(run=str(number), woken={}))
    runs = status.runs()
    assert len(runs) == statuses.RUNS
    assert [run["run"] for run in runs[:2]] == ["204", "203"]
    assert set(runs[0]) == {"run", "tables", "columns", "at", "seconds"}
    status.note("types", 0.1, json_reply({}))  # nothing was annotated
    assert len(status.runs()) == statuses.RUNS


def test_who_was_called_for_which_columns_is_summed_up():
    status = new_status()
    status.note("annotate", 0.1, annotated(woken={"rules": {"money": 2}, "bytes": {"unsure": 1}}))
    status.note("annotate", 0.1, annotated(woken={"rules": {"money": 1, "name": 1}}))
    assert status.as_dict()["woken"] == {"rules": {"money": 3, "name": 1}, "bytes": {"unsure": 1}}


def test_metrics_are_gauges_and_counters_of_prometheus():
    metrics = QueueMetrics(2, busy=1, refused=4)
    text = Status(metrics, RequestLimits(), {}).metrics()
    assert "# TYPE aegir_service_busy gauge\naegir_service_busy 1\n" in text
    assert "# TYPE aegir_service_refused_total counter\naegir_service_refused_total 4\n" in text
