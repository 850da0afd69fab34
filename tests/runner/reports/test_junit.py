from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from runner.replay import read
from runner.reports.junit import Entry, entries_of, junit
from tests.make import make_run


def test_a_run_is_a_suite_a_cell_and_a_test_a_trial_and_nothing_unscored_fails(tmp_path: Path) -> None:
    result = read(make_run(tmp_path, scenarios=6, trials=3))
    root = ET.fromstring(junit("a", entries_of(result)))
    cases = root.findall("testsuite/testcase")
    assert [suite.get("name") for suite in root] == [cell.id for cell in result.manifest.cells]
    states = [(trial.state, (trial.final.outcome if trial.final else None) or "") for trial in result.trials]
    assert int(root.get("tests", 0)) == len(cases) == len(states)
    assert len(root.findall(".//failure")) == int(root.get("failures", 0)) == states.count(("scored", "unsolved"))
    errors = sum(state in ("run_error", "eval_error") for state, _ in states)
    assert len(root.findall(".//error")) == int(root.get("errors", 0)) == errors > 0
    skipped = sum(state not in ("scored", "run_error", "eval_error") for state, _ in states)
    assert len(root.findall(".//skipped")) == int(root.get("skipped", 0)) == skipped > 0


def test_an_error_says_its_fault_and_reason(tmp_path: Path) -> None:
    result = read(make_run(tmp_path, scenarios=6, trials=3))
    root = ET.fromstring(junit("a", entries_of(result)))
    told = {error.get("message"): error.text for error in root.findall(".//error")}
    failed = [trial for trial in result.trials if trial.state == "run_error"]
    assert {f"run_error: {trial.final.fault}" for trial in failed if trial.final} <= set(told)
    assert all(told.values())


@given(st.text(), st.text())
def test_whatever_stands_in_a_name_or_a_reason_the_file_is_read(name: str, reason: str) -> None:
    text = junit(name, [Entry(name, name, 1.5, "error", reason, reason, ((name, reason),)), Entry(name, "b", None)])
    root = ET.fromstring(text.encode())
    assert root.get("errors") == "1"
    assert len(root.findall(".//testcase")) == 2


def test_control_characters_are_shown_by_their_code() -> None:
    text = junit("a", [Entry("s", "n", kind="failure", message="\x1b[31mred\x00", detail="a\x08]]>b\ufffe")])
    failure = ET.fromstring(text).find(".//failure")
    assert failure is not None
    assert failure.get("message") == "\\x1b[31mred\\x00"
    assert failure.text == "a\\x08]]>b\\xfffe"
