"""The verbs: `expect` guards the experiment, `observe` records the result, `bench` knows the trial."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, overload

from .asking import Judgement, ask_judge
from .current import current
from .matchers import ValueMatchers, WorkspaceMatchers
from .workspace import WorkspaceHandle


@overload
def expect(subject: WorkspaceHandle) -> WorkspaceMatchers: ...
@overload
def expect(subject: Any) -> ValueMatchers: ...
def expect(subject: Any) -> WorkspaceMatchers | ValueMatchers:
    """Guard the experiment: a failing matcher excludes the trial, it never scores it."""
    trial = current("expect")
    if isinstance(subject, WorkspaceHandle):
        return WorkspaceMatchers(trial, subject)
    return ValueMatchers(trial, subject)


def observe(measure: str, value: Any) -> None:
    """Record how the subject did. Never raises and never halts; a value that does not fit is kept as invalid."""
    current("observe").observe(measure, value)


class BenchHandle:
    """What a scenario may know of the bench and of the cell it runs in."""

    def attach(self, name: str, content: str | bytes | Path, *, media: str = "", kind: str = "") -> None:
        """Keep evidence with the trial: text, bytes, or the path of a file."""
        if isinstance(content, str):
            content = content.encode("utf-8", "surrogateescape")
        elif not isinstance(content, bytes):
            content = Path(os.fspath(content)).read_bytes()
        current("bench.attach").attach(name, content, media=media, kind=kind)

    def axis(self, name: str) -> Any:
        """Give this cell's value of an axis, for labels; scenarios must not behave differently per cell."""
        axes = current("bench.axis").axes
        if name not in axes:
            known = ", ".join(sorted(axes)) or "none"
            raise KeyError(f"There is no axis {name!r} in the matrix; its axes are: {known}.")
        return axes[name]

    def judge(self, prompt: str) -> Judgement:
        """Ask the bench's judge. What it spends is kept apart; a judge that fails is an error, never a low score."""
        return ask_judge(current("bench.judge"), prompt)

    @property
    def fixtures(self) -> Path:
        """The sealed copy of fixtures/: read it in setup and scenarios, it is never in the agent's environment."""
        return current("bench.fixtures").fixtures


bench = BenchHandle()
