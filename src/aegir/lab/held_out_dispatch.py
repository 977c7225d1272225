"""Pipelines over models that have not seen the tables: what routing would have done to tables that are new to it.

    for fold in load_held_out(runs, data, ngrams):         # fold runs of the byte network, answers of `aegir train ngrams`
        fold.pipeline.score([each.table for each in fold.tables])

    n-grams         the answers that were kept when the table was held out; nobody can ask these models again
    byte network    the network of the fold run that held the table out, asked as in use: few columns of context
    mixture, rules  fitted on the tables of the other runs
    searches        n-gram networks that have not seen the table read again; specialists of a pool are not called

Every table belongs to one fold. Its group is what must stay on one side of a split, such as a web site.

Limits: the subject of a table is the one that its labels name, not the one that n-grams would have chosen; it is among the
context of the byte network, and relations depend on it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from aegir.lab.byte_network.config import read_byte_training
from aegir.lab.byte_network.export import read_run
from aegir.lab.calibrate import NETWORK_ANSWERS, calibrating_combined
from aegir.lab.data.sources import read_training_tables
from aegir.lab.held_out import ANSWERS, HeldOut, column_names, load_answers, places_of
from aegir.lab.ngrams import networks_file
from aegir.lab.replay import Calibrating, table_scores
from aegir.pipeline.batch import CalledReader
from aegir.pipeline.pipeline import OpenSearch, Pipeline, build_pipeline
from aegir.pipeline.plan import READERS, SearchDepth
from aegir.pipeline.search import Search
from aegir.readers.bytes.annotator import ByteModelAnnotator
from aegir.readers.bytes.network import ByteModel
from aegir.readers.calibration import ByteCalibration
from aegir.readers.ngrams.annotator import NgramNetworks
from aegir.readers.ngrams.network import load_networks
from aegir.readers.rules.judge import RuleVerdict
from aegir.readers.scores import TableScores, table_spans
from aegir.routing.decisions import load_routing
from aegir.routing.learnt_policy import LearntPolicy
from aegir.tables.labelled import LabelledTable
from aegir.tables.table import Table
from aegir_rl.base.arrays import F32
from aegir_rl.base.errors import UsageError
from aegir_rl.base.run_folder import CONFIG
from aegir_rl.offline.routing_table import RoutingTable

LEAST_RUNS = 2
NOT_CALIBRATED: Mapping[str, object] = {"calibration": {"bytes": {"cta": 1.0, "cpa": 1.0}}}


@dataclass(frozen=True, slots=True)
class Fold:
    """The tables that one run held out, and a pipeline that has not seen them."""

    name: str
    pipeline: Pipeline
    tables: tuple[LabelledTable, ...]
    open_search: OpenSearch
    """Makes a search over models that have not seen the tables."""


@dataclass(frozen=True, slots=True)
class _Model:
    compatibility: F32
    types_of_fine: F32


@dataclass(frozen=True, slots=True)
class KeptNgrams:
    """Answers of n-grams that were kept, by the name of the table."""

    model: _Model
    scores: Mapping[str, TableScores]
    networks: NgramNetworks | None = None
    """Networks that have not seen these tables either, for further readings."""

    def ask_networks(
        self, tables: Sequence[Table], verdicts: Sequence[RuleVerdict]
    ) -> dict[str, F32]:
        """Return what the networks say of tables as they are given."""
        if self.networks is None:
            raise UsageError("the n-gram networks of this fold were not kept; give their folder")
        return self.networks.ask_networks(tables, verdicts)

    def score_judged(
        self, tables: Sequence[Table], verdicts: Sequence[RuleVerdict]
    ) -> list[TableScores]:
        """Return the answers that were kept; the rules' verdicts went into them then."""
        del verdicts
        return [self.scores[table.name] for table in tables]


