"""Find fixtures that scenarios name and that are not there, before money is spent."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

from .errors import BenchError

_ASKING = frozenset({"exists", "is_file", "is_dir", "glob", "rglob"})
"""A scenario that asks whether a fixture is there may name one that is not."""


def missing_fixtures(
    tree: ast.Module, is_fixtures: Callable[[ast.expr], bool], fixtures: Path, file: Path
) -> list[BenchError]:
    """Say where `bench.fixtures / "name"` names nothing, for names written as texts. `is_fixtures` knows the words."""
    spared = _spared(tree)
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and id(node) not in spared:
            parts = _below(node, is_fixtures)
            if parts and not fixtures.joinpath(*parts).exists():
                sentence = f"There is no fixtures/{'/'.join(parts)} in the bench, and this scenario reads it."
                found.append(BenchError(sentence, file=file, line=node.lineno))
    return found


def _below(node: ast.expr, is_fixtures: Callable[[ast.expr], bool]) -> list[str] | None:
    """Give the path below fixtures/ that an expression joins; None where it is another one, or known only later."""
    if is_fixtures(node):
        return []
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and isinstance(node.right, ast.Constant)):
        return None
    above = _below(node.left, is_fixtures)
    return None if above is None or not isinstance(node.right.value, str) else [*above, node.right.value]


def _spared(tree: ast.Module) -> set[int]:
    """Name the expressions that are a part of another path, or that the file asks whether they are there."""
    nodes = list(ast.walk(tree))
    asked = [node.value for node in nodes if isinstance(node, ast.Attribute) and node.attr in _ASKING]
    names = {node.id for node in asked if isinstance(node, ast.Name)}
    spared = {id(node) for node in asked} | {id(node.left) for node in nodes if isinstance(node, ast.BinOp)}
    for node in nodes:
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if id(node) in spared or any(isinstance(target, ast.Name) and target.id in names for target in targets):
                spared.add(id(node.value))
    return spared
