from __future__ import annotations

from collections.abc import Callable

import pytest

from runner.definition import Cli
from runner.errors import BenchError

from .asking import Desk

Make = Callable[..., Desk]
PATCH = """--- a/calc.py
+++ b/calc.py
@@ -1,2 +1,2 @@
 def add(a, b):
-    return a - b
+    return a + b
"""


def _write(desk: Desk, path: str, text: str) -> None:
    target = desk.bench / "fixtures" / "solution" / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)


def test_noop_changes_nothing_and_says_nothing(desk: Make) -> None:
    one = desk(Cli("noop"))
    reading, done = one.request()
    assert (done.exit_code, reading.text, reading.fault, list(one.world.iterdir())) == (0, "", None, [])


def test_the_oracle_copies_a_folder_over_the_world_with_its_modes(desk: Make) -> None:
    one = desk(Cli("oracle"))
    _write(one, "fix_bug/src/calc.py", "right\n")
    (one.bench / "fixtures/solution/fix_bug/src/calc.py").chmod(0o555)
    reading, done = one.request()
    assert (done.exit_code, reading.fault) == (0, None)
    assert (one.world / "src" / "calc.py").read_text() == "right\n"
    assert (one.world / "src" / "calc.py").stat().st_mode & 0o777 == 0o755


def test_the_oracle_applies_a_patch(desk: Make) -> None:
    one = desk(Cli("oracle"))
    (one.world / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    _write(one, "fix_bug.patch", PATCH)
    assert one.request()[1].exit_code == 0
    assert (one.world / "calc.py").read_text() == "def add(a, b):\n    return a + b\n"


def test_a_patch_that_does_not_apply_is_told_in_the_transcript(desk: Make) -> None:
    one = desk(Cli("oracle"))
    (one.world / "calc.py").write_text("something else\n")
    _write(one, "fix_bug.patch", PATCH)
    reading, done = one.request()
    assert done.exit_code == 1
    assert "does not apply" in reading.steps[-1].text


def test_a_case_may_have_a_solution_of_its_own(desk: Make) -> None:
    one = desk(Cli("oracle"), case="two", scenario="sums")
    _write(one, "sums.txt", "in general\n")
    _write(one, "sums@two.txt", "4\n")
    assert one.request()[0].text == "4"


def test_only_the_first_request_is_answered_with_the_solution(desk: Make) -> None:
    one = desk(Cli("oracle"))
    _write(one, "fix_bug/a.txt", "a")
    one.request()
    (one.world / "a.txt").unlink()
    assert one.request()[1].exit_code == 0
    assert not (one.world / "a.txt").exists()


def test_a_scenario_without_a_solution_is_named(desk: Make) -> None:
    with pytest.raises(BenchError, match=r"no solution for the scenario 'fix_bug'.*fixtures/solution/fix_bug\.patch"):
        desk(Cli("oracle")).request()
