from __future__ import annotations

from pathlib import Path

import pytest

from runner.errors import BenchErrors
from runner.schema import MeasureSpec
from runner.static_check import check_source, check_sources, unknown_ids, unseen_fixtures

from .authoring import write_files

MEASURES = (
    MeasureSpec("resolved", "bool"),
    MeasureSpec("files", "int"),
    MeasureSpec("ratio", "float"),
    MeasureSpec("approach", "category", categories=("patch", "rewrite")),
    MeasureSpec("note", "text"),
)
HEAD = "from runner import bench, expect, observe\n"


def faults(source: str, head: str = HEAD) -> list[str]:
    return [str(error) for error in check_source((head + source).encode(), Path("bench_x.py"), MEASURES, ["model"])]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ('observe("resloved", True)', "The schema declares no measure 'resloved'; did you mean 'resolved'?"),
        ('observe("speed", 1)', "no measure 'speed'; known are: resolved, files, ratio, approach, note."),
        ("observe(7, 1)", "The schema declares no measure 7"),
        ('observe("resolved", 1)', "The measure 'resolved' is True or False, not 1."),
        ('observe("resolved", "yes")', "is True or False, not 'yes'."),
        ('observe("resolved", None)', "is True or False, not None."),
        ('observe("files", True)', "The measure 'files' is a whole number, not True."),
        ('observe("files", not done)', "is a whole number, not not done."),
        ('observe("files", 1.5)', "is a whole number, not 1.5."),
        ('observe("files", [1])', "is a whole number, not [1]."),
        ('observe("ratio", "0.5")', "is a number, not '0.5'."),
        ('observe("approach", "pacth")', "is one of 'patch', 'rewrite', not 'pacth'."),
        ('observe("approach", "patch" if x else "other")', "is one of 'patch', 'rewrite', not 'other'."),
        ('observe("note", 3)', "is text, not 3."),
        ('observe(measure="files", value="3")', "is a whole number, not '3'."),
        ('observe("files")', "observe takes a measure id and a value."),
        ('bench.axis("modle")', "The matrix has no axis 'modle'; did you mean 'model'?"),
        ('bench.axis("agent")', "The matrix has no axis 'agent'; known are: model."),
    ],
)
def test_a_fault_is_told_with_file_and_line(call: str, said: str) -> None:
    (message,) = faults(f"\ndef bench_x(agent):\n    {call}\n")
    assert message.startswith("bench_x.py:4: ")
    assert said in message


@pytest.mark.parametrize(
    "call",
    [
        'observe("resolved", workspace.tests.passed())', 'observe("files", -3)', 'observe("ratio", 1)',
        'observe("approach", way)', 'observe("approach", f"{way}")', 'observe("note", f"{x}")', "observe(key, 1)",
        "observe(*pair)", 'bench.axis("model")', 'other.observe("speed", 1)', 'axis("nope")',
    ],
)  # fmt: skip
def test_what_the_source_does_not_decide_is_left_alone(call: str) -> None:
    assert faults(f"def bench_x(agent):\n    {call}\n") == []


LOOPS = """
WAYS = ("approach", "aproach")
ONE = "filez"
def bench_x(agent, given):
    for key in ("resolved", "resloved"):
        observe(key, True)
    for key, value in [("files", 1), ("file", 2)]:
        observe(key, value)
    for key in {"ratio": 1, "ration": 2}:
        observe(key, 0.5)
    for key, value in {"note": "x", "notes": "y"}.items():
        observe(key, value)
    [observe(way, "patch") for way in WAYS]
    observe(ONE, 1)
    for end in ("es", "ez"):
        observe(f"fil{end}", 1)
    for key in ("files", "resolved"):
        observe(key, "three")
"""


def test_ids_are_seen_in_loops_over_literals_and_in_what_they_are_put_into() -> None:
    told = [(int(line.split(":")[1]), line.split(": ", 1)[1]) for line in faults(LOOPS)]
    assert [(line, sentence.split("'")[1]) for line, sentence in told if "declares no measure" in sentence] == [
        (7, "resloved"), (9, "file"), (11, "ration"), (13, "notes"), (14, "aproach"), (15, "filez"), (17, "filez"),
    ]  # fmt: skip
    assert [sentence.split("'")[1] for line, sentence in told if line == 19] == ["files", "resolved"]


