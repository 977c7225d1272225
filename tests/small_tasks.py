"""Tasks that are easy to check by hand: add a number that lies in a file."""

from aegir_rl.simulator.task import Case, Task

SOLUTION = "def solve(number):\n    return number + int(open('amount.txt').read())\n"


def adding_task(amount: int, *, solution: str = SOLUTION, id_: str | None = None) -> Task:
    """Add `amount`; one public case and three hidden ones."""
    return Task(
        id=id_ or f"add-{amount}",
        family="adding",
        statement=f"Add {amount}.",
        function="solve",
        files={"amount.txt": str(amount)},
        starter="def solve(number):\n    return number\n",
        solution=solution,
        public=(Case((1,), 1 + amount),),
        hidden=tuple(Case((number,), number + amount) for number in (2, 3, 4)),
        difficulty={"size": 1.0},
        seed=amount,
    )
