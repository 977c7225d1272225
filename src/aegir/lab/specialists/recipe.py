"""Training a specialist: the supervised recipe of the byte network on a slice of the tables, then a file with a manifest.

    aegir train specialist configs/specialists/tiny.toml --out tiny.safetensors

The run folder stands beside the file. What byte_network/supervised.py promises holds here too: a run that was killed and
resumed ends with the same bits. The encoder's vectors are in the folder, so it is not asked again. A network that has
collapsed is not written.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from aegir.lab.byte_network.corpus import Corpus
from aegir.lab.byte_network.export import read_network
from aegir.lab.byte_network.supervised import train
from aegir.lab.ngram_network.distillation import Encode
from aegir.lab.sentence_encoder import encode_texts
from aegir.lab.specialists.config import SpecialistTraining
from aegir.lab.specialists.data import ENCODER, SpecialistData, read_data
from aegir.lab.specialists.scores import mean_scores, measure_cosine, measure_scores
from aegir.readers.swarm.weights_file import SpecialistManifest, load_specialist, save_specialist
from aegir_rl.base.errors import UsageError
from aegir_rl.base.training_run import Watcher


@dataclass(frozen=True, slots=True)
class TrainedSpecialist:
    """What a finished training gives."""

    manifest: SpecialistManifest
    metrics: dict[str, float]
    """Of the last check of the run, and `teacher_cosine` if there was a teacher."""


def run_folder_of(out: Path) -> Path:
    """Return the folder of the run that makes a specialist's file."""
    return out.with_name(f"{out.stem}-run")


def train_specialist(
    config: SpecialistTraining,
    out: Path,
    watch: Watcher,
    start: Path | None = None,
    resume: bool = False,
    scores_from: Sequence[Path] = (),
    encode: Encode = encode_texts,
) -> TrainedSpecialist:
    """Train a specialist and write its file.

    `start` is a run or checkpoint whose weights to begin with; `scores_from` are files of the same specialist trained
    on folds, for a run that keeps no table out.
    """
    if start and config.distil.start_rows:
        raise UsageError(
            "distil.start_rows and --from both say what the embeddings begin with; leave one of them out"
        )
    settings, folder = config.specialist, run_folder_of(out)
    earlier = mean_scores([load_specialist(path).manifest for path in scores_from], settings.name)
    read: list[SpecialistData] = []

    def make_corpus(run: Path) -> Corpus:
        read.append(read_data(config, run, encode, watch.say))
        return read[0].corpus

    trained = train(config, "supervised", folder, watch, start, resume, make_corpus)
    (data,), metrics = read, dict(trained.metrics)
    if data.taught_apart:
        metrics["teacher_cosine"] = measure_cosine(trained, data.taught_apart)
    checkpoint = read_network(folder, config, data.corpus, {"domain": data.facts | metrics})
    watch.say("measuring inside and outside the domain")
    scores = earlier if scores_from else measure_scores(checkpoint, data.held_out, data.domain)
    manifest = save_specialist(
        out,
        checkpoint,
        name=settings.name,
        domain=settings.domain,
        data=_sources(config),
        scores_inside=scores.inside,
        scores_outside=scores.outside,
        types=data.domain.types,
    )
    return TrainedSpecialist(manifest, metrics)


def _sources(config: SpecialistTraining) -> tuple[str, ...]:
    """Return the names of what a specialist was trained on."""
    read = [name for name, count in config.supervised.tables_per_step.items() if count]
    return (*read, ENCODER) if config.distil.texts else tuple(read)
