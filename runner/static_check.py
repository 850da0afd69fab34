"""Read scenario sources before money is spent: unknown ids, literals of the wrong type, asserts in the wrong place."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from .errors import BenchError, BenchErrors
from .schema import MeasureSpec
from .static_fixtures import missing_fixtures
from .static_ids import Known, calls_of, texts_of

_FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef
_NEVER_A_VALUE = (
    ast.List, ast.Tuple, ast.Dict, ast.Set, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda,
)  # fmt: skip
_HANDLES = frozenset({"agent", "workspace"})
"""What tells a scenario from a helper of the same name."""
_WANTED = {"bool": "True or False", "int": "a whole number", "float": "a number", "text": "text"}


@dataclass(frozen=True)
class _Names:
    """What a file calls the runner's words: it may import them under other names."""

    observe: frozenset[str]
    bench: frozenset[str]
    modules: frozenset[str]


def check_sources(
    root: Path,
    measures: Sequence[MeasureSpec],
    axes: Collection[str],
    *,
    shown_root: Path | None = None,
    judged: bool = True,
) -> list[str]:
    """Check every .py below tests/; all faults are told at once, with the paths of `shown_root`. `judged`: the bench
    declares a judge.

    Gives warnings: where an id is observed that only a trial will know."""
    errors: list[BenchError] = []
    warnings: list[str] = []
    for file in sorted((root / "tests").rglob("*.py")):
        shown = (shown_root or root) / file.relative_to(root)
        errors += check_source(file.read_bytes(), shown, measures, axes)
        errors += [] if judged else unjudged(file.read_bytes(), shown)
        errors += unseen_fixtures(file.read_bytes(), shown, root / "fixtures")
        warnings += unknown_ids(file.read_bytes(), shown)
    if errors:
        raise errors[0] if len(errors) == 1 else BenchErrors(errors)
    return warnings


def check_source(source: bytes, file: Path, measures: Sequence[MeasureSpec], axes: Collection[str]) -> list[BenchError]:
    """Give the faults of one file."""
    tree = _parsed(source)
    names = _names(tree)
    found = [*_calls(tree, names, {measure.key: measure for measure in measures}, axes), *_late_asserts(tree)]
    found += [*_twice(tree), *_in_classes(tree)]
    return [BenchError(sentence, file=file, line=line) for line, sentence in sorted(set(found))]


def _twice(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """A second function of one name takes the place of the first, which would be missing without a word."""
    seen: dict[str, int] = {}
    for node in tree.body:
        if isinstance(node, _FUNCTION) and node.name.startswith("bench_"):
            if first := seen.get(node.name):
                yield node.lineno, f"{node.name} is here a second time (first in line {first}); rename one of the two."
            seen.setdefault(node.name, node.lineno)


def _in_classes(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """No scenario is looked for in a class, so one that stands there would be missing without a word."""
    for holder in (node for node in tree.body if isinstance(node, ast.ClassDef)):
        for node in holder.body:
            if isinstance(node, _FUNCTION) and node.name.startswith("bench_") and _HANDLES & {*_parameters(node)}:
                yield node.lineno, f"{node.name} stands in the class {holder.name}; write it as a function of the file."


def _parameters(node: _FUNCTION) -> Iterator[str]:
    yield from (one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs))


def unjudged(source: bytes, file: Path) -> list[BenchError]:
    """Say where a judge is asked that the bench does not declare."""
    tree = _parsed(source)
    sentence = 'bench.judge is called, but the bench declares no judge; give define_bench judge=Judge("...").'
    called = [call for call, _ in calls_of(tree) if _is_bench(call.func, "judge", _names(tree))]
    return [BenchError(sentence, file=file, line=call.lineno) for call in called]


def unseen_fixtures(source: bytes, file: Path, fixtures: Path) -> list[BenchError]:
    """Say where a fixture is named that is not there."""
    tree = _parsed(source)
    names = _names(tree)
    return missing_fixtures(tree, lambda node: _is_bench(node, "fixtures", names), fixtures, file)


def unknown_ids(source: bytes, file: Path) -> list[str]:
    """Say where an id is observed that the source does not decide."""
    tree = _parsed(source)
    names = _names(tree)
    return [
        f"{file}:{call.lineno}: which measure `{ast.unparse(key)}` names is known only when a trial runs; "
        "a typo in it would be stored as invalid."
        for call, known in calls_of(tree)
        if _is_word(call.func, "observe", names.observe, names.modules)
        and (key := (_arguments(call, "measure", "value") or [None])[0]) is not None
        and not isinstance(key, ast.Constant)
        and texts_of(key, known) is None
    ]


def _parsed(source: bytes) -> ast.Module:
    """What is no Python is left to the collection, which has the traceback."""
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError):
        return ast.Module([], [])


def _names(tree: ast.Module) -> _Names:
    observe: set[str] = set()
    bench: set[str] = set()
    modules: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "runner" and not node.level:
            for alias in node.names:
                {"observe": observe, "bench": bench}.get(alias.name, set()).add(alias.asname or alias.name)
        elif isinstance(node, ast.Import):
            modules.update(alias.asname or alias.name for alias in node.names if alias.name == "runner")
    return _Names(frozenset(observe), frozenset(bench), frozenset(modules))


