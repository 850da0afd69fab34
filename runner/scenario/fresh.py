"""The clean place of mode `fresh`: a new world of template and setup, the fixtures, nothing of the agent's."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner import keeper
from runner.agents.base import interpreter
from runner.collected import Collected
from runner.environments.base import Needs, Session
from runner.errors import RunnerError
from runner.surroundings import needs_of
from runner.worlds.places import Place

from .commands import Execution, execute
from .live import trace_of
from .preparing import commit, fresh_place, make_world
from .restoring import restore

if TYPE_CHECKING:
    from .live import LiveTrial
    from .warm import Subject, Warm


class FreshStage:
    """An environment of the verifier's own."""

    def __init__(self, trial: LiveTrial, place: Place, session: Session) -> None:
        self.place, self._session = place, session
        self._run, self._end = partial(execute, trial), trial.end
        self._closed = ""

    @property
    def session(self) -> Session:
        if self._closed:
            raise RuntimeError(f"The environment cannot be used any more: {self._closed}.")
        return self._session

    def touch(self) -> None:
        """Nothing here is the agent's."""

    def command(self, name: str, argv: list[str], **how: Any) -> Execution:
        return self._run(self.session, self.place.out, name, argv, **how)

    def close(self, why: str) -> None:
        if not self._closed:
            self._closed = why
            self._end(self._session)


def open_fresh(warm: Warm, subject: Subject, trial: LiveTrial, root: str, entries: tuple[Collected, ...]) -> FreshStage:
    """Make the new world, open its environment, and put the collected paths there; a fault of it ends the trial."""
    place = fresh_place(trial, root)
    try:
        make_world(warm, trial, place, again=True)
        _set_up(warm, subject, trial, place.world)
        needs = _needs(warm, subject, trial.setting.plan)
        session = warm.environment.open(place, replace(needs, wall=trial.wall_of(place)))
    except (RunnerError, OSError) as error:
        trial.check_disk(error)
        raise trial.fail("environment", f"The fresh environment for the evaluation failed: {error}") from error
    stage = FreshStage(trial, place, session)
    try:
        restore(entries, session, trial.setting.blobs, Path(root, "restored"))
    except (RunnerError, OSError) as error:
        stage.close("what was collected could not be restored")
        raise trial.fail("transport", f"What was collected could not be restored: {error}.") from error
    return stage


def _set_up(warm: Warm, subject: Subject, trial: LiveTrial, world: Path) -> None:
    try:
        if warm.bench.setup is not None:
            warm.bench.setup(world, dict(subject.axes))
    except Exception as error:
        said = f"The bench's setup raised for the fresh world: {type(error).__name__}: {error}"
        raise trial.fail("evaluation", said, trace_of(error)) from error
    finally:
        keeper.end_all(os.getpid())
    if warm.bench.workspace is not None and warm.bench.workspace.git:
        commit(trial, world)


def _needs(warm: Warm, subject: Subject, plan: Mapping[str, Any]) -> Needs:
    """No program of the agent, and no way to its model; the fixtures instead."""
    needs = needs_of(subject.needs, plan, "evaluation")
    fixtures = warm.sealed.fixtures if plan["fixtures"] == "mounted" else None
    return replace(needs, programs=interpreter(), fixtures=fixtures)
