from __future__ import annotations

from pathlib import Path

import pytest

from runner.errors import BenchError
from runner.load import load_bench
from runner.schema import MeasureSpec, schema_hash
from runner.schema_source import extract, to_json

from .authoring import write_bench

HEAD = "from enum import Enum\nfrom typing import Annotated, Literal\n"


def measures(folder: Path, schema: str) -> tuple[MeasureSpec, ...]:
    bench = load_bench(write_bench(folder, schema=HEAD + schema))
    return extract(bench.schema, bench.file)


def refused(folder: Path, schema: str) -> str:
    with pytest.raises(BenchError) as caught:
        measures(folder, schema)
    return str(caught.value)


def test_types_descriptions_and_options_are_read_from_the_source(tmp_path: Path) -> None:
    found = measures(
        tmp_path,
        '''class Way(Enum):
    FAST = "fast"
    SLOW = "slow"

class Schema:
    """What is measured."""
    resolved: bool
    """Has the bug
    gone?"""
    files: Annotated[int, Measure(objective="minimize", unit="files", label="Files", aggregate="median", worst=99)]
    # a comment is no description
    ratio: Annotated[float, Measure(objective="target( 0.50 )", required=True)]
    approach: Literal["patch", "rewrite"]
    way: Way
    note: str
''',
    )
    assert [measure.key for measure in found] == ["resolved", "files", "ratio", "approach", "way", "note"]
    assert [measure.type for measure in found] == ["bool", "int", "float", "category", "category", "text"]
    assert [measure.aggregate for measure in found] == ["rate", "median", "mean", "counts", "counts", "none"]
    assert [measure.objective for measure in found] == ["maximize", "minimize", "target(0.5)", "", "", ""]
    assert found[0].description == "Has the bug\ngone?"
    assert (found[1].unit, found[1].label, found[1].worst) == ("files", "Files", 99.0)
    assert found[2].required
    assert found[2].description == ""
    assert (found[3].categories, found[4].categories) == (("patch", "rewrite"), ("fast", "slow"))


def test_annotations_that_are_text_are_resolved(tmp_path: Path) -> None:
    schema = 'class Schema:\n    way: \'Literal["a", "b"]\'\n    n: \'Annotated[int, Measure(unit="s")]\'\n'
    way, number = measures(tmp_path, schema)
    assert way.categories == ("a", "b")
    assert number.unit == "s"


def test_a_schema_inherits_measures(tmp_path: Path) -> None:
    schema = 'class Base:\n    ok: bool\n    """Fine?"""\n\nclass Schema(Base):\n    n: int\n'
    found = measures(tmp_path, schema)
    assert [(measure.key, measure.description) for measure in found] == [("ok", "Fine?"), ("n", "")]


def test_formatting_and_comments_do_not_change_the_schema_hash(tmp_path: Path) -> None:
    plain = measures(tmp_path / "a", 'class Schema:\n    ok: bool\n    """Fine?"""\n    n: int\n')
    other = measures(tmp_path / "b", "class Schema:\n    ok:bool  # yes\n    'Fine?'\n\n    n : (int)\n")
    changed = measures(tmp_path / "c", 'class Schema:\n    ok: bool\n    """Good?"""\n    n: int\n')
    assert schema_hash(plain) == schema_hash(other) == to_json(plain)["hash"]
    assert schema_hash(plain) != schema_hash(changed)


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ("files: list[int]", "Measure 'files' has the type list[int]; a measure is bool, int, float"),
        ("when: bytes", "has the type bytes"),
        ("ok: bool | None", "has the type bool | None"),
        ("ok: 'Nope'", "has the type 'Nope', which cannot be read: name 'Nope' is not defined."),
        ("ok: bool = True", "has a value; a schema only declares types"),
        ("_ok: bool", "has no usable name"),
        ("ok: Annotated[bool, Measure(aggregate='mean')]", "aggregate='mean', which does not fit bool; fitting: rate."),
        ("n: Annotated[int, Measure(aggregate='rate')]", "does not fit int; fitting: mean, median, min, max, sum."),
        ("n: Annotated[int, Measure(aggregate='average')]", "aggregate='average', which is none of: rate, mean"),
        ("n: Annotated[int, Measure(objective='less')]", "it must be maximize, minimize or target(x)."),
        ("n: Annotated[int, Measure(objective='target(few)')]", "has the target 'few', which is no finite number."),
        ("ok: Annotated[bool, Measure(objective='target(1)')]", "it must be maximize or minimize."),
        ("s: Annotated[str, Measure(objective='maximize')]", "is text and has no direction"),
        ("s: Annotated[str, Measure(headline=True)]", "is text and cannot be the headline"),
        ("c: Annotated[Literal['a'], Measure(worst=1)]", "is category and has no worst value"),
        ("n: Annotated[int, Measure(worst=float('inf'))]", "it must be a finite number."),
        ("c: Literal[1, 2]", "has the categories [1, 2]; each must be text"),
        ("n: Annotated[int, Measure]", "names the class Measure itself; write Measure(...)."),
        ("n: Annotated[int, Measure(), Measure()]", "has two Measure(...); write one."),
    ],
)
def test_a_broken_field_is_named_with_file_and_line(tmp_path: Path, field: str, said: str) -> None:
    message = refused(tmp_path, f"class Schema:\n    fine: bool\n    {field}\n")
    assert message.startswith(f"{tmp_path / 'bench.py'}:7: Measure ")
    assert said in message


def test_two_headlines_are_refused(tmp_path: Path) -> None:
    one = "Annotated[bool, Measure(headline=True)]"
    assert "a and b are both headline" in refused(tmp_path, f"class Schema:\n    a: {one}\n    b: {one}\n")


def test_a_schema_without_measures_is_refused(tmp_path: Path) -> None:
    assert "declares no measure" in refused(tmp_path, "class Schema:\n    pass\n")