def _calls(
    tree: ast.Module, names: _Names, measures: dict[str, MeasureSpec], axes: Collection[str]
) -> Iterator[tuple[int, str]]:
    for node, known in calls_of(tree):
        if _is_word(node.func, "observe", names.observe, names.modules):
            yield from ((node.lineno, sentence) for sentence in _observe_faults(node, known, measures))
        elif _is_bench(node.func, "axis", names):
            yield from ((node.lineno, sentence) for sentence in _axis_faults(node, axes))


def _is_bench(node: ast.expr, verb: str, names: _Names) -> bool:
    """Tell whether this is `bench.VERB`."""
    return (
        isinstance(node, ast.Attribute)
        and node.attr == verb
        and _is_word(node.value, "bench", names.bench, names.modules)
    )


def _is_word(node: ast.expr, word: str, known: frozenset[str], modules: frozenset[str]) -> bool:
    if isinstance(node, ast.Name):
        return node.id in known
    return isinstance(node, ast.Attribute) and node.attr == word and getattr(node.value, "id", None) in modules


def _arguments(call: ast.Call, *names: str) -> list[ast.expr | None] | None:
    """Give the named arguments in order; None when a star hides what is passed."""
    if any(isinstance(arg, ast.Starred) for arg in call.args) or any(key.arg is None for key in call.keywords):
        return None
    keywords = {key.arg: key.value for key in call.keywords}
    given = [*call.args, *([None] * len(names))][: len(names)]
    return [value or keywords.get(name) for name, value in zip(names, given, strict=True)]


def _observe_faults(call: ast.Call, known: Known, measures: dict[str, MeasureSpec]) -> Iterator[str]:
    arguments = _arguments(call, "measure", "value")
    if arguments is None:
        return
    key, value = arguments
    if key is None or value is None or len(call.args) + len(call.keywords) != 2:
        yield "observe takes a measure id and a value."
        return
    wrong = isinstance(key, ast.Constant) and not isinstance(key.value, str)
    for name in [ast.unparse(key)] if wrong else sorted(texts_of(key, known) or ()):
        if name not in measures:
            shown = name if wrong else repr(name)
            yield f"The schema declares no measure {shown}; {_advice(name, measures)}"
        else:
            yield from (f"The measure {name!r} {fault}." for fault in _value_faults(value, measures[name]))


def _axis_faults(call: ast.Call, axes: Collection[str]) -> Iterator[str]:
    (name,) = _arguments(call, "name") or [None]
    if isinstance(name, ast.Constant) and name.value not in axes:
        yield f"The matrix has no axis {name.value!r}; {_advice(str(name.value), axes)}"


def _advice(name: str, known: Collection[str]) -> str:
    near = get_close_matches(name, known, 1)
    return f"did you mean {near[0]!r}?" if near else f"known are: {', '.join(known) or 'none'}."


def _value_faults(value: ast.expr, measure: MeasureSpec) -> Iterator[str]:
    """Judge only what the source itself decides; a call's result is judged when it is observed."""
    if isinstance(value, ast.IfExp):
        yield from _value_faults(value.body, measure)
        yield from _value_faults(value.orelse, measure)
        return
    known, literal = _literal(value)
    if known and not _fits(literal, measure):
        yield f"is {_wanted(measure)}, not {ast.unparse(value)}"


def _literal(value: ast.expr) -> tuple[bool, Any]:
    if isinstance(value, ast.Constant):
        return True, value.value
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not):
        return True, True
    if isinstance(value, ast.UnaryOp) and isinstance(value.operand, ast.Constant):
        return True, value.operand.value
    if isinstance(value, ast.JoinedStr):
        return True, _SomeText()
    return (True, ...) if isinstance(value, _NEVER_A_VALUE) else (False, None)


class _SomeText(str):
    """The result of an f-string: text, but nobody knows which."""


def _fits(value: Any, measure: MeasureSpec) -> bool:
    if measure.type == "category":
        return isinstance(value, _SomeText) or value in measure.categories
    if measure.type == "text":
        return isinstance(value, str)
    if measure.type == "bool":
        return isinstance(value, bool)
    allowed = int if measure.type == "int" else (int, float)
    return isinstance(value, allowed) and not isinstance(value, bool)


def _wanted(measure: MeasureSpec) -> str:
    return _WANTED.get(measure.type) or f"one of {', '.join(map(repr, measure.categories))}"


def _late_asserts(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Find asserts below the first `agent.request` of their scenario: what comes after is measuring, not guarding."""
    for function in ast.walk(tree):
        if not isinstance(function, _FUNCTION) or not function.name.startswith("bench_"):
            continue
        calls = [node for node in ast.walk(function) if isinstance(node, ast.Call) and _is_request(node)]
        requests = [(node.lineno, node.col_offset) for node in calls]
        for node in ast.walk(function):
            if requests and isinstance(node, ast.Assert) and (node.lineno, node.col_offset) > min(requests):
                yield (
                    node.lineno,
                    (
                        "A bare assert after agent.request would make a bad result an error; "
                        "use observe(...) to record it, or expect(...) to guard the experiment."
                    ),
                )


def _is_request(node: ast.Call) -> bool:
    return (
        isinstance(node.func, ast.Attribute)
        and node.func.attr == "request"
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "agent"
    )
