"""`python -m aegir.lab.figures NAME …`: tables, plots and pages of what was measured.

A figure's module is imported when it is needed, as with the verbs of `aegir`.
"""

from aegir.cli.main import CONTEXT, TopGroup, add_verbs, main

FIGURES = {
    "data": "lab.figures.data:data_report",
    "drift": "lab.figures.drift:drift",
    "engine": "lab.figures.engine:engine",
    "engine-ablate": "lab.figures.engine:engine_ablate",
    "everyday": "lab.figures.everyday:everyday",
    "open-bandit": "lab.figures.open_bandit:open_bandit",
    "parl-compare": "lab.figures.parl:parl_compare",
    "parl-hard": "lab.figures.parl:parl_hard",
    "priced-reader": "lab.figures.priced_reader:priced_reader",
    "run": "lab.figures.run:draw_run",
    "search": "lab.figures.search:search",
    "sim-eval": "lab.figures.simulator:evaluation",
    "sim-solvers": "lab.figures.simulator:list_solvers",
    "sim-card": "lab.figures.simulator:card",
    "sim-table": "lab.figures.simulator:table",
    "sim-verify": "lab.figures.simulator:verify",
    "swarm": "lab.figures.swarm:measure",
}
COMMAND = "python -m aegir.lab.figures"
figures = TopGroup("figures", help="Measure, and draw what was measured.", context_settings=CONTEXT)
add_verbs(figures, FIGURES)

if __name__ == "__main__":
    main(figures, COMMAND)
