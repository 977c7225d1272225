"""Annotating in a worker: what happens when a store is away."""

import json
from pathlib import Path

from aegir.pipeline.registry import load_annotator
from aegir.service.annotating import Annotating, Stores
from aegir.service.limits import Limits
from aegir.service.options import AnnotateOptions


def test_a_memory_that_cannot_be_read_is_not_the_senders_fault(tmp_path: Path):
    memory = tmp_path / "memory.db"
    memory.write_text("no database")
    (tmp_path / "a.csv").write_text("id,city\n1,Oslo\n2,Rome\n")
    annotating = Annotating(load_annotator("rules"), Limits(), Stores(reviews=str(memory)))
    job = {"folder": str(tmp_path), "files": ["a.csv"], "options": AnnotateOptions().as_dict()}
    ((_, reply),) = annotating.run([(0, job)])
    sentence = json.loads(reply.body)["error"]
    assert reply.status == 503
    assert sentence.startswith(f"the review memory cannot be read ({memory} is damaged, or no")
    assert sentence.endswith("; memory=false leaves it out")
    assert reply.headers == {"retry-after": "5"}
    job["options"] = AnnotateOptions(memory=False).as_dict()
    ((_, reply),) = annotating.run([(0, job)])
    assert reply.status == 200
