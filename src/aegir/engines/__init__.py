"""Engines: the same work on one machine or on many, with the same answers.

    job = Job("aegir.engines.solving:open_solving", {"solver": "known", …})
    with RayEngine("10.0.0.1:6379") as engine:                     # or LocalEngine(places=4)
        for answer in engine.map(job, items, at_once=8):
            ...

    items ── shards ──▶ engine ──▶ a place: child interpreter ──▶ the job's function, with the worker processes of that place
                              ──▶ a place: …

Promises
  - every item is answered, in the order of the items if that is asked for, whatever the number of places;
  - a place that is lost (a killed process, a node that went away) costs time: its shards go to other places, and a new
    process is started where that is possible;
  - only plain values (JSON) travel between the machines: a job is named, not pickled;
  - a place that runs another Aegir, or does not see the files of the job as this machine sees them, is refused in one sentence.

job          what is to be done, as plain values; which files all places must see alike
child        a child interpreter that does a job, and its messages
annotating   files and tables as a job; solving: tasks of the simulator as a job
engine       what all engines share
local        child interpreters on this machine
ray_cluster  one place per node of a Ray cluster, or several
"""

from aegir_rl.base.lazy import lazy_names

__getattr__ = lazy_names(__name__, __file__)
