"""What a run is: bench, hashes, schema, axes, cells and planned trials. Written once, before anything runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING, Field, asdict, dataclass, field, fields, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, TypeVar

from . import digests
from .errors import JournalError
from .schema import MeasureSpec, schema_hash

T = TypeVar("T")
FORMAT = "benchsite/run/1"
HIGHEST_NUMBER = 1_000_000
"""Trials of one case in one cell; a database keeps no number of any size."""
PROTOCOL = "1.0"
"""The major number is part of the cohort: results measured under another protocol are never pooled."""


@dataclass(frozen=True)
class Axis:
    name: str
    values: tuple[str, ...]
    constant: bool = False
    secret: bool = False


@dataclass(frozen=True)
class Cell:
    """One combination of variations. `pin` is what was really applied, agent version included, no secret in it."""

    id: str
    axes: dict[str, str]
    pin: dict[str, Any] = field(default_factory=dict)
    isolation: str = "none"

    @property
    def key10(self) -> str:
        return digests.key10(self.id)


@dataclass(frozen=True)
class Case:
    """One parameter set of a scenario; key "" where the scenario has just one."""

    key: str = ""
    params: dict[str, str] = field(default_factory=dict)
    fingerprint: str = ""


@dataclass(frozen=True)
class Scenario:
    """`hash` covers this scenario alone; `source` is the blob of its file, `line` where its function starts."""

    id: str
    file: str
    line: int
    function: str
    doc: str = ""
    hash: str = ""
    source: str | None = None
    evaluation: dict[str, Any] | None = None
    cases: tuple[Case, ...] = (Case(),)

    @property
    def slug(self) -> str:
        return digests.slug(self.id)


@dataclass(frozen=True)
class PlannedTrial:
    """Trial `number` (from 1) of a case in a cell; the other fields are positions in the manifest's lists."""

    index: int
    cell: int
    scenario: int
    case: int
    number: int
    plan: int = 0


