"""What `expect` can ask. Each matcher has its opposite under `not_`."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, Self

from .live import LiveTrial
from .stops import GuardFailed
from .workspace import WorkspaceHandle

HERE = str(Path(__file__).parent)


class Matchers:
    def __init__(self, trial: LiveTrial, subject: Any, negated: bool = False) -> None:
        self._trial, self._subject, self._negated = trial, subject, negated

    @property
    def not_(self) -> Self:
        return type(self)(self._trial, self._subject, not self._negated)

    def _hold(self, held: bool, wanted: str, found: str = "") -> None:
        __tracebackhide__ = True
        if held is not self._negated:
            return
        sentence = f"Expected {'not ' if self._negated else ''}{wanted}{f', {found}' if found else ''}."
        self._trial.guard(sentence, _caller())
        raise GuardFailed(sentence)


class WorkspaceMatchers(Matchers):
    _subject: WorkspaceHandle

    def to_have_file(self, path: str) -> None:
        self._hold(self._subject.has_file(path), f"the workspace to have the file {path!r}")

    def to_pass_tests(self, timeout: float | None = None) -> None:
        run = self._subject.tests.run(timeout=timeout)
        found = "it timed out" if run.timed_out else f"it ended with exit code {run.exit_code}"
        self._hold(run.passed, "the workspace's suite to pass", found)

    def to_have_changed_only(self, paths: Sequence[str]) -> None:
        """An empty list means that no change is allowed. A folder is not a path here: name every file."""
        if isinstance(paths, str):
            raise TypeError("to_have_changed_only takes a list of paths, not one text.")
        others = sorted(set(self._subject.changed()) - set(paths))
        shown = ", ".join(others[:5]) + (" …" if len(others) > 5 else "")
        self._hold(not others, f"changes only in {list(paths)}", f"found changes in {shown}" if others else "")


class ValueMatchers(Matchers):
    def to_equal(self, other: Any) -> None:
        self._hold(bool(self._subject == other), f"{self._subject!r:.200} to equal {other!r:.200}")

    def to_be_truthy(self) -> None:
        self._hold(bool(self._subject), f"{self._subject!r:.200} to be truthy")

    def to_contain(self, item: Any) -> None:
        self._hold(_contains(self._subject, item), f"{self._subject!r:.200} to contain {item!r:.200}")


def _contains(subject: Collection[Any], item: Any) -> bool:
    return item in subject


def _caller() -> str:
    """Give file:line of the scenario's own line that asked."""
    frame = sys._getframe(1)
    while frame.f_back and frame.f_code.co_filename.startswith(HERE):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"
