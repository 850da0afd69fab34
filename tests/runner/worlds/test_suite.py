"""The workspace's suite runs inside the environment, leaves no trace, and a suite that cannot start is told apart."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from runner.environments import Session
from runner.environments.base import Needs
from runner.environments.local import ENVIRONMENT
from runner.errors import BenchError
from runner.worlds.places import Place
from runner.worlds.suite import run_suite, suite_argv


@pytest.fixture
def session(place: Place) -> Iterator[Session]:
    opened = ENVIRONMENT.open(place, Needs())
    yield opened
    opened.close()


def test_a_suite_passes_and_fails_and_leaves_no_caches(session: Session, place: Place) -> None:
    (place.world / "code.py").write_text("def two():\n    return 2\n")
    (place.world / "test_code.py").write_text("from code2 import two\n\ndef test_two():\n    assert two() == 2\n")
    (place.world / "code2.py").write_text("from code import two\n")
    (place.world / "code.py").rename(place.world / "numbers_.py")
    (place.world / "code2.py").write_text("from numbers_ import two\n")
    out = place.out / "suite.txt"
    done = run_suite(session, "{python} -m pytest -q", sys.executable, out, 60)
    assert (done.passed, done.exit_code, done.could_start, done.timed_out) == (True, 0, True, False), out.read_text()
    assert "1 passed" in out.read_text()
    (place.world / "numbers_.py").write_text("def two():\n    return 3\n")
    done = run_suite(session, "{python} -m pytest -q", sys.executable, out, 60)
    assert (done.passed, done.exit_code, done.could_start) == (False, 1, True)
    assert sorted(path.name for path in place.world.iterdir()) == ["code2.py", "numbers_.py", "test_code.py"]


def test_a_suite_that_hangs_is_stopped_with_its_children(session: Session, place: Place) -> None:
    done = run_suite(session, "sh -c 'sleep 100 & sleep 100'", sys.executable, place.out / "o", 0.3)
    assert (done.passed, done.timed_out, done.could_start) == (False, True, True)


@pytest.mark.parametrize("suite", ["no-such-runner", "/etc", "{python} -m no_such_module"])
def test_a_suite_that_cannot_start_is_no_failure(session: Session, place: Place, suite: str) -> None:
    done = run_suite(session, suite, sys.executable, place.out / "o", 30)
    assert (done.passed, done.could_start) == (False, False)


def test_pytests_usage_error_on_the_untouched_world_says_it_cannot_start(session: Session, place: Place) -> None:
    suite = "{python} -m pytest -q no_such_folder"
    assert run_suite(session, suite, sys.executable, place.out / "o", 30).could_start
    assert not run_suite(session, suite, sys.executable, place.out / "o", 30, untouched=True).could_start


def test_the_output_may_be_given_as_a_folder(session: Session, place: Place) -> None:
    done = run_suite(session, "echo hello", sys.executable, place.out, 30)
    assert done.output.read_text() == "hello\n"


def test_a_template_is_split_without_a_shell_and_filled_per_argument() -> None:
    assert suite_argv("'{python}' -c 'a b; $HOME'", "/opt/my python") == ("/opt/my python", "-c", "a b; $HOME")
    with pytest.raises(BenchError, match="declares no suite"):
        suite_argv(" ", "python")
    with pytest.raises(BenchError, match="cannot be split"):
        suite_argv("'", "python")