@dataclass(frozen=True)
class Manifest:
    """`trials` is kept as rows of integers [cell, scenario, case, number, plan]; a trial's index is its row."""

    run: str
    created_at: str
    bench: str
    version: str
    measures: tuple[MeasureSpec, ...]
    axes: tuple[Axis, ...]
    cells: tuple[Cell, ...]
    scenarios: tuple[Scenario, ...]
    rows: tuple[tuple[int, int, int, int, int], ...]
    hashes: dict[str, str] = field(default_factory=dict)
    """Parts (schema, template, suite, capture, evaluation, limits, judge, environment, code, setup, fixtures)
    and, over all of them, `definition`."""
    plans: tuple[dict[str, Any], ...] = ()
    """Resolved plans: mode, source, network, timeouts, environment, artifacts, collect, limits."""
    title: str = ""
    readme: str | None = None
    """Blob of the bench's README.md."""
    template: str | None = None
    """Blob of the start world's tree (benchsite/tree/1)."""
    isolation: str = "none"
    environment: str = "local"
    network: dict[str, str] = field(default_factory=dict)
    evaluation: str = "reuse"
    requested: dict[str, Any] = field(default_factory=dict)
    """Lists that the run was asked for in place of its scenarios': artifacts, collect."""
    retain: str = "failed"
    trials_per_cell: int = 1
    limits: dict[str, Any] = field(default_factory=dict)
    seed: int = 0
    order: tuple[int, ...] = ()
    """Trial indexes in the order they are started: seeded, interleaved over cells."""
    harness: dict[str, Any] = field(default_factory=dict)
    host: dict[str, Any] = field(default_factory=dict)
    judge: dict[str, Any] = field(default_factory=dict)
    """The model that grades: model, parameters, protocol, version, host. Empty where none does."""
    sealed: str | None = None
    """Digest of the sealed copy of template, scenarios and fixtures that every trial reads."""
    origin: str = "runner"
    """Who made the run: `runner`, or an importer's name."""
    parent: str | None = None
    """The run that this one was made from."""
    regrades: str | None = None
    """The run whose agents did the work, where this one is regraded: it only graded that work again."""
    tags: tuple[str, ...] = ()
    """Names its maker gave the run, to find it by."""
    protocol: str = PROTOCOL

    @property
    def schema_hash(self) -> str:
        return schema_hash(self.measures)

    @property
    def definition(self) -> str:
        return self.hashes.get("definition", "")

    @property
    def regraded(self) -> bool:
        return self.regrades is not None

    @property
    def cohort(self) -> str:
        """Hash of what must be equal for runs to be pooled."""
        parts = {
            "bench": self.bench,
            "definition": self.definition,
            "protocol": self.protocol.split(".")[0],
            "isolation": self.isolation,
            "network": self.network,
            "evaluation": self.evaluation,
        }
        return digests.digest(parts | ({"requested": self.requested} if self.requested else {}))

    @cached_property
    def trials(self) -> tuple[PlannedTrial, ...]:
        return tuple(PlannedTrial(index, *row) for index, row in enumerate(self.rows))

    @cached_property
    def by_key(self) -> dict[str, MeasureSpec]:
        return {measure.key: measure for measure in self.measures}

    @cached_property
    def required(self) -> frozenset[str]:
        return frozenset(measure.key for measure in self.measures if measure.required)

    @cached_property
    def headline(self) -> MeasureSpec | None:
        """The measure a matrix shows first: the declared one, else the first boolean, else the first."""
        chosen = [m for m in self.measures if m.headline] or [m for m in self.measures if m.type == "bool"]
        return next(iter([*chosen, *self.measures]), None)

    def where(self, index: int) -> str:
        """Name a planned trial for a person: scenario, case, cell and number."""
        trial = self.trials[index]
        scenario = self.scenarios[trial.scenario]
        case = scenario.cases[trial.case].key
        return f"{scenario.id}{f'[{case}]' if case else ''} · {self.cells[trial.cell].id} · trial {trial.number}"

    def blobs(self) -> Iterator[str]:
        """Name every blob the manifest itself refers to."""
        yield from (d for d in (self.readme, self.template, *(s.source for s in self.scenarios)) if d)

    def to_json(self) -> dict[str, Any]:
        told = {"schema_hash": self.schema_hash, "cohort": self.cohort, "regraded": self.regraded}
        return {"format": FORMAT, **asdict(self), **told}

    def write(self, path: Path) -> None:
        path.write_text(
            json.dumps(self.to_json(), indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8"
        )

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Manifest:
        """Read a manifest; unknown keys are left aside, so that newer writers can be read."""
        if not isinstance(data, dict) or not str(data.get("format", "")).startswith("benchsite/run/"):
            raise JournalError("This is not a run manifest: its 'format' is not benchsite/run/1.")
        try:
            given = {**_known(cls, data), **_nested(data)}
            if lacking := [one.name for one in fields(cls) if one.name not in given and _demanded(one)]:
                raise ValueError(f"it has no {lacking[0]!r}")
            return cls(**given)
        except (TypeError, KeyError, ValueError, AttributeError) as error:
            raise JournalError(f"The run manifest cannot be read: {error}.") from error

    @classmethod
    def read(cls, path: Path) -> Manifest:
        try:
            return cls.from_json(json.loads(path.read_text(encoding="utf-8")))
        except FileNotFoundError as error:
            raise JournalError(f"{path.parent} is not a run: it holds no manifest.json.") from error
        except (ValueError, RecursionError) as error:
            raise JournalError(f"{path} is not valid JSON: {error}.") from error

    def renamed(self, run: str) -> Manifest:
        return replace(self, run=run)


def _known(cls: type[Any], data: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if key in cls.__dataclass_fields__}


def _texts(values: Iterable[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


_FITS: dict[str, Callable[[Any], bool]] = {
    "str": lambda value: isinstance(value, str),
    "str | None": lambda value: value is None or isinstance(value, str),
    "int": lambda value: isinstance(value, int),
    "bool": lambda value: isinstance(value, bool),
    "float | None": lambda value: value is None or isinstance(value, int | float),
    "tuple[str, ...]": lambda value: isinstance(value, list | tuple) and _texts(value),
    "dict[str, str]": lambda value: isinstance(value, dict) and _texts(value.values()),
    "dict[str, Any]": lambda value: isinstance(value, dict),
    "dict[str, Any] | None": lambda value: value is None or isinstance(value, dict),
}
"""By how a field is declared: whether a value is what every reader of it may rely on."""


def _fit(cls: type[Any], row: dict[str, Any]) -> dict[str, Any]:
    """Pass what is known of a row; TypeError for a value of another type than its field."""
    known = _known(cls, row)
    for name, fits in _checks(cls):  # type: ignore[arg-type]  # mypy does not know that classes are hashable
        if name in known and not fits(known[name]):
            raise TypeError(name)
    return known


@cache
def _checks(cls: type[Any]) -> tuple[tuple[str, Callable[[Any], bool]], ...]:
    """Worked out once: a manifest may have a hundred thousand cells. Cases are checked one by one."""
    rest = _FITS["str"]  # words of a closed set
    return tuple((one.name, _FITS.get(str(one.type), rest)) for one in fields(cls) if one.name != "cases")


def _demanded(one: Field[Any]) -> bool:
    return one.default is MISSING and one.default_factory is MISSING


def _list(data: dict[str, Any], name: str, read: Callable[[Any], T]) -> tuple[T, ...]:
    """Read a list's rows; says which of them is not written as one should be."""
    rows = data.get(name)
    if not isinstance(rows, list | tuple):
        raise ValueError(f"its {name!r} are no list")
    made: list[T] = []
    try:
        made.extend(map(read, rows))
    except (TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{name}[{len(made)}] is not written as it should be") from error
    return tuple(made)


def _nested(data: dict[str, Any]) -> dict[str, Any]:
    return {
        "measures": _list(data, "measures", lambda row: MeasureSpec.from_json(_fit(MeasureSpec, row))),
        "axes": _list(data, "axes", lambda row: Axis(**{**_fit(Axis, row), "values": tuple(row["values"])})),
        "cells": _list(data, "cells", lambda row: Cell(**_fit(Cell, row))),
        "scenarios": _list(data, "scenarios", _scenario),
        "rows": _list(data, "rows", lambda row: _row(row, data)),
        "plans": tuple(data.get("plans", ())),
        "order": tuple(data.get("order", ())),
        "tags": tuple(str(tag) for tag in data.get("tags", ())),
    }


def _scenario(row: dict[str, Any]) -> Scenario:
    cases = tuple(Case(**_fit(Case, case)) for case in row.get("cases", [{}]))
    return Scenario(**{**_fit(Scenario, row), "cases": cases})


def _row(row: list[int], data: dict[str, Any]) -> tuple[int, int, int, int, int]:
    cell, scenario, case, number, plan = row
    if {*map(type, row)} != {int}:
        raise ValueError(f"the planned trial {row} is not five whole numbers")
    if not (0 <= cell < len(data["cells"]) and 0 <= scenario < len(data["scenarios"]) and number >= 1):
        raise ValueError(f"the planned trial {row} names a cell or scenario that is not listed")
    if number > HIGHEST_NUMBER:
        raise ValueError(f"the planned trial {row} has a number above {HIGHEST_NUMBER:,}")
    if not 0 <= case < len(data["scenarios"][scenario].get("cases", [{}])):
        raise ValueError(f"the planned trial {row} names a case that is not listed")
    return cell, scenario, case, number, plan
