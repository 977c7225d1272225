"""`python -m benchmarks.plot_rewards` draws the plots of docs/rewards.md; a test notices when they are stale."""

from collections.abc import Iterator
from pathlib import Path

from aegir_rl.observe.plots import line_plot
from aegir_rl.rewards.combined import Lambdas
from aegir_rl.rewards.sweeps import reward_sweeps
from aegir_rl.rl.schedules import SmoothLambdas, StagedLambdas

FOLDER = Path(__file__).parent.parent / "docs" / "plots"
STEPS = 200


def plots() -> Iterator[tuple[str, str]]:
    """File name and SVG text of every plot."""
    for sweep in reward_sweeps():
        yield (
            f"{sweep.name}.svg",
            line_plot(sweep.title, sweep.lines, x_label=sweep.x_label, y_label="reward"),
        )
    yield "lambdas.svg", _lambdas()


def _lambdas() -> str:
    progress = [step / STEPS for step in range(STEPS + 1)]
    staged, smooth = StagedLambdas(), SmoothLambdas(end=Lambdas(0.0, 0.0))
    lines = {
        "parallel, staged": (progress, [staged(share).parallel for share in progress]),
        "finish, staged": (progress, [staged(share).finish for share in progress]),
        "parallel, smooth to zero": (progress, [smooth(share).parallel for share in progress]),
        "finish, smooth to zero": (progress, [smooth(share).finish for share in progress]),
    }
    return line_plot("Lambdas over training", lines, x_label="progress", y_label="lambda")


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, svg in plots():
        (FOLDER / name).write_text(svg, encoding="utf-8")
        print(FOLDER / name)
