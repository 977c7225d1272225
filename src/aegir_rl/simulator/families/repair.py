"""Repair: a cleaning function with one to three seeded bugs; the cases show what it should do."""

from random import Random

from aegir_rl.simulator.families.broken_functions import FUNCTIONS
from aegir_rl.simulator.families.family import Draft, Family, options, to_cases, write_solution
from aegir_rl.simulator.source import function_source

SIGNATURE = "clean(value)"


def draw(random: Random, level: int) -> Draft:
    """As many bugs as the level says, in different places; edge cases are public and hidden by turns."""
    chosen = random.choice(FUNCTIONS)
    parameters = chosen.parameters(random)
    right = function_source(chosen.function)
    wrong, bugs, name = right, 0, chosen.function.__name__
    known = options("repair", "bugs")[name]
    for good, bad in random.sample(known, len(known)):
        if bugs < level and wrong.count(good) == 1:
            wrong, bugs = wrong.replace(good, bad), bugs + 1
    inputs = chosen.inputs(random, parameters)
    edges = [(value, chosen.function(value, *parameters)) for value in inputs[:5]]
    usual = [(value, chosen.function(value, *parameters)) for value in inputs[5:]]
    random.shuffle(edges)
    cases = to_cases([*edges[:3], *usual])
    public = cases[: 6 + level]
    seen = {repr(case.arguments) for case in public}
    hidden = [case for case in to_cases([*edges, *usual]) if repr(case.arguments) not in seen]
    solution = write_solution(SIGNATURE, chosen.function, *parameters)
    rule = options("repair", "rules")[name].format(*parameters)
    return Draft(
        statement=f"The starter code has {'a bug' if bugs == 1 else f'{bugs} bugs'}. "
        f"Repair clean(value), which should do this: {rule}",
        solution=solution,
        public=public,
        hidden=hidden,
        starter=solution.replace(right, wrong),
        difficulty={"bugs": bugs, "lines": solution.count("\n")},
    )


FAMILY = Family("repair", "Repair a cleaning function with seeded bugs.", SIGNATURE, draw)
