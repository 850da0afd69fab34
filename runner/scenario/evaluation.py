"""Evaluation: collect what was declared, then grade. `none` closes the agent's environment first, `reuse` keeps it,
`fresh` closes it and opens another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from runner.collected import Collected
from runner.environments.base import Session
from runner.plans import FIXTURES, names_fixtures
from runner.worlds.copying import copy_world

from .carrying import carry, read_bounded
from .commands import OUTPUT_LIMIT, Execution
from .shelved import CollectedPath, shelf
from .stops import TrialFault

if TYPE_CHECKING:
    from runner.worlds.places import Place

    from .fresh import FreshStage
    from .live import LiveTrial
    from .stage import Stage

Entries = tuple[Collected, ...]
OpenFresh = Callable[[Entries], "FreshStage"]


class Ground(Protocol):
    """Where a verifier works: the agent's own stage, or a fresh one."""

    @property
    def session(self) -> Session: ...
    @property
    def place(self) -> Place: ...
    def touch(self) -> None: ...
    def command(self, name: str, argv: list[str], **how: Any) -> Execution: ...


class EvaluationEnvironment:
    """The environment the verifier works in. Paths are the environment's own; `fixtures` is where it sees them."""

    def __init__(self, trial: LiveTrial, ground: Ground, fixtures: str) -> None:
        self._trial, self._ground, self._fixtures, self._number = trial, ground, fixtures, 0

    @property
    def workspace(self) -> str:
        return self._ground.session.agent_path

    @property
    def fixtures(self) -> str:
        if self._fixtures and self._trial.fixtures.is_dir():
            return self._fixtures
        if not self._fixtures:
            raise RuntimeError(
                "The fixtures are not shown here: processes that the agent left, or code it submitted, could read "
                "them. Declare fixtures=True in the mark, or read them with bench.fixtures."
            )
        raise RuntimeError("The bench has no folder fixtures/.")

    def exec(
        self,
        argv: Sequence[str],
        *,
        timeout: float = 600,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        stdin: str | bytes | None = None,
    ) -> Execution:
        if isinstance(argv, str):
            raise TypeError("exec takes a list of arguments; for a shell write ['sh', '-c', command].")
        if any(names_fixtures(str(word)) for word in argv) and self.fixtures != FIXTURES:
            raise RuntimeError(f"There is no {FIXTURES} in this environment; write env.fixtures, which says where.")
        self._number += 1
        limit = self._trial.remaining(timeout)
        return self._ground.command(f"exec-{self._number}", [*argv], timeout=limit, env=env, cwd=cwd, stdin=stdin)

    def read(self, path: str) -> str:
        """Give the text of a file, by its path in the environment; FileNotFoundError where there is none."""
        got = self._ground.place.root / f"read-{self._number}"
        lies = self._ground.session.get(path, got, OUTPUT_LIMIT)
        return read_bounded(lies, OUTPUT_LIMIT, path).decode("utf-8", "surrogateescape")

    def put(self, source: Path | str, path: str) -> None:
        """Put a file or folder of the bench at a path of the environment; what stood there is replaced."""
        self._ground.touch()
        self._ground.session.put(Path(source), path)


