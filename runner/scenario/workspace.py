"""The scenario's view of the world: the agent's frozen change record, and the live files beside it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from runner.errors import PathRefused
from runner.paths import join_within

if TYPE_CHECKING:
    from runner.worlds.capture import Change
    from runner.worlds.suite import SuiteRun

    from .live import LiveTrial
    from .stage import Stage


class Suite:
    """The workspace's own test suite, run inside the trial's environment."""

    def __init__(self, trial: LiveTrial, stage: Stage) -> None:
        self._trial, self._stage = trial, stage

    def passed(self, timeout: float | None = None) -> bool:
        """Tell whether the suite passes. One that hangs does not; one that cannot start ends the trial as an error."""
        return self.run(timeout=timeout).passed

    def run(self, timeout: float | None = None) -> SuiteRun:
        limit = self._trial.setting.bench.timeouts.suite if timeout is None else timeout
        done = self._stage.run_suite(self._trial.remaining(limit))
        if done.timed_out:
            self._trial.check_wall()
            self._trial.flag("suite_timeout")
        if not done.could_start:
            raise self._trial.fail("suite", *_no_start(done))
        return done


class WorkspaceHandle:
    def __init__(self, trial: LiveTrial, stage: Stage) -> None:
        self._trial, self._stage = trial, stage
        self._suite = Suite(trial, stage)

    @property
    def path(self) -> Path:
        """The world's folder on the host."""
        self._stage.check_open("workspace.path")
        self._stage.touch()  # whoever has the path may write
        return self._stage.place.world

    @property
    def agent_path(self) -> str:
        """The world as the agent sees it."""
        self._stage.check_open("workspace.agent_path")
        return self._stage.session.agent_path

    @property
    def tests(self) -> Suite:
        self._stage.check_open("workspace.tests")
        return self._suite

    def read(self, path: str) -> str:
        """Give a file's text as it is now; bytes that are not UTF-8 come as surrogate escapes."""
        return self.read_bytes(path).decode("utf-8", "surrogateescape")

    def read_bytes(self, path: str) -> bytes:
        self._stage.check_open("workspace.read")
        return self._within(path).read_bytes()

    def exists(self, path: str) -> bool:
        self._stage.check_open("workspace.exists")
        return os.path.lexists(self._within(path))

    def has_file(self, path: str) -> bool:
        """Ask for a regular file, for the matcher: a path that leads out is no file of the world."""
        self._stage.check_open("expect(workspace)")
        try:
            found = self._within(path)
        except PathRefused:
            return False
        return found.is_file()

    def changed(self) -> list[str]:
        """Give the paths the agent changed, sorted, as they stood when its last request returned."""
        return self._stage.record().paths()

    def changes(self) -> tuple[Change, ...]:
        return self._stage.record().changes

    def diff(self) -> str:
        """Give a patch that `git apply` takes; bytes that are not UTF-8 come as surrogate escapes."""
        return self._stage.patch().decode("utf-8", "surrogateescape")

    def _within(self, path: str) -> Path:
        return join_within(self._stage.place.world, os.fspath(path))


def _no_start(done: SuiteRun) -> tuple[str, str]:
    try:
        output = done.output.read_bytes()[-4000:].decode(errors="replace")
    except OSError:
        output = ""
    return f"The workspace's test suite could not start (exit code {done.exit_code}).", output
