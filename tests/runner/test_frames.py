"""Trials x measures as columns: typed, of one length, and a column's mean is the figure that `result` shows."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet
import pytest

from runner.errors import RunnerError
from runner.frames import KINDS, frame, kinds, table
from runner.records import RunResult
from runner.replay import read
from runner.statistics.counted import tallies
from runner.statistics.rows import rows_of
from tests.make import make_run
from tests.runner.cli.make import benchsite


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every fate once: scored, invalid, errors, excluded, cancelled, never run."""
    return make_run(tmp_path_factory.mktemp("frames") / "b", trials=10)


@pytest.fixture(scope="module")
def result(run_dir: Path) -> RunResult:
    return read(run_dir)


def test_a_row_a_planned_trial_and_a_column_an_axis_and_a_measure(result: RunResult) -> None:
    columns = result.frame()
    assert {len(column) for column in columns.values()} == {len(result.trials)}
    assert list(columns)[: len(KINDS)] == list(KINDS)
    assert list(columns)[len(KINDS) :] == [
        *(f"axis.{axis.name}" for axis in result.manifest.axes),
        *(f"measure.{measure.key}" for measure in result.manifest.measures),
    ]
    assert columns["index"] == list(range(len(result.trials)))
    assert columns["state"] == [trial.state for trial in result.trials]
    assert columns["cost"] == [trial.usage.cost for trial in result.trials], "over all attempts, unknown is None"
    assert None in columns["cost"]
    assert {type(value) for value in columns["measure.resolved"]} == {bool, type(None)}


def test_only_what_counts_has_values_unless_every_trial_is_wanted(result: RunResult) -> None:
    columns = result.frame()
    first = next(place for place, value in enumerate(columns["measure.resolved"]) if value is not None)
    late = replace(result.trials[first], state="excluded")
    guarded = replace(result, trials=(*result.trials[:first], late, *result.trials[first + 1 :]))
    assert guarded.frame()["measure.resolved"][first] is None
    assert guarded.frame(every=True)["measure.resolved"][first] == columns["measure.resolved"][first]
    counted = tallies(rows_of(result), result.manifest.measures)
    for measure in result.manifest.measures:
        seen = [value for value in columns[f"measure.{measure.key}"] if value is not None]
        mine = [tally for (*_, key), tally in counted.items() if key == measure.key]
        assert len(seen) == sum(tally.n for tally in mine)
        if measure.type in ("bool", "int", "float"):
            assert sum(seen) == pytest.approx(sum(tally.sum or 0.0 for tally in mine))


def test_runs_stand_below_each_other_and_a_missing_column_holds_none(run_dir: Path, result: RunResult) -> None:
    spec = replace(result.manifest.measures[0], key="extra")
    other = replace(result, manifest=replace(result.manifest, measures=(*result.manifest.measures, spec)))
    both = frame(run_dir, other)
    assert len(both["run"]) == 2 * len(result.trials)
    assert set(both["measure.extra"]) == {None}
    changed = replace(spec, key=result.manifest.measures[1].key, type="text")
    with pytest.raises(RunnerError, match="The measure 'collateral' is text in"):
        kinds([result.manifest, replace(result.manifest, measures=(changed,))])


def test_a_parquet_file_has_the_types_of_the_schema(run_dir: Path, tmp_path: Path) -> None:
    done = benchsite("export", run_dir, "-o", tmp_path / "trials.parquet")
    assert done.returncode == 0, done.stderr
    stored = pyarrow.parquet.read_table(tmp_path / "trials.parquet")
    assert stored.equals(table(run_dir))
    types = {field.name: str(field.type) for field in stored.schema}
    assert (types["measure.resolved"], types["measure.collateral"], types["measure.score"], types["cost"]) == (
        "bool", "int64", "double", "double",
    )  # fmt: skip


def test_export_writes_csv_and_json_and_refuses_another_kind(run_dir: Path, result: RunResult, tmp_path: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(benchsite("export", run_dir).stdout)))
    assert [row["state"] for row in rows] == [trial.state for trial in result.trials]
    assert benchsite("export", run_dir, "--every", "-o", tmp_path / "t.json").returncode == 0
    assert json.loads((tmp_path / "t.json").read_text()) == result.frame(every=True)
    wrong = benchsite("export", run_dir, "-o", tmp_path / "t.xlsx")
    assert wrong.returncode == 2
    assert "its name must end in .csv, .json or .parquet" in wrong.stderr
