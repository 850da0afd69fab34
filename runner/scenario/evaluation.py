"""Evaluation: collect what was declared, then grade. `none` closes the agent's environment first, `reuse` keeps it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from runner.errors import RunnerError

from .carrying import CollectedPath, TooMuch, carry

if TYPE_CHECKING:
    from .live import LiveTrial
    from .stage import Stage

OUTPUT_LIMIT = 8 << 20


@dataclass(frozen=True)
class Execution:
    """How a command of the verifier ended. Output beyond 8 MiB a stream is left out."""

    exit_code: int | None
    timed_out: bool
    stdout: str
    stderr: str
    seconds: float


class EvaluationEnvironment:
    """The environment the verifier works in. Paths are the environment's own."""

    def __init__(self, trial: LiveTrial, stage: Stage) -> None:
        self._trial, self._stage, self._number = trial, stage, 0

    @property
    def workspace(self) -> str:
        return self._stage.session.agent_path

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
        self._number += 1
        return self._stage.command(
            f"exec-{self._number}", [*argv], timeout=self._trial.remaining(timeout), env=env, cwd=cwd, stdin=stdin
        )


class Evaluation:
    """Called once, as `with evaluation() as env:`; None in mode none."""

    def __init__(self, trial: LiveTrial, stage: Stage, plan: Mapping[str, Any]) -> None:
        self._trial, self._stage, self._plan = trial, stage, plan
        self._entered = False
        self._artifacts: dict[str, CollectedPath] | None = None

    @property
    def mode(self) -> str:
        return str(self._plan.get("mode", "reuse"))

    @property
    def artifacts(self) -> Mapping[str, CollectedPath]:
        """What was collected, by declared path. A declared path that was not there is not in it."""
        if self._artifacts is None:
            raise RuntimeError("evaluation.artifacts is there once `with evaluation()` was entered.")
        return self._artifacts

    @contextmanager
    def __call__(self) -> Iterator[EvaluationEnvironment | None]:
        if self._entered:
            raise RuntimeError("evaluation() can be entered once per trial.")
        self._entered = True
        trial, stage = self._trial, self._stage
        trial.enter("collect")
        self._collect()
        self._artifacts = self._carry()
        trial.enter("evaluation")
        if self.mode == "fresh":
            raise trial.fail("environment", "This version cannot evaluate in mode 'fresh'; use reuse or none.")
        if self.mode == "none":
            stage.close("in evaluation mode none the agent's environment is closed before grading")
            yield None
            return
        try:
            yield EvaluationEnvironment(trial, stage)
        finally:
            stage.close("the evaluation has closed the environment")

    def _collect(self) -> None:
        for number, row in enumerate(self._plan.get("collect", ()), 1):
            name, timeout = f"collect-{number}", float(row.get("timeout", 60))
            done = self._stage.command(name, ["sh", "-c", row["command"]], timeout=self._trial.remaining(timeout))
            if done.exit_code == 0 and not done.timed_out:
                continue
            self._trial.check_wall()
            self._diagnose(name, done)
            how = f"ran longer than {timeout:g} s" if done.timed_out else f"ended with exit code {done.exit_code}"
            tail = (done.stderr or done.stdout)[-4000:]
            raise self._trial.fail("collect", f"The collect command {row['command']!r} {how}.", tail)

    def _diagnose(self, name: str, done: Execution) -> None:
        text = f"{done.stdout}\n{done.stderr}".strip()
        if text:
            data = text.encode("utf-8", "surrogateescape")
            self._trial.attach(f"{name}.log", data, media="text/plain; charset=utf-8", kind="log")

    def _carry(self) -> dict[str, CollectedPath]:
        paths, limits = self._plan.get("artifacts", ()), self._plan.get("limits", {})
        if not paths:
            return {}
        self._stage.touch()
        try:
            return carry(self._trial, self._stage.places(), paths, limits)
        except (TooMuch, OSError, RunnerError) as error:
            raise self._trial.fail("transport", f"The declared paths could not be carried out: {error}") from error
