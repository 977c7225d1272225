"""Annotating in a worker: what happens when a store is away."""

import json
from pathlib import Path

from aegir.pipeline.registry import load_annotator
from aegir.pipeline.settings import AnnotationSettings
from aegir.service.annotations import RequestAnnotator, Stores
from aegir.service.jobs import AnnotateJob, Sent
from aegir.service.limits import RequestLimits


def test_a_memory_that_cannot_be_read_is_not_the_senders_fault(tmp_path: Path):
    memory = tmp_path / "memory.db"
    memory.write_text("no database")
    (tmp_path / "a.csv").write_text("id,city\n1,Oslo\n2,Rome\n")
    annotator = RequestAnnotator(
        lambda _: load_annotator("rules"), RequestLimits(), Stores(reviews=str(memory))
    )
    sent = Sent(str(tmp_path), ("a.csv",))
    ((_, reply),) = annotator.answer_jobs([AnnotateJob(sent)])
    sentence = json.loads(reply.body)["error"]
    assert reply.status == 503
    assert sentence.startswith(f"the review memory cannot be read ({memory} is damaged, or no")
    assert sentence.endswith("; memory=false leaves it out")
    assert reply.headers == {"retry-after": "5"}
    job = AnnotateJob(sent, AnnotationSettings(memory=False))
    ((_, reply),) = annotator.answer_jobs([job])
    assert reply.status == 200
