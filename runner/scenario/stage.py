"""A trial's world and environment, and the frozen record of what the agent did to that world."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.environments.base import WORKSPACE, Session
from runner.errors import RunnerError
from runner.reaching import Roots
from runner.worlds.aside import touched
from runner.worlds.baseline import Baseline
from runner.worlds.capture import ChangeSet, capture, capture_and_advance
from runner.worlds.changes import Side
from runner.worlds.patch import git_patch
from runner.worlds.places import OUT, WORLD, Place
from runner.worlds.suite import SuiteRun, run_suite

from .commands import Execution, execute
from .composing import compose

if TYPE_CHECKING:
    from .live import LiveTrial


@dataclass(frozen=True)
class Frozen:
    """The blobs of two change records: all the agent did so far, and what its last request did."""

    changes: str
    delta: str
    ignored: tuple[str, ...] = ()
    """What the request touched of that which the capture ignores."""


class Stage:
    """`touch` is called before anything of ours may write to the world: what follows is not the agent's."""

    def __init__(self, trial: LiveTrial, place: Place, baseline: Baseline, session: Session) -> None:
        self.trial, self.place, self._session = trial, place, session
        self._base, self.began = baseline, baseline.clock
        """`began`: the file system's time when the agent's work could begin."""
        self._world = place.at(WORLD)
        self._repository = _is_repository(self._world)
        self._record: ChangeSet | None = None
        self._earlier: ChangeSet | None = None
        self._left: Baseline | None = None
        self._touched = False
        self._suites = 0
        self._closed = ""
        self.on_close: Callable[[], None] = lambda: None
        """Called before the environment ends, and after: then nothing runs there any more."""

    @property
    def session(self) -> Session:
        self.check_open("The environment")
        return self._session

    def check_open(self, verb: str) -> None:
        if self._closed:
            raise RuntimeError(f"{verb} cannot be used any more: {self._closed}.")

    def touch(self) -> None:
        self._touched = True

    def before_request(self) -> None:
        """The next changes count from the last record, or from here where something of ours wrote since."""
        for wall in self.trial.walls[:1] if self.trial.work is None else ():
            wall.close_up()
        if self._touched:
            setting = self.trial.setting
            self._base = (self._left or self._base).advanced(self._world, setting.blobs, setting.rules)
        elif self._left is not None:
            self._base = self._left
        self._earlier, self._touched = self._record, False

    def freeze(self) -> Frozen:
        """Take the record of what the agent has done, before anything of ours touches the world."""
        setting = self.trial.setting
        new, self._left = capture_and_advance(self._world, self._base, setting.blobs, setting.rules)
        delta = new.store(setting.blobs)
        self._record = new if self._earlier is None else compose(self._earlier, new, setting.blobs)
        digest = delta if self._earlier is None else self._record.store(setting.blobs)
        self.trial.emit("changes", stage="agent", blob=digest, counts=self._record.counts())
        return Frozen(digest, delta, touched(self._base.aside, self._left.aside, setting.rules))

    def adopt(self, record: ChangeSet, frozen: Frozen) -> None:
        """Take a record that was frozen in an earlier run for this trial's own: its changes have just been put back."""
        setting = self.trial.setting
        self._record, self._left = record, self._base.advanced(self._world, setting.blobs, setting.rules)
        self.trial.emit("changes", stage="agent", blob=frozen.changes, counts=record.counts())

    def unlike(self, changes: ChangeSet) -> list[str]:
        """Name the changed paths that are something else here than they were when those changes began."""
        return [change.path for change in changes.changes if not self._began_as(change.path, change.before)]

    def _began_as(self, path: str, before: Side | None) -> bool:
        state = self._base.states.get(path)
        if before is None or state is None or before.type == "dir":
            return before is None and (state is None or state.type == "dir")
        return (state.type, state.sha256, state.target) == (before.type, before.sha256, before.target)

    def record(self) -> ChangeSet:
        return self._record if self._record is not None else ChangeSet()

    def repository_gone(self) -> bool:
        """Was the world a git repository when the agent began, and is none any more?"""
        return self._repository and not _is_repository(self._world)

    def patch(self) -> bytes:
        return git_patch(self.record(), self.trial.setting.blobs)

    def run_suite(self, timeout: float) -> SuiteRun:
        self.touch()
        self._suites += 1
        out = f"{self.place.at(OUT)}/suite-{self._suites}.txt"
        try:
            done = run_suite(self.session, self.trial.setting.bench.suite, sys.executable, out, timeout)
        except (RunnerError, OSError) as error:
            raise self.trial.fail("environment", f"The environment failed while the suite ran: {error}") from error
        self.trial.limited(done.over)
        return done

    def command(self, name: str, argv: list[str], **how: Any) -> Execution:
        """Run a command of the bench in the agent's environment."""
        self.touch()
        return execute(self.trial, self.session, self.place.out, name, argv, **how)

    def roots(self, programs: tuple[Path, ...], hidden: tuple[Path, ...]) -> Roots:
        """Say what the agent may reach, as its own commands name it."""
        place = self.place
        folders = [self._session.host_to_inside(path) for path in (place.home, place.tmp, place.out)]
        inside = (*folders, WORKSPACE, *map(str, programs))
        return Roots(self._session.agent_path, inside, tuple(map(str, hidden)))

    def close(self, why: str) -> None:
        """End the environment, exactly once however often this is called."""
        if not self._closed:
            self._closed = why
            self.on_close()
            self.trial.end(self._session)
            self.on_close()

    def record_ours(self) -> None:
        """Record what was written after the agent's record was frozen, apart from it."""
        if self._left is None or not self._touched:
            return
        setting = self.trial.setting
        later = capture(self._world, self._left, setting.blobs, setting.rules)
        if later.changes:
            self.trial.emit("changes", stage="evaluation", blob=later.store(setting.blobs), counts=later.counts())


def _is_repository(world: str) -> bool:
    """Asked in each trial, so by what makes no exception of a file that is not there."""
    git = f"{world}/.git"
    return os.access(git, os.F_OK) and all(os.access(f"{git}/{name}", os.F_OK) for name in ("HEAD", "objects", "refs"))