@pytest.mark.parametrize(
    "scenario",
    [
        'observe(f"re{given}", 1)',
        "observe(given, 1)",
        'for key in ("resolved",):\n        key = given\n        observe(key, 1)',
        "for key in given:\n        observe(key, 1)",
        'for key, value in [("nope", 1), given]:\n        observe(key, value)',
    ],
)
def test_an_id_that_only_a_trial_knows_is_warned_of_and_not_refused(scenario: str) -> None:
    source = f"{HEAD}def bench_x(agent, given):\n    {scenario}\n"
    assert check_source(source.encode(), Path("bench_x.py"), MEASURES, []) == []
    (said,) = unknown_ids(source.encode(), Path("bench_x.py"))
    assert "is known only when a trial runs; a typo in it would be stored as invalid." in said
    assert unknown_ids((HEAD + LOOPS).encode(), Path("bench_x.py")) == []


def test_the_verbs_are_known_under_other_names() -> None:
    renamed = "from runner import observe as record\nimport runner as r\n"
    source = 'record("nope", 1)\nr.observe("nope", 1)\nr.bench.axis("nope")\nobserve("nope", 1)\n'
    assert [message.split(": ")[0] for message in faults(source, renamed)] == [f"bench_x.py:{n}" for n in (3, 4, 5)]


def test_an_assert_after_the_request_is_refused_and_one_before_it_is_a_guard() -> None:
    source = """
def bench_x(workspace, agent):
    assert workspace.exists("a")
    agent.request("Do it.")
    if True:
        assert workspace.exists("b")

def bench_y(workspace):
    assert True
"""
    (message,) = faults(source)
    assert message.startswith("bench_x.py:7: A bare assert after agent.request")
    assert "observe(...)" in message


def test_a_scenario_that_another_of_its_name_would_replace_is_refused() -> None:
    source = "\n".join(["def bench_x(agent): ...", "def helper(): ...", "def helper(): ...", "def bench_x(agent): ..."])
    (message,) = faults(source)
    assert message == "bench_x.py:5: bench_x is here a second time (first in line 2); rename one of the two."


def test_a_scenario_in_a_class_where_none_is_found_is_refused_and_a_helper_there_is_not() -> None:
    held = "class Cases:\n    def bench_fix(self, workspace, agent): ...\n    def bench_of(self, name): ...\n"
    assert faults(held) == ["bench_x.py:3: bench_fix stands in the class Cases; write it as a function of the file."]


def test_a_fixture_that_is_not_there_is_refused_unless_the_scenario_asks_for_it(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "a.md").write_text("a")
    source = (
        HEAD
        + """
def bench_x(agent):
    (bench.fixtures / "there" / "a.md").read_text()
    (bench.fixtures / "there" / "b.md").read_text()
    (bench.fixtures / agent.name / "c.md").read_text()
    if (bench.fixtures / "d.md").exists() or (e := bench.fixtures / "e.md").is_file():
        return
    f = bench.fixtures / "f.md"
    f.read_text() if f.exists() else 1 / 2
"""
    )
    (error,) = unseen_fixtures(source.encode(), Path("bench_x.py"), tmp_path)
    assert str(error) == "bench_x.py:5: There is no fixtures/there/b.md in the bench, and this scenario reads it."


def test_all_faults_are_told_at_once_with_the_authors_paths(tmp_path: Path) -> None:
    files = {"tests/bench_a.py": HEAD + 'observe("x", 1)\n', "tests/deep/helper.py": HEAD + 'observe("y", 1)\n'}
    write_files(tmp_path / "sealed", {**files, "tests/broken.py": "def\n"})
    with pytest.raises(BenchErrors) as caught:
        check_sources(tmp_path / "sealed", MEASURES, (), shown_root=tmp_path / "mine")
    assert [(error.file, error.line) for error in caught.value.errors] == [
        (tmp_path / "mine/tests/bench_a.py", 2), (tmp_path / "mine/tests/deep/helper.py", 2),
    ]  # fmt: skip
