"""An agent that was asked before: each request puts back what it changed then, and gives the reply it gave."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

from runner.digests import sha256
from runner.errors import RunnerError
from runner.faults import SUBJECT_FLAGS
from runner.paths import to_json
from runner.records import Request
from runner.transcript import Step, read_steps
from runner.worlds.applying import apply, finder, sources_of
from runner.worlds.aside import bring_back, told
from runner.worlds.changes import ChangeSet

from .agent import AgentHandle, Reply
from .stage import Frozen

if TYPE_CHECKING:
    from runner.agents import Resolved
    from runner.recorded import Work

    from .live import LiveTrial
    from .stage import Stage

SHOWN = 10
CODE = "regrade"
REMEDY = (
    'Keep worlds (retain="always"), or have the capture record them (Capture: a larger max_bytes, a shorter ignore), '
    "to grade such trials again."
)


class RecordedAgent(AgentHandle):
    """Starts no program and costs nothing. What cannot be put back as it was ends the trial, naming it."""

    def __init__(self, trial: LiveTrial, stage: Stage, resolved: Resolved, work: Work) -> None:
        super().__init__(trial, stage, resolved)
        self._work = work
        self._find = finder(trial.setting.blobs, work.kept)

    def request(self, prompt: str, timeout: float | None = None) -> Reply:
        trial = self._trial
        self._begin(prompt)
        row = self._recorded(prompt)
        try:
            self._put_back(row)
            steps = self._steps(row)
            text = self._text(row.text)
        except (RunnerError, OSError, ValueError, KeyError) as error:
            raise trial.fail(CODE, f"What request {row.number} left cannot be read: {error}") from error
        self._tell(row)
        trial.heard[row.number] = steps
        for flag in self._work.attempt.flags:
            if flag in SUBJECT_FLAGS:
                trial.flag(flag)
        self._end()
        return Reply(text, row.exit_code, row.timed_out, row.usage, tuple(steps), row.seconds)

    def _recorded(self, prompt: str) -> Request:
        """Find the request by its number and the digest of its prompt: a reply to another question is no reply."""
        number, run = self._trial.asked, self._work.run
        asked = self._trial.redactor.text(prompt)
        requests = self._work.attempt.requests
        if number > len(requests):
            raise self._trial.fail(CODE, f"Request {number} was never asked in the run {run}: {_short(asked)}")
        row = requests[number - 1]
        if sha256(asked.encode("utf-8", "surrogatepass")) != row.prompt:
            said = f"Request {number} asks something else than in the run {run}: {_short(asked)}"
            raise self._trial.fail(CODE, f"{said}, not {_short(self._text(row.prompt))}")
        return row

    def _put_back(self, row: Request) -> None:
        """Lay the request's own changes over the world; the record of the whole stays the one that was taken then."""
        delta, whole = self._changes(row.delta), self._changes(row.changes)
        if foreign := self._stage.unlike(delta):
            raise self._trial.fail(
                CODE, f"The world is not the one that the agent worked in; these differ: {_listed(foreign)}"
            )
        sources, lost = sources_of(delta, self._find)
        self._check_whole([*lost, *self._left_out(row)])
        apply(self._stage.place.world, delta, sources)
        if self._work.kept and row.number == len(self._work.attempt.requests):  # it is as it was after the last one
            bring_back(self._work.attempt.ignored, self._work.kept, self._stage.place.world)
        assert row.changes is not None
        assert row.delta is not None
        self._stage.adopt(whole, Frozen(row.changes, row.delta))

    def _left_out(self, row: Request) -> list[str]:
        """Name what the agent touched and no record holds. A kept world has it. An evaluation that is repeated has what
        was collected: there it is a warning."""
        lost = [] if self._work.kept else told(row.ignored)
        if lost and not self._trial.setting.manifest.regraded:
            self._trial.issue("warning", CODE, f"What the agent touched is not put back: {_listed(lost)}")
            return []
        return lost

    def _check_whole(self, lost: list[str]) -> None:
        """A part of what an agent did may not be graded for the whole."""
        if lost:
            kept = "not even from the workspace that was kept" if self._work.kept else "and its workspace was not kept"
            raise self._trial.fail(CODE, f"The end state cannot be rebuilt, {kept}: {_listed(lost)} {REMEDY}")

    def _changes(self, digest: str | None) -> ChangeSet:
        if digest is None:
            raise RunnerError("its change record was not kept; it is of an older version of the runner.")
        return ChangeSet.from_json(json.loads(self._trial.setting.blobs.read(digest)))

    def _steps(self, row: Request) -> list[Step]:
        return list(read_steps(io.BytesIO(self._trial.setting.blobs.read(row.transcript)))) if row.transcript else []

    def _text(self, digest: str | None) -> str:
        return self._trial.setting.blobs.read(digest).decode("utf-8", "surrogatepass") if digest else ""

    def _tell(self, row: Request) -> None:
        """Journal the request as it was then; that it is a repetition is said, so that nobody pays for it twice."""
        self._trial.emit(
            "request", number=row.number, prompt=row.prompt, text=row.text, exit_code=row.exit_code,
            timed_out=row.timed_out, seconds=row.seconds, usage=row.usage.to_json(), transcript=row.transcript,
            output=row.output, changes=row.changes, delta=row.delta, ignored=[*map(to_json, row.ignored)], session=None,
            replayed=True, models=list(row.models),
        )  # fmt: skip


def _short(text: str) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= 200 else f"{line[:200]}…")


def _listed(names: list[str]) -> str:
    more = f", and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more + "."
