"""Small changes of Python source, each of one place: what a repair of a seeded or ordinary slip looks like.

    for source in mutate(source): ...        # in a fixed order, likelier repairs first, none twice

Kinds: another comparison or arithmetic operator, a number off by one or by a factor of ten, an operand left out or added, another
variable in place of a name or constant, a method call (`strip`, `lower`) added or left out, another function (`min` for `max`), `and` for
`or`, a negated condition, a guard for an empty or missing argument. Nothing is executed here.
"""

import ast
import copy
from collections.abc import Iterator

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt, ast.GtE),
    ast.LtE: (ast.Lt, ast.GtE, ast.Gt),
    ast.Gt: (ast.GtE, ast.Lt, ast.LtE),
    ast.GtE: (ast.Gt, ast.LtE, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
OPERATORS: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult, ast.FloorDiv),
    ast.FloorDiv: (ast.Div,),
    ast.Mod: (ast.FloorDiv,),
}
_PAIRS = [("min", "max"), ("any", "all"), ("isalnum", "isdigit"), ("lower", "upper")]
_PAIRS += [("lstrip", "rstrip"), ("startswith", "endswith")]
SWAPPED = {one: other for pair in _PAIRS for one, other in (pair, pair[::-1])}
SWAPPED |= {"sum": "max", "isalpha": "isalnum"}
ENCODINGS = ("utf-8", "latin-1", "cp1252", "utf-16-le", "utf-16-be", "ascii")
GUARDS = (
    "if {0} is None:\n    return None",
    "if not {0}:\n    return {0}",
    "if not {0}:\n    return None",
)
LOOP_GUARDS = ("if {0} is None:\n    continue", "if not {0}:\n    continue")


def mutate(source: str) -> Iterator[str]:
    """Every changed version of the source, none twice; nothing if it cannot be parsed."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    seen = {ast.unparse(tree)}
    positions = list(_positions(tree))
    for kind in (_operators, _constants, _calls, _names, _guards):
        for parent, field, index, node in positions:
            for new in kind(node, tree):
                text = _written(tree, parent, field, index, new)
                if text is not None and text not in seen:
                    seen.add(text)
                    yield text


def _positions(tree: ast.Module) -> Iterator[tuple[ast.AST, str, int | None, ast.AST]]:
    """Every node with the field of its parent, and the index there, where it stands."""
    for parent in ast.walk(tree):
        for field, value in ast.iter_fields(parent):
            if isinstance(value, ast.AST):
                yield parent, field, None, value
            elif isinstance(value, list):
                yield from (
                    (parent, field, place, node)
                    for place, node in enumerate(value)
                    if isinstance(node, ast.AST)
                )


def _written(
    tree: ast.Module, parent: ast.AST, field: str, index: int | None, new: ast.AST
) -> str | None:
    """The module's text with `new` in that place; the tree itself is left as it was."""
    old = getattr(parent, field)
    setattr(parent, field, new if index is None else [*old[:index], new, *old[index + 1 :]])
    try:
        return ast.unparse(tree)
    except (ValueError, AttributeError, RecursionError):
        return None
    finally:
        setattr(parent, field, old)


def _operators(node: ast.AST, _tree: ast.Module) -> Iterator[ast.AST]:
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        for kind in COMPARISONS.get(type(node.ops[0]), ()):
            yield ast.Compare(node.left, [kind()], node.comparators)
    if isinstance(node, ast.BinOp):
        for operator in OPERATORS.get(type(node.op), ()):
            yield ast.BinOp(node.left, operator(), node.right)
        yield node.left
        yield node.right
    if isinstance(node, ast.BoolOp):
        yield ast.BoolOp(ast.And() if isinstance(node.op, ast.Or) else ast.Or(), node.values)
    if isinstance(node, ast.If | ast.IfExp):
        negated = copy.copy(node)
        negated.test = ast.UnaryOp(ast.Not(), node.test)
        yield negated


def _constants(node: ast.AST, tree: ast.Module) -> Iterator[ast.AST]:
    if not isinstance(node, ast.Constant):
        return
    if isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node.value, int):
        for value in (node.value - 1, node.value + 1, node.value * 10, 0):
            yield ast.Constant(value)
    elif isinstance(node.value, str):
        if node.value in ENCODINGS:
            yield from (ast.Constant(name) for name in ENCODINGS)
        yield from (ast.Name(name) for name in _parameters(tree))


def _calls(node: ast.AST, _tree: ast.Module) -> Iterator[ast.AST]:
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name) and node.func.id in SWAPPED:
            yield ast.Call(ast.Name(SWAPPED[node.func.id]), node.args, node.keywords)
        if isinstance(node.func, ast.Attribute):
            if node.func.attr in SWAPPED:
                changed = ast.Attribute(node.func.value, SWAPPED[node.func.attr])
                yield ast.Call(changed, node.args, node.keywords)
            yield node.func.value
    text = isinstance(node, ast.Call | ast.Subscript) or (
        isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    )
    if text and isinstance(node, ast.expr):
        for name in ("strip", "lower"):
            yield ast.Call(ast.Attribute(node, name), [], [])
        for operator in (ast.Add(), ast.Sub()):
            yield ast.BinOp(node, operator, ast.Constant(1))


def _names(node: ast.AST, tree: ast.Module) -> Iterator[ast.AST]:
    if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
        return
    parameters = _parameters(tree)
    for name in parameters:
        if name != node.id:
            yield ast.Name(name)
            yield ast.BinOp(node, ast.Sub(), ast.Call(ast.Name("len"), [ast.Name(name)], []))
    for name in [*parameters, *_locals(tree)]:
        if name != node.id:
            yield ast.Call(ast.Name("len"), [ast.Name(name)], [])
    yield ast.Call(ast.Name("abs"), [node], [])
    joined = ast.parse(f"' '.join({node.id}.split())", mode="eval").body
    yield joined


def _guards(node: ast.AST, _tree: ast.Module) -> Iterator[ast.AST]:
    """Checks of the first argument at the begin of a function, of the variable at the begin of a loop."""
    forms: tuple[str, ...]
    if isinstance(node, ast.FunctionDef) and node.args.args:
        checked, forms = node.args.args[0].arg, GUARDS
    elif isinstance(node, ast.For) and isinstance(node.target, ast.Name):
        checked, forms = node.target.id, LOOP_GUARDS
    else:
        return
    for form in forms:
        guarded = copy.copy(node)
        guarded.body = [*ast.parse(form.format(checked)).body, *node.body]
        yield guarded


def _parameters(tree: ast.Module) -> list[str]:
    names = [
        each.arg
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        for each in node.args.args
    ]
    return list(dict.fromkeys(names))


def _locals(tree: ast.Module) -> list[str]:
    stored = [
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    return list(dict.fromkeys(stored))
