"""A run as columns, one row a planned trial: what pandas, polars and pyarrow take as it is; none of them is needed."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from .errors import RunnerError
from .manifest import Manifest
from .records import Attempt, RunResult, Trial, Value
from .replay import read
from .schema import MeasureSpec
from .selection import name_of

if TYPE_CHECKING:
    import pyarrow

Columns = dict[str, list[Any]]

KINDS: dict[str, str] = {
    "run": "text", "bench": "text", "version": "text", "definition": "text", "cohort": "text", "regraded": "bool",
    "index": "int", "scenario": "text", "case": "text", "cell": "text", "trial": "int",
    "agent_version": "text", "isolation": "text",
    "state": "text", "outcome": "text", "fault": "text", "phase": "text", "reason": "text", "flags": "text",
    "attempts": "int", "started_at": "text", "finished_at": "text",
    "seconds": "float", "cost": "float", "tokens_in": "int", "tokens_out": "int", "tokens_cached": "int",
    "model_calls": "int", "tool_calls": "int", "cost_estimated": "bool",
    "files_added": "int", "files_modified": "int", "files_deleted": "int", "lines_added": "int", "lines_deleted": "int",
    "invalid": "text",
}  # fmt: skip
"""The columns that every run has, with the type of their values; None stands for what is unknown."""
AXIS, MEASURE = "axis.", "measure."
"""Before the names of axes and measures, so that no bench can name a column as another is named."""
COUNTS = {"files_added": "added", "files_modified": "modified", "files_deleted": "deleted",
          "lines_added": "lines_added", "lines_deleted": "lines_deleted"}  # fmt: skip
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def frame(*runs: RunResult | Path | str, every: bool = False) -> Columns:
    """Give trials as columns of equal length: `pandas.DataFrame(frame(run))`, `polars.DataFrame(frame(run))`.

    Several runs stand below each other; a column that one of them lacks holds None there. A measure has the values of
    scored trials, so that a mean over the column is one over what counts; with `every` those of all trials.
    """
    results = [run if isinstance(run, RunResult) else read(Path(run)) for run in runs]
    names = list(kinds([result.manifest for result in results]))
    columns: Columns = {name: [] for name in names}
    for result in results:
        for trial in result.trials:
            row = row_of(result.manifest, trial, every=every)
            for name in names:
                columns[name].append(row.get(name))
    return columns


def kinds(manifests: Iterable[Manifest]) -> dict[str, str]:
    """Name the columns of runs in order, with their types; a measure that changed its type is refused."""
    manifests = list(manifests)
    axes = dict.fromkeys(f"{AXIS}{axis.name}" for manifest in manifests for axis in manifest.axes)
    found = dict(KINDS) | dict.fromkeys(axes, "text")
    for manifest in manifests:
        for measure in manifest.measures:
            kind = "text" if measure.type == "category" else measure.type
            if found.setdefault(f"{MEASURE}{measure.key}", kind) != kind:
                raise RunnerError(f"The measure {measure.key!r} is {kind} in {manifest.run}, and another type before.")
    return found


def write_parquet(target: Path | str, *runs: RunResult | Path | str, every: bool = False) -> Path:
    """Write `frame` as a Parquet file whose columns are typed, also where a run has no value for one. Needs pyarrow."""
    parquet = _pyarrow("pyarrow.parquet")
    parquet.write_table(table(*runs, every=every), target)
    return Path(target)


def table(*runs: RunResult | Path | str, every: bool = False) -> pyarrow.Table:
    """Give `frame` as a typed table of pyarrow."""
    arrow = _pyarrow("pyarrow")
    results = [run if isinstance(run, RunResult) else read(Path(run)) for run in runs]
    return arrow.table(frame(*results, every=every), schema=_typed_columns([result.manifest for result in results]))


def write_parquet_parts(file: IO[bytes], manifest: Manifest, parts: Iterable[Columns]) -> None:
    """Write one run's columns part by part, so that they need not all be held at a time. Needs pyarrow."""
    arrow, parquet = _pyarrow("pyarrow"), _pyarrow("pyarrow.parquet")
    schema = _typed_columns([manifest])
    with parquet.ParquetWriter(file, schema) as writer:
        for columns in parts:
            writer.write_table(arrow.table(columns, schema=schema))


