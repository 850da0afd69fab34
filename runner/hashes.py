"""What makes two runs comparable: the hash of each part of a bench, of each scenario, and of the whole definition."""

from __future__ import annotations

import ast
from dataclasses import asdict
from pathlib import Path
from typing import Any

from . import judges
from .define import parse_money
from .definition import Bench, parse_size
from .digests import digest
from .schema import MeasureSpec, schema_hash
from .sealing import Sealed
from .surroundings import limits_row

_FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef


def definition_hashes(
    bench: Bench, measures: tuple[MeasureSpec, ...], sealed: Sealed, image: str = ""
) -> dict[str, str]:
    """Give the hash of every part, and of all of them as `definition`; name, version, README and matrix are no part."""
    parts = {
        "schema": schema_hash(measures),
        **{name: sealed.parts[name] for name in ("template", "fixtures", "code", "setup")},
        "suite": digest(bench.suite),
        "capture": digest(_capture(bench)),
        "evaluation": digest(_evaluation(bench)),
        "limits": digest(_limits(bench)),
        "judge": digest(judges.essence(bench.judge)),
        "environment": digest(image),
    }
    return {**parts, "definition": digest(parts)}


def different(one: dict[str, str], other: dict[str, str]) -> list[str]:
    """Name the parts that differ, for a sentence that tells why two runs cannot be pooled or resumed."""
    names = sorted((set(one) | set(other)) - {"definition"})
    return [name for name in names if one.get(name) != other.get(name)]


def scenario_hash(sealed: Sealed, file: str, function: str) -> str:
    """Hash one scenario: its file without the other scenarios in it, and the code that all of them share."""
    shared = {
        path: row
        for path, row in sealed.files.items()
        if path != "bench.py" and (path.endswith(".py") or path.startswith("tests/")) and not is_scenario_file(path)
    }
    return digest({"own": _without_others(sealed.root / file, function), "shared": shared})


def is_scenario_file(path: str) -> bool:
    name = path.rsplit("/", 1)[-1]
    return name.startswith("bench_") and name.endswith(".py")


def _without_others(file: Path, function: str) -> str:
    """Comments and formatting do not count either."""
    tree = ast.parse(file.read_bytes())
    tree.body = [node for node in tree.body if not _is_other(node, function)]
    return ast.unparse(tree)


def _is_other(node: ast.stmt, function: str) -> bool:
    return isinstance(node, _FUNCTION) and node.name.startswith("bench_") and node.name != function


def _evaluation(bench: Bench) -> dict[str, Any]:
    transfer = {**asdict(bench.transfer), "max_bytes": parse_size(bench.transfer.max_bytes)}
    return {"mode": bench.evaluation, "save_artifacts": bench.save_artifacts, "transfer": transfer}


def _limits(bench: Bench) -> dict[str, Any]:
    return {
        "timeouts": asdict(bench.timeouts),
        "budget": parse_money(bench.budget.trial),
        "resources": limits_row(bench.limits),
    }


def _capture(bench: Bench) -> dict[str, Any] | None:
    world = bench.workspace
    if world is None:
        return None
    return {
        "ignore": list(world.capture.ignore),
        "max_bytes": parse_size(world.capture.max_bytes),
        "git": world.git,
    }
