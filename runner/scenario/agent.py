"""The scenario's handle on the agent: `request` runs it, freezes what it left, and reads what it said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.agents.base import Ask, Invocation, Reading
from runner.errors import AgentChanged, AgentMissing, BenchError, RunnerError
from runner.judges import names_model
from runner.paths import to_json
from runner.pins import check_version
from runner.records import NO_USAGE, Usage
from runner.redaction import secret_pairs
from runner.transcript import Step, lines
from runner.worlds.places import OUT

from .asking import check_answered
from .lending import Lending
from .outputs import store_lines, store_output, store_text

if TYPE_CHECKING:
    from runner.agents import Resolved
    from runner.processes import Done

    from .live import LiveTrial
    from .stage import Frozen, Stage

MODELS_KEPT = 20
WITHOUT_MODEL = frozenset({"scripted", "oracle", "noop"})


@dataclass(frozen=True)
class Reply:
    """What one request gave back. `exit_code` is None where the agent was stopped; unknown usage is None, never 0."""

    text: str
    exit_code: int | None
    timed_out: bool
    usage: Usage
    transcript: tuple[Step, ...] = ()
    seconds: float = 0.0


class AgentHandle:
    def __init__(self, trial: LiveTrial, stage: Stage, resolved: Resolved) -> None:
        self._trial, self._stage, self._resolved = trial, stage, resolved
        self._session: str | None = None
        self.usage = NO_USAGE
        self._lending = Lending(trial, stage, resolved)

    @property
    def name(self) -> str:
        return self._resolved.name

    @property
    def has_model(self) -> bool:
        """Whether a model works here, as far as the bench tells: what is played from a script has none."""
        return self._resolved.kind not in WITHOUT_MODEL

    def request(self, prompt: str, timeout: float | None = None) -> Reply:
        """Ask the agent and wait. A timed-out agent is stopped with all its descendants; the scenario goes on."""
        trial, stage = self._trial, self._stage
        self._begin(prompt)
        ask = self._ask(prompt, trial.asked)
        stdout, stderr = f"{ask.out}/request-{ask.number}.stdout", f"{ask.out}/request-{ask.number}.stderr"
        limit = trial.setting.bench.timeouts.request if timeout is None else timeout
        self._lending.hand_over()
        done = self._run(ask, stdout, stderr, trial.remaining(limit))
        trial.check_room()
        self._lending.look()
        for said in (stdout, stderr):  # before anything is cut short: half a secret would not be known again
            trial.redactor.long.clean_file(said)
        self._check_version()
        frozen = stage.freeze()
        reading = self._read(ask, stdout, stderr, done)
        self._journal(ask, reading, done, stdout, stderr, frozen)
        trial.heard[ask.number] = reading.steps
        self._judge(reading, done)
        self._end()
        text = trial.redactor.text(reading.text)
        return Reply(text, done.exit_code, done.timed_out, reading.usage, tuple(reading.steps), done.seconds)

    def _begin(self, prompt: str) -> None:
        if not isinstance(prompt, str) or not prompt.strip():
            raise ValueError("agent.request needs a prompt that is not empty.")
        self._stage.check_open("agent.request")
        self._trial.asked += 1
        self._trial.enter("execution")
        self._stage.before_request()

    def _end(self) -> None:
        self._trial.answered += 1
        self._trial.enter("evaluation")

    def _ask(self, prompt: str, number: int) -> Ask:
        setting, session, out = self._trial.setting, self._stage.session, self._stage.place.at(OUT)
        prompt_file = f"{out}/prompt-{number}.txt"
        with open(prompt_file, "wb", buffering=0) as file:  # noqa: PTH123
            file.write(prompt.encode("utf-8", "surrogateescape"))
        scenario = setting.manifest.scenarios[setting.planned.scenario]
        model = self._trial.axes.get("model")
        return Ask(
            spec=self._resolved.spec,
            axes=self._trial.axes,
            model=None if model is None else str(model),
            env={},
            prompt=prompt,
            prompt_file=prompt_file,
            number=number,
            session=self._session,
            out=out,
            home=session.home,
            agent_path=session.agent_path,
            seed=setting.seed,
            bench_root=setting.sealed,
            scenario=scenario.id,
            case=scenario.cases[setting.planned.case].key,
            inside=session.host_to_inside,
            budget=self._left(),
        )

    def _left(self) -> float | None:
        """A program that goes on with a session counts from where that began."""
        limit = self._trial.setting.budget
        spent = 0.0 if self._session else self.usage.cost or 0.0
        return None if limit is None else max(0.0001, limit - spent)

    def _run(self, ask: Ask, stdout: str, stderr: str, timeout: float) -> Done:
        try:
            call: Invocation = self._resolved.module.invoke(ask)
            self._check_judge(ask, call)
            self._trial.redactor = self._trial.redactor.knowing(secret_pairs(call.env))
            return self._stage.session.exec(
                call.argv, env=call.env, stdin=call.stdin, stdout=stdout, stderr=stderr, timeout=timeout
            )
        except AgentMissing as error:
            raise self._trial.fail("boot", f"The agent {self.name!r} did not start: {error}") from error
        except BenchError as error:
            raise self._trial.fail("scenario", f"The agent {self.name!r} cannot be asked: {error}") from error
        except (RunnerError, OSError) as error:
            raise self._trial.fail("environment", f"The environment failed: {error}") from error

    def _check_judge(self, ask: Ask, call: Invocation) -> None:
        """What chooses the agent's model need not stand in the bench: a variable of this machine may."""
        judge = self._trial.setting.bench.judge
        if judge is None or judge.same_model:
            return
        words = [*(word for word in call.argv if ask.prompt not in word), *call.env.values()]
        if names_model(words, judge.model):
            raise BenchError(f"it is started with the judge's model {judge.model!r}, and no model judges itself.")

    def _check_version(self) -> None:
        """An update while the agent worked: nobody can say which version did the work."""
        trial = self._trial
        try:
            check_version(self._resolved, trial.axes, trial.setting.manifest.cells[trial.setting.planned.cell])
        except AgentChanged as error:
            raise trial.stop(error) from error

    def _read(self, ask: Ask, stdout: str, stderr: str, done: Done) -> Reading:
        """An adapter that trips over its agent's output says so of that output; it must not end the runner's way."""
        try:
            return self._resolved.module.read(ask, stdout, stderr, done)
        except Exception as error:
            sentence = f"The agent's output could not be read: {type(error).__name__}: {error}"
            return Reading("", NO_USAGE, [], ("protocol", sentence))

    def _journal(self, ask: Ask, reading: Reading, done: Done, stdout: str, stderr: str, frozen: Frozen) -> None:
        trial, blobs = self._trial, self._trial.setting.blobs
        self._session = reading.session or self._session
        self.usage += reading.usage
        trial.emit(
            "request",
            number=ask.number,
            prompt=store_text(blobs, ask.prompt, trial.redactor),
            text=store_text(blobs, reading.text, trial.redactor),
            exit_code=done.exit_code,
            timed_out=done.timed_out,
            seconds=round(done.seconds, 6),
            usage=reading.usage.to_json(),
            transcript=store_lines(blobs, lines(reading.steps), trial.redactor),
            output=store_output(blobs, stdout, trial.redactor),
            changes=frozen.changes,
            delta=frozen.delta,
            ignored=[*map(to_json, frozen.ignored)],
            session=reading.session,
            models=[name[:200] for name in reading.models[:MODELS_KEPT]],
        )
        self._attach_stderr(ask.number, stderr)

    def _attach_stderr(self, number: int, stderr: str) -> None:
        blobs = self._trial.setting.blobs
        digest = store_output(blobs, stderr, self._trial.redactor)
        if digest is not None:
            self._trial.emit(
                "artifact", name=f"request-{number}.stderr", kind="log", media="text/plain; charset=utf-8",
                blob=digest, size=blobs.size(digest),
            )  # fmt: skip

    def _judge(self, reading: Reading, done: Done) -> None:
        """Flag what the subject did; end the trial on what is fatal."""
        trial = self._trial
        timed_out = ("request_timeout",) if done.timed_out else ()
        for flag in (*reading.flags, *timed_out, *(f"{name}_limit" for name in done.over)):
            trial.flag(flag)
        if reading.fault is not None:
            raise trial.fail(*reading.fault)
        check_answered(trial, reading.models)
        if done.timed_out:
            trial.check_wall()
        self._check_budget()

    def _check_budget(self) -> None:
        trial = self._trial
        limit = trial.setting.budget
        if limit is None:
            return
        if self.usage.cost is None:
            trial.flag("budget_unenforced")
        elif self.usage.cost > limit:
            raise trial.fail("budget", f"The trial cost ${self.usage.cost:.4f}; its budget is ${limit:g}.")