def _typed_columns(manifests: Sequence[Manifest]) -> pyarrow.Schema:
    arrow = _pyarrow("pyarrow")
    types = {"text": arrow.string(), "bool": arrow.bool_(), "int": arrow.int64(), "float": arrow.float64()}
    return arrow.schema({name: types[kind] for name, kind in kinds(manifests).items()})


def write_csv(file: IO[str], columns: Columns, *, head: bool = True) -> None:
    """Write rows for a spreadsheet: what it would run as a formula gets a quote before it, since names are foreign."""
    writer = csv.writer(file, lineterminator="\n")
    if head:
        writer.writerow(columns)
    writer.writerows(map(_safe, zip(*columns.values(), strict=True)))


def _safe(row: Iterable[Any]) -> list[Any]:
    return [f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value for value in row]


def _pyarrow(name: str) -> Any:
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError as error:
        raise RunnerError("Parquet needs pyarrow, which is not installed here: pip install pyarrow") from error


def row_of(manifest: Manifest, trial: Trial, *, every: bool = False) -> dict[str, Any]:
    """Give one trial's row by the names of its columns; a name that is absent holds None."""
    scenario, case, cell, number = name_of(manifest, trial.planned.index)
    of = manifest.cells[trial.planned.cell]
    usage = trial.usage.__dict__
    return {
        "run": manifest.run,
        "bench": manifest.bench,
        "version": manifest.version,
        "definition": manifest.definition,
        "cohort": manifest.cohort,
        "regraded": manifest.regraded,
        "index": trial.planned.index,
        "scenario": scenario,
        "case": case,
        "cell": cell,
        "trial": number,
        "agent_version": str(of.pin.get("version") or "") or None,
        "isolation": of.isolation,
        "state": trial.state,
        "reason": trial.reason or None,
        "attempts": len(trial.attempts),
        **{f"{AXIS}{name}": value for name, value in of.axes.items()},
        **{name: usage[name] for name in KINDS if name in usage},
        "cost_estimated": trial.usage.estimated,
        **(_ended(trial.final) if trial.final else {}),
        **(_observed(manifest.measures, trial.final) if trial.final and (every or trial.state == "scored") else {}),
    }


def _ended(final: Attempt) -> dict[str, Any]:
    changes = final.changes.get("agent")
    return {
        **{
            name: getattr(final, name) for name in ("outcome", "fault", "phase", "started_at", "finished_at", "seconds")
        },
        "flags": ", ".join(final.flags) or None,
        **({name: changes.counts.get(key) for name, key in COUNTS.items()} if changes else {}),
    }


def _observed(measures: Sequence[MeasureSpec], final: Attempt) -> dict[str, Any]:
    seen = {key: one.value for key, one in final.observations.items() if one.valid}
    invalid = sorted(key for key, one in final.observations.items() if not one.valid)
    values = {f"{MEASURE}{measure.key}": _typed(measure, seen) for measure in measures}
    return {**values, "invalid": ", ".join(invalid) or None}


def _typed(measure: MeasureSpec, seen: Mapping[str, Value]) -> Value:
    """An upload may claim anything: what is not of its measure's type is no value."""
    value = seen.get(measure.key)
    wanted: tuple[type, ...] = {"bool": (bool,), "int": (int,), "float": (float, int)}.get(measure.type, (str,))
    fits = isinstance(value, wanted) and (measure.type == "bool" or not isinstance(value, bool))
    if not fits or value is None:
        return None
    return float(value) if measure.type == "float" else value
