"""Read what a bench can record from its schema class and the class's source: types, descriptions, lines."""

from __future__ import annotations

import ast
import enum
import inspect
import math
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn, get_args, get_origin

from .definition import Measure
from .errors import BenchError
from .schema import MeasureSpec, MeasureType, Reducer, schema_hash

FORMAT = "benchsite/schema/1"
REDUCERS: dict[MeasureType, tuple[Reducer, ...]] = {
    "bool": ("rate",),
    "int": ("mean", "median", "min", "max", "sum"),
    "float": ("mean", "median", "min", "max", "sum"),
    "category": ("counts",),
    "text": ("none",),
}
"""What fits each type; the first is the default."""
_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,62}")
_TARGET = re.compile(r"target\(\s*([^()]+?)\s*\)")


@dataclass(frozen=True)
class Field:
    """A field as it stands in the source: where, and the text below it."""

    name: str
    annotation: Any
    file: Path
    line: int | None
    description: str
    valued: bool

    def refuse(self, sentence: str) -> NoReturn:
        raise BenchError(f"Measure {self.name!r} {sentence}", file=self.file, line=self.line)


def extract(schema: type, file: Path) -> tuple[MeasureSpec, ...]:
    """Give the measures in declared order; `file` is named where the class has no source of its own."""
    measures = tuple(map(_measure, _fields(schema, file)))
    if not measures:
        raise BenchError(
            f"The schema {schema.__name__} declares no measure; add a field such as `resolved: bool`.", file=file
        )
    if len(chosen := [measure.key for measure in measures if measure.headline]) > 1:
        raise BenchError(f"The measures {' and '.join(chosen)} are both headline; one can be.", file=file)
    return measures


def to_json(measures: tuple[MeasureSpec, ...]) -> dict[str, Any]:
    """Give what `.bench/schema.json` holds."""
    return {"format": FORMAT, "hash": schema_hash(measures), "measures": [vars(measure) for measure in measures]}


def _fields(schema: type, file: Path) -> Iterator[Field]:
    found: dict[str, Field] = {}
    for cls in reversed(schema.__mro__):
        for name, annotation in inspect.get_annotations(cls).items():
            home = _file_of(cls) or file
            line, description, valued = _source(home, cls.__qualname__).get(name, (None, "", name in vars(cls)))
            found[name] = Field(name, annotation, home, line, description, valued)
    for field in found.values():
        yield _resolved(field, schema)


def _file_of(cls: type) -> Path | None:
    module = sys.modules.get(cls.__module__)
    name = getattr(module, "__file__", None)
    return Path(name) if name else None


@cache
def _tree(file: Path, stamp: int) -> ast.Module:
    return ast.parse(file.read_bytes())


def _source(file: Path, qualname: str) -> dict[str, tuple[int | None, str, bool]]:
    """Map each annotated field of a class to (line, text below it, has a value)."""
    try:
        tree: ast.AST = _tree(file, file.stat().st_mtime_ns)
    except (OSError, SyntaxError):
        return {}
    for part in qualname.split("."):
        inside = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == part]
        if not inside:
            return {}
        tree = inside[-1]
    assert isinstance(tree, ast.ClassDef)
    following = [*tree.body[1:], None]
    return {
        node.target.id: (node.lineno, _text(after), node.value is not None)
        for node, after in zip(tree.body, following, strict=True)
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }


def _text(node: ast.stmt | None) -> str:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return inspect.cleandoc(node.value.value)
    return ""


def _resolved(field: Field, schema: type) -> Field:
    """Evaluate an annotation that is text (`from __future__ import annotations`)."""
    if not isinstance(field.annotation, str):
        return field
    module = vars(sys.modules[schema.__module__]) if schema.__module__ in sys.modules else {}
    try:
        annotation = eval(field.annotation, dict(module), dict(vars(schema)))
    except Exception as error:
        field.refuse(f"has the type {field.annotation!r}, which cannot be read: {error}.")
    return Field(field.name, annotation, field.file, field.line, field.description, field.valued)


