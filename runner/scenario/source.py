"""What a scenario's source says that its run cannot: whether another request was still to come."""

from __future__ import annotations

import ast
from pathlib import Path
from types import CodeType


def asks_later(error: BaseException, root: Path) -> bool:
    """Tell whether the scenario would have asked the agent again after the line that raised."""
    found = _scenario_frame(error, root)
    return found is not None and any(line > found[1] for line in _request_lines(found[0]))


def _scenario_frame(error: BaseException, root: Path) -> tuple[CodeType, int] | None:
    """Give the bench function's code and the line it stood at."""
    tb = error.__traceback__
    while tb is not None:
        code = tb.tb_frame.f_code
        if code.co_filename.startswith(str(root)) and code.co_name.startswith("bench_"):
            return code, tb.tb_lineno
        tb = tb.tb_next
    return None


def _request_lines(code: CodeType) -> list[int]:
    try:
        tree = ast.parse(Path(code.co_filename).read_bytes())
    except (OSError, SyntaxError):
        return []
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == code.co_name]
    return [
        node.lineno
        for function in functions
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "request"
    ]
