"""Which texts an expression of a scenario can be, as far as its source decides: literals, loops, f-strings."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Mapping

Texts = frozenset[str]
Known = Mapping[str, Texts | None]
"""Name -> the texts it can be; None: something the source does not decide."""
MOST = 1000
_COMPREHENSION = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp


def calls_of(tree: ast.Module) -> Iterator[tuple[ast.Call, Known]]:
    """Give every call with what is known of the names around it."""
    constants = _constants(tree)
    yield from _calls(tree, {name: texts_of(value, {}) for name, value in constants.items()}, constants)


def texts_of(node: ast.expr | None, known: Known) -> Texts | None:
    """Give the texts an expression can be; None where the source does not decide."""
    if isinstance(node, ast.Constant):
        return frozenset([node.value]) if isinstance(node.value, str) else None
    if isinstance(node, ast.Name):
        return known.get(node.id)
    if isinstance(node, ast.IfExp):
        one, other = texts_of(node.body, known), texts_of(node.orelse, known)
        return None if one is None or other is None else one | other
    if isinstance(node, ast.JoinedStr):
        return _joined([_piece(part, known) for part in node.values])
    return None


def _piece(part: ast.expr, known: Known) -> Texts | None:
    if not isinstance(part, ast.FormattedValue):
        return texts_of(part, known)
    plain = part.conversion == -1 and part.format_spec is None
    return texts_of(part.value, known) if plain else None


def _joined(pieces: list[Texts | None]) -> Texts | None:
    whole = [piece for piece in pieces if piece is not None]
    size = 1
    for piece in whole:
        size *= len(piece)
    if len(whole) < len(pieces) or size > MOST:
        return None
    return frozenset("".join(parts) for parts in itertools.product(*whole))


Constants = Mapping[str, ast.expr]
"""Names of the module that are given one literal and nothing else."""


def _constants(tree: ast.Module) -> Constants:
    found: dict[str, ast.expr] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = node.value
    stored = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    return {name: value for name, value in found.items() if stored.count(name) == 1}


def _calls(node: ast.AST, known: Known, constants: Constants) -> Iterator[tuple[ast.Call, Known]]:
    if isinstance(node, ast.Call):
        yield node, known
    if isinstance(node, ast.For | ast.AsyncFor):
        yield from _calls(node.iter, known, constants)
        inside = {**known, **_bound(node.target, node.iter, constants), **_unknown(node.body)}
        for statement in node.body:
            yield from _calls(statement, inside, constants)
        for statement in node.orelse:
            yield from _calls(statement, known, constants)
        return
    if isinstance(node, _COMPREHENSION):
        for generator in node.generators:
            known = {**known, **_bound(generator.target, generator.iter, constants)}
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        known = {**known, **dict.fromkeys(_parameters(node.args), None)}
    for child in ast.iter_child_nodes(node):
        yield from _calls(child, known, constants)


def _unknown(body: list[ast.stmt]) -> dict[str, None]:
    """A name that the loop's body gives another value is not what the loop gave it."""
    nodes = (node for statement in body for node in ast.walk(statement))
    return {node.id: None for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _parameters(arguments: ast.arguments) -> list[str]:
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    return [argument.arg for argument in every if argument is not None]


def _bound(target: ast.expr, source: ast.expr, constants: Constants) -> dict[str, Texts | None]:
    """Give what a loop over a literal makes of its names: `for key in (...)`, `for key, value in [(...), ...]`."""
    rows = _rows(source, constants)
    if isinstance(target, ast.Name):
        return {target.id: _column(rows) if rows is not None else None}
    if not isinstance(target, ast.Tuple | ast.List):
        return {}
    parts = None if rows is None else [row.elts if isinstance(row, ast.Tuple | ast.List) else [] for row in rows]
    found: dict[str, Texts | None] = {}
    for place, name in enumerate(target.elts):
        if isinstance(name, ast.Name):
            fits = parts is not None and all(len(part) > place for part in parts)
            found[name.id] = _column([part[place] for part in parts]) if parts is not None and fits else None
    return found


def _column(values: list[ast.expr]) -> Texts | None:
    texts = [value.value for value in values if isinstance(value, ast.Constant) and isinstance(value.value, str)]
    return frozenset(texts) if texts and len(texts) == len(values) else None


def _rows(source: ast.expr, constants: Constants) -> list[ast.expr] | None:
    """Give what a loop goes over, where that is written out."""
    if isinstance(source, ast.Call) and isinstance(source.func, ast.Attribute) and not source.args:
        below = _written(source.func.value, constants)
        if isinstance(below, ast.Dict) and source.func.attr in ("items", "keys") and None not in below.keys:
            keys = [key for key in below.keys if key is not None]
            pairs = zip(keys, below.values, strict=True)
            return keys if source.func.attr == "keys" else [ast.Tuple([*pair], ast.Load()) for pair in pairs]
        return None
    written = _written(source, constants)
    if isinstance(written, ast.Dict):
        return [key for key in written.keys if key is not None] if None not in written.keys else None
    return list(written.elts) if isinstance(written, ast.List | ast.Tuple | ast.Set) else None


def _written(node: ast.expr, constants: Constants) -> ast.expr:
    return constants.get(node.id, node) if isinstance(node, ast.Name) else node