class Evaluation:
    """Called once, as `with evaluation() as env:`; None in mode none."""

    def __init__(
        self,
        trial: LiveTrial,
        stage: Stage,
        plan: Mapping[str, Any],
        open_fresh: OpenFresh,
        set_checkpoint: Callable[[Entries], str | None],
    ) -> None:
        self._trial, self._stage, self._plan, self._open_fresh = trial, stage, plan, open_fresh
        self._set_checkpoint = set_checkpoint
        self.entered = False
        self._artifacts: dict[str, CollectedPath] | None = None

    @property
    def mode(self) -> str:
        return str(self._plan.get("mode", "reuse"))

    @property
    def left_out(self) -> bool:
        """Was it never entered, though the plan promises what only it can do?"""
        return not self.entered and (self.mode != "reuse" or bool(self._plan.get("artifacts")))

    @property
    def artifacts(self) -> Mapping[str, CollectedPath]:
        """What was collected, by declared path. A declared path that was not there is not in it."""
        if self._artifacts is None:
            raise RuntimeError("evaluation.artifacts is there once `with evaluation()` was entered.")
        return self._artifacts

    @contextmanager
    def __call__(self) -> Iterator[EvaluationEnvironment | None]:
        if self.entered:
            raise RuntimeError("evaluation() can be entered once per trial.")
        entries = self._begin()
        opened = {"none": self._in_none, "reuse": self._in_reuse, "fresh": self._in_fresh}[self.mode]
        with opened(entries) as env:
            yield env

    def secure(self) -> None:
        """Leave the checkpoint of a trial that failed between the agent's last request and this evaluation, so that it
        too can be graded again without the agent. What cannot be collected leaves none."""
        if not self.entered and self.mode != "reuse":
            with suppress(TrialFault):
                self._begin()

    def _begin(self) -> Entries:
        self.entered = True
        self._trial.enter("collect")
        entries = self._taken_up() if self._trial.checkpoint else self._collected()
        self._artifacts = shelf(entries, self._trial.setting.blobs)
        if (checkpoint := self._set_checkpoint(entries)) is not None:
            self._trial.emit("checkpoint", blob=checkpoint)
        return entries

    @contextmanager
    def _in_none(self, entries: Entries) -> Iterator[None]:
        self._stage.close("in evaluation mode none the agent's environment is closed before grading")
        self._trial.enter("evaluation")
        yield None

    @contextmanager
    def _in_reuse(self, entries: Entries) -> Iterator[EvaluationEnvironment]:
        try:
            fixtures = self._shown_fixtures()
            self._trial.enter("evaluation")
            yield EvaluationEnvironment(self._trial, self._stage, fixtures)
        finally:
            self._stage.close("the evaluation has closed the environment")

    @contextmanager
    def _in_fresh(self, entries: Entries) -> Iterator[EvaluationEnvironment]:
        self._stage.close("in evaluation mode fresh the agent's environment is closed before grading")
        fresh = self._open_fresh(entries)
        try:
            self._trial.enter("evaluation")
            yield EvaluationEnvironment(self._trial, fresh, FIXTURES if self._plan["fixtures"] == "mounted" else "")
        finally:
            fresh.close("the evaluation has closed the environment")

    def _shown_fixtures(self) -> str:
        """Where the scenario declares it, the fixtures appear in the agent's environment now that it has ended."""
        sealed = self._trial.fixtures
        if self._plan.get("fixtures") != "declared" or not sealed.is_dir():
            return ""
        if self._plan.get("isolation") == "none":
            return str(sealed)
        copy_world(sealed, self._stage.place.root / "fixtures")
        return FIXTURES

    def _collected(self) -> Entries:
        """Run the commands, then carry the paths out. After a command that failed they are carried as evidence."""
        failed = self._failed_command()
        if not self._plan.get("artifacts"):
            if failed is not None:
                raise failed
            return ()
        self._stage.touch()
        entries = carry(self._trial, self._stage, self._plan)
        self._trial.emit("collected", entries=[entry.to_json() for entry in entries])
        if failed is not None:
            raise failed
        self._refuse_half(entries)
        return entries

    def _taken_up(self) -> Entries:
        """An evaluation that is repeated starts from what was collected then; nothing is collected again."""
        assert self._trial.checkpoint is not None
        entries = self._trial.checkpoint.collected
        if entries:
            self._trial.emit("collected", entries=[entry.to_json() for entry in entries])
        return entries

    def _refuse_half(self, entries: Entries) -> None:
        for entry in entries:
            if entry.status == "failed":
                said = f"The declared path {entry.path} could not be carried out: {entry.reason}."
                raise self._trial.fail("transport", said)

    def _failed_command(self) -> TrialFault | None:
        for number, row in enumerate(self._plan.get("collect", ()), 1):
            name, timeout = f"collect-{number}", float(row.get("timeout", 60))
            done = self._stage.command(name, ["sh", "-c", row["command"]], timeout=self._trial.remaining(timeout))
            if done.exit_code == 0 and not done.timed_out:
                continue
            self._trial.check_wall()
            self._diagnose(name, done)
            how = f"ran longer than {timeout:g} s" if done.timed_out else f"ended with exit code {done.exit_code}"
            tail = (done.stderr or done.stdout)[-4000:]
            return self._trial.fail("collect", f"The collect command {row['command']!r} {how}.", tail)
        return None

    def _diagnose(self, name: str, done: Execution) -> None:
        text = f"{done.stdout}\n{done.stderr}".strip()
        if text:
            data = text.encode("utf-8", "surrogateescape")
            self._trial.attach(f"{name}.log", data, media="text/plain; charset=utf-8", kind="log")
