from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from runner.errors import JournalError
from runner.journal import MANIFEST
from runner.manifest import Manifest
from runner.schema import MeasureSpec
from tests.make import make_run


@pytest.fixture
def manifest(tmp_path: Path) -> Manifest:
    return Manifest.read(make_run(tmp_path, cells=2, scenarios=2, cases=2, trials=2) / MANIFEST)


def test_a_manifest_survives_writing_and_reading(manifest: Manifest, tmp_path: Path) -> None:
    manifest.write(tmp_path / "again.json")
    assert Manifest.read(tmp_path / "again.json") == manifest


def test_unknown_keys_of_newer_writers_are_left_aside(manifest: Manifest) -> None:
    data: dict[str, Any] = json.loads(json.dumps(manifest.to_json()))
    data["invented_later"] = {"x": 1}
    data["cells"][0]["invented_later"] = 1
    data["scenarios"][0]["cases"][0]["invented_later"] = 1
    assert Manifest.from_json(data) == manifest


@pytest.mark.parametrize(
    "row", [[9, 0, 0, 1, 0], [0, 9, 0, 1, 0], [0, 0, 9, 1, 0], [0, 0, 0, 0, 0], [-1, 0, 0, 1, 0], [0, 0], ["x"] * 5]
)
def test_a_planned_trial_of_what_is_not_listed_is_refused(manifest: Manifest, row: list[Any]) -> None:
    data: dict[str, Any] = json.loads(json.dumps(manifest.to_json()))
    data["rows"][0] = row
    with pytest.raises(JournalError, match="manifest cannot be read"):
        Manifest.from_json(data)


@pytest.mark.parametrize(
    ("part", "value", "said"),
    [
        ("cells", "x", "its 'cells' are no list"),
        ("measures", [{}], r"measures\[0\] is not written as it should be"),
        ("scenarios", [5], r"scenarios\[0\] is not written as it should be"),
        ("run", None, "it has no 'run'"),
    ],
)
def test_a_part_of_another_shape_is_named(manifest: Manifest, part: str, value: Any, said: str) -> None:
    data: dict[str, Any] = json.loads(json.dumps(manifest.to_json())) | {part: value}
    given = {key: one for key, one in data.items() if one is not None or key != part}
    with pytest.raises(JournalError, match=f"cannot be read: {said}"):
        Manifest.from_json(given)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": "other/1"}', "\udcff", "{" * 5, '{"format": "benchsite/run/1"}']
)
def test_what_is_no_manifest_is_refused_in_a_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / MANIFEST).write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(JournalError):
        Manifest.read(tmp_path / MANIFEST)


def test_a_folder_that_is_no_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match=f"{tmp_path} is not a run"):
        Manifest.read(tmp_path / MANIFEST)


@pytest.mark.parametrize(
    "change",
    [
        {"bench": "acme/other"},
        {"hashes": {"definition": "x"}},
        {"protocol": "2.0"},
        {"isolation": "sandbox"},
        {"network": {"execution": "none"}},
        {"evaluation": "fresh"},
    ],
)
def test_what_must_be_equal_for_pooling_changes_the_cohort(manifest: Manifest, change: dict[str, Any]) -> None:
    assert replace(manifest, **change).cohort != manifest.cohort


@pytest.mark.parametrize("change", [{"run": "X"}, {"version": "9"}, {"title": "t"}, {"protocol": "1.7"}, {"seed": 99}])
def test_what_may_differ_leaves_the_cohort_alone(manifest: Manifest, change: dict[str, Any]) -> None:
    assert replace(manifest, **change).cohort == manifest.cohort


def test_the_headline_is_the_declared_measure_else_the_first_boolean_else_the_first(manifest: Manifest) -> None:
    number, flag = MeasureSpec("n", "int"), MeasureSpec("b", "bool")
    chosen = MeasureSpec("c", "float", headline=True)
    assert replace(manifest, measures=(number, flag, chosen)).headline == chosen
    assert replace(manifest, measures=(number, flag)).headline == flag
    assert replace(manifest, measures=(number,)).headline == number
    assert replace(manifest, measures=()).headline is None
