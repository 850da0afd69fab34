"""The page of promises names modules and tests; what it names must be there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "conformance.md"
TEST = re.compile(r"`([\w/]+\.py)::(\w+)`")
ROWS = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ") and "`" in line]
KEPT = [line for line in ROWS if line.count(" | ") == 2]


def test_every_promise_names_one_module_and_one_test() -> None:
    assert len(KEPT) > 50
    for line in KEPT:
        _, module, proof = line.strip("| ").rsplit(" | ", 2)
        path = module.strip("`")
        assert (ROOT / path if path.startswith("benchsite/") else ROOT / "runner" / path).is_file(), line
        assert TEST.fullmatch(proof), line


@pytest.mark.parametrize("file", sorted({file for line in ROWS for file, _ in TEST.findall(line)}))
def test_every_named_test_is_there(file: str) -> None:
    tree = ast.parse((ROOT / "tests" / file).read_text(encoding="utf-8"))
    there = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    named = {name for line in ROWS for found, name in TEST.findall(line) if found == file}
    assert named <= there, sorted(named - there)