def _measure(field: Field) -> MeasureSpec:
    if not _KEY.fullmatch(field.name):
        field.refuse("has no usable name; start with a letter, then letters, digits and '_', at most 63.")
    if field.valued:
        field.refuse("has a value; a schema only declares types (options go into Annotated[type, Measure(...)]).")
    base, options = _unwrapped(field)
    kind, categories = _kind(field, base)
    return MeasureSpec(
        key=field.name,
        type=kind,
        description=field.description,
        objective=_objective(field, kind, options.objective),
        unit=options.unit,
        label=options.label,
        aggregate=_reducer(field, kind, options.aggregate),
        required=options.required,
        headline=_headline(field, kind, options.headline),
        worst=_worst(field, kind, options.worst),
        categories=categories,
    )


def _unwrapped(field: Field) -> tuple[Any, Measure]:
    if get_origin(field.annotation) is not Annotated:
        return field.annotation, Measure()
    base, *extras = get_args(field.annotation)
    if Measure in extras:
        field.refuse("names the class Measure itself; write Measure(...).")
    options = [extra for extra in extras if isinstance(extra, Measure)]
    if len(options) > 1:
        field.refuse("has two Measure(...); write one.")
    return base, options[0] if options else Measure()


def _kind(field: Field, base: Any) -> tuple[MeasureType, tuple[str, ...]]:
    plain: dict[Any, MeasureType] = {bool: "bool", int: "int", float: "float", str: "text"}
    if isinstance(base, type) and base in plain:
        return plain[base], ()
    if get_origin(base) is Literal:
        return "category", _categories(field, get_args(base))
    if isinstance(base, type) and issubclass(base, enum.Enum):
        return "category", _categories(field, tuple(member.value for member in base))
    shown = base.__name__ if isinstance(base, type) else str(base).replace("typing.", "")
    field.refuse(f"has the type {shown}; a measure is bool, int, float, str, a Literal of texts or an Enum of texts.")


def _categories(field: Field, values: tuple[Any, ...]) -> tuple[str, ...]:
    if not values or not all(isinstance(value, str) and value for value in values):
        field.refuse(f"has the categories {list(values)!r}; each must be text that is not empty.")
    return tuple(str(value) for value in dict.fromkeys(values))


def _objective(field: Field, kind: MeasureType, objective: str) -> str:
    if not objective:
        return "maximize" if kind == "bool" else ""
    if kind in ("category", "text"):
        field.refuse(f"is {kind} and has no direction; leave objective={objective!r} out.")
    if objective in ("maximize", "minimize"):
        return objective
    found = _TARGET.fullmatch(objective)
    if not found or kind == "bool":
        allowed = "maximize or minimize" if kind == "bool" else "maximize, minimize or target(x)"
        field.refuse(f"has objective={objective!r}; it must be {allowed}.")
    return f"target({_number(field, found[1]):g})"


def _number(field: Field, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        field.refuse(f"has the target {text!r}, which is no finite number.")
    return value


def _reducer(field: Field, kind: MeasureType, aggregate: str) -> Reducer:
    fitting = REDUCERS[kind]
    if not aggregate:
        return fitting[0]
    if aggregate not in get_args(Reducer):
        field.refuse(f"has aggregate={aggregate!r}, which is none of: {', '.join(get_args(Reducer))}.")
    for reducer in fitting:
        if reducer == aggregate:
            return reducer
    field.refuse(f"has aggregate={aggregate!r}, which does not fit {kind}; fitting: {', '.join(fitting)}.")


def _headline(field: Field, kind: MeasureType, headline: bool) -> bool:
    if headline and kind == "text":
        field.refuse("is text and cannot be the headline; nothing can be counted in it.")
    return bool(headline)


def _worst(field: Field, kind: MeasureType, worst: float | None) -> float | None:
    if worst is None:
        return None
    if kind in ("category", "text"):
        field.refuse(f"is {kind} and has no worst value; leave worst={worst!r} out.")
    if not isinstance(worst, int | float) or not math.isfinite(worst) or (kind == "bool" and worst not in (0, 1)):
        field.refuse(f"has worst={worst!r}; it must be {'True or False' if kind == 'bool' else 'a finite number'}.")
    return float(worst)