def load_held_out(
    runs: Sequence[Path],
    data: Sequence[Path],
    ngrams: Path,
    routing: RoutingTable | None = None,
    policy: LearntPolicy | None = None,
) -> list[Fold]:
    """Return one fold per run; raise if the runs, the tables or the answers of n-grams do not belong together."""
    if len(runs) < LEAST_RUNS:
        raise UsageError(
            f"{len(runs)} fold run is given; at least {LEAST_RUNS} are needed, because models are mixed for a "
            "fold as fits the others"
        )
    for run in runs:
        if not (run / ANSWERS).is_file():
            raise UsageError(
                f"{run} has no {ANSWERS}; give the folder of a run made with: aegir train supervised --fold N"
            )
    routing = routing or load_routing(None, READERS)
    answers = [load_answers(run / ANSWERS) for run in runs]
    networks = [_network(run) for run in runs]
    calibrating = calibrating_combined(runs, read_training_tables(data), ngrams)
    return [
        _fold(run, network, held_out, calibrating, routing, policy, ngrams)
        for run, network, held_out in zip(runs, networks, answers, strict=True)
    ]


def _network(run: Path) -> ByteModel:
    return ByteModel(read_run(run, read_byte_training(run / CONFIG)).checkpoint(NOT_CALIBRATED))


def _fold(
    run: Path,
    network: ByteModel,
    held_out: Mapping[str, HeldOut],
    calibrating: Calibrating,
    routing: RoutingTable,
    policy: LearntPolicy | None,
    ngrams: Path,
) -> Fold:
    own = {
        origin: np.array(
            [
                origin in held_out and _is_in(held_out[origin], column_names(table))
                for table in each.tables
            ]
        )
        for origin, each in calibrating.held.items()
    }
    others = calibrating.split(own)
    fitted = others.fit(False)
    tables: list[LabelledTable] = []
    scores: dict[str, TableScores] = {}
    for origin in held_out:
        for labelled, answer in _tables(others, origin, held_out[origin]):
            tables.append(labelled)
            scores[labelled.table.name] = answer
    calibration = ByteCalibration({"cta": 1.0, "cpa": 1.0}, fitted.mixture)
    network.facts = {"calibration": calibration.as_json()}
    kept = KeptNgrams(
        _Model(others.compatibility, fitted.types_of_fine), scores, _networks_of(ngrams, held_out)
    )

    def open_search(depth: SearchDepth, first: CalledReader | None) -> Search:
        if depth.readings and kept.networks is None:
            raise UsageError(
                f"a search cannot read the tables of {run} again: the n-gram networks that had them held out were not kept; "
                "give the --ngrams of the same folds"
            )
        return Search(kept, depth, first=first)

    pipeline = build_pipeline(
        kept, ByteModelAnnotator(network), routing, open_search, policy=policy
    )
    return Fold(run.name, pipeline, tuple(tables), open_search)


def _networks_of(ngrams: Path, held_out: Mapping[str, HeldOut]) -> NgramNetworks | None:
    """Return the n-gram networks that had exactly these tables held out; None if they were not kept."""
    names = {name for each in held_out.values() for name in each.names}
    for number, answers in enumerate(sorted(ngrams.glob(NETWORK_ANSWERS.format("*")))):
        path = ngrams / networks_file(number)
        own = {name for each in load_answers(answers).values() for name in each.names}
        if names <= own and path.exists():
            return NgramNetworks(load_networks(path))
    return None


def _is_in(held_out: HeldOut, names: Sequence[str]) -> bool:
    return bool((places_of(names, held_out) >= 0).any())


def _tables(
    calibrating: Calibrating, origin: str, held_out: HeldOut
) -> list[tuple[LabelledTable, TableScores]]:
    """Return the tables of the fold under unique names, with the answers of n-grams."""
    held, parts = calibrating.held[origin], calibrating.first(False)[origin]
    groups = dict(zip(held_out.names, held_out.group.tolist(), strict=True))
    spans = table_spans([table.labelled.table for table in held.tables])
    found = []
    for table, span, own in zip(held.tables, spans, held.half, strict=True):
        if not own:
            continue
        names = column_names(table)
        plain = replace(table.labelled.table, name=names[0].rpartition("#")[0])
        group = next(groups[name] for name in names if name in groups)
        scores = table_scores(plain, parts, span, float(parts["web"][span][0]))
        found.append((replace(table.labelled, table=plain, group=f"{origin} {group}"), scores))
    return found
