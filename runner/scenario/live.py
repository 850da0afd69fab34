"""One trial while it runs: what it knows, what it has recorded, and what ended it."""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from _pytest.outcomes import Skipped

from runner.blobs import BlobStore
from runner.definition import Bench
from runner.errors import AgentChanged, DiskFull, RunnerError, is_disk_full
from runner.manifest import Manifest, PlannedTrial
from runner.redaction import NO_SECRETS, Redactor
from runner.worlds.walls import is_full

from .source import asks_later
from .stops import GuardFailed, TrialFault, Verdict
from .values import judge

if TYPE_CHECKING:
    from runner.checkpoints import Checkpoint
    from runner.environments.base import Session
    from runner.recorded import Work
    from runner.transcript import Step
    from runner.worlds.places import Place
    from runner.worlds.rules import Rules
    from runner.worlds.walls import Wall

    from .agent import AgentHandle
    from .evaluation import Evaluation
    from .workspace import WorkspaceHandle

Emit = Callable[..., None]
ATTACH_LIMIT = 256 << 20
DETAIL_LIMIT = 8000


class Setting(NamedTuple):
    """What a trial is given before it starts; nothing here changes while it runs."""

    manifest: Manifest
    planned: PlannedTrial
    attempt: int
    seed: int
    bench: Bench
    sealed: Path
    blobs: BlobStore
    rules: Rules
    root: str
    """The trial's own folder, the world and all else below it."""
    deadline: float
    """On time.monotonic()'s clock: the trial's wall limit."""
    budget: float | None = None
    """Dollars this trial may cost."""

    @property
    def plan(self) -> Mapping[str, Any]:
        return self.manifest.plans[self.planned.plan] if self.manifest.plans else {}


class LiveTrial:
    workspace: WorkspaceHandle
    agent: AgentHandle
    evaluation: Evaluation
    checkpoint: Checkpoint | None = None
    """What its evaluation goes on from, where that is repeated alone."""
    work: Work | None = None
    """What is graded again, where no agent works."""
    unsafe: tuple[str, str] | None = None
    """A declared path that may not be carried out, and why."""
    walls: Sequence[Wall] = ()
    """What holds the limit of disk: around its own places, and around those of a fresh evaluation."""

    def __init__(self, setting: Setting, emit: Emit, redactor: Redactor | None = None) -> None:
        self.setting, self._emit = setting, emit
        self.redactor = redactor or NO_SECRETS
        self.heard: dict[int, Sequence[Step]] = {}
        self.requests: list[dict[str, Any]] = []
        self.began = time.monotonic()
        self.measures = setting.manifest.by_key
        self.observed: dict[str, Any] = {}
        self._seen: set[str] = set()
        self.flags: list[str] = []
        self.verdict: Verdict | None = None
        self.phase, self._phase_began = "prepare", time.monotonic()
        self.axes: Mapping[str, Any] = {}
        self.asked = self.answered = self.judged = 0

    @property
    def fixtures(self) -> Path:
        return self.setting.sealed / "fixtures"

    def scratch(self) -> Path:
        folder = Path(self.setting.root, "scenario")
        folder.mkdir(exist_ok=True)
        return folder

    def emit(self, type: str, **fields: Any) -> None:
        where = {"trial": self.setting.planned.index, "attempt": self.setting.attempt}
        fields = self.redactor.event(fields)
        self._emit(type, **where, **fields)
        if type == "request":
            self.requests.append(fields)

    def enter(self, phase: str, *, brief: bool = False) -> None:
        """Start a phase; the time of the one before it is journalled. `then` is for the runner alone, should this
        process be killed: not told of a phase that is over at once."""
        now = time.monotonic()
        if phase == self.phase:
            return
        self.end_phase(now, "" if brief else phase)
        self.phase, self._phase_began = phase, now

    def end_phase(self, now: float | None = None, then: str = "") -> None:
        seconds = (time.monotonic() if now is None else now) - self._phase_began
        self.emit("phase", phase=self.phase, seconds=round(seconds, 6), **({"then": then} if then else {}))

    def seconds(self) -> float | None:
        """How long the trial took, with what its checkpoint had taken before. What is regraded takes no agent's time,
        so it has none."""
        if self.setting.manifest.regraded:
            return None
        return round(time.monotonic() - self.began + (self.checkpoint.seconds if self.checkpoint else 0.0), 6)

    def remaining(self, timeout: float) -> float:
        """Cut a timeout to what the trial's wall limit leaves."""
        return max(0.001, min(timeout, self.setting.deadline - time.monotonic()))

    def check_wall(self) -> None:
        if time.monotonic() >= self.setting.deadline:
            limit = self.setting.bench.timeouts.trial
            raise self.fail("timeout", f"The trial reached its wall-clock limit of {limit:g} s.")

    def flag(self, name: str) -> None:
        if name not in self.flags:
            self.flags.append(name)

    def limited(self, over: Sequence[str]) -> None:
        """A verifier that met the limit of disk may have found no more than that."""
        if "disk" in over:
            self.flag("disk_full")
        self.check_room()

    def observe(self, key: str, value: Any) -> None:
        kept, reason = judge(self.measures.get(key), key, value)
        if key in self._seen:
            self.flag("observed_twice")
        self._seen.add(key)
        if reason:
            self.flag("invalid")
        else:
            self.observed[key] = kept
        self.emit("observe", measure=key, value=kept, valid=not reason, reason=reason)

    def guard(self, sentence: str, where: str) -> None:
        """A guard failed: journalled at once, so that no handler in the scenario can undo it."""
        late = self.asked > 0
        if late:
            self.flag("late_guard")
        self.emit("guard", sentence=sentence, late=late, where=self._shown(where))
        self._decide(Verdict("excluded", None, self.phase, sentence))

    def attach(self, name: str, content: bytes, *, media: str, kind: str) -> None:
        if not name or len(name) > 200:
            raise ValueError("An artifact needs a name of 1 to 200 characters.")
        if len(content) > ATTACH_LIMIT:
            raise ValueError(f"The artifact {name!r} is larger than {ATTACH_LIMIT >> 20} MiB.")
        kind = kind or ("diff" if content.startswith(b"diff --git ") else "attachment")
        media = media or media_of(content, kind)
        content = self.redactor.strike(content)
        self.emit("artifact", name=name, kind=kind, media=media, blob=self.store(content), size=len(content))

    def store(self, content: bytes) -> str:
        return self.setting.blobs.put(content)

    def issue(self, severity: str, code: str, sentence: str, detail: str = "") -> None:
        detail = self.redactor.text(self._shown(detail))[-DETAIL_LIMIT:]
        self.emit("issue", severity=severity, phase=self.phase, code=code, sentence=sentence, detail=detail)

    def fail(self, code: str, sentence: str, detail: str = "") -> TrialFault:
        """Journal a fatal fault and give the exception that ends the scenario; later ones change nothing."""
        self.check_disk(sys.exception())
        self.issue("fatal", code, sentence, detail)
        self._decide(Verdict.of_fault(code, self.phase, sentence))
        return TrialFault(code, sentence, detail)

    def check_disk(self, error: BaseException | None) -> None:
        """A full disk is nobody's fault in here: the runner is told, which ends this process and stops the run. One
        that is the trial's alone is its own trouble."""
        if is_disk_full(error) and (not self.walls or is_full(self.setting.root)):
            self._emit("full", place=self.setting.root)

    def check_room(self) -> None:
        """What a command did that could write nothing more tells nothing of it, see check_disk."""
        if not self.walls and is_full(self.setting.root, for_root=True):
            self._emit("full", place=self.setting.root)
            raise DiskFull(self.setting.root)

    def wall_of(self, place: Place) -> Wall | None:
        return next((wall for wall in self.walls if wall.folder == place.disk), None)

    def mounted(self) -> None:
        """The runner keeps hold of this process's mounts: it puts the world away when the process is gone."""
        self._emit("mounted", pid=os.getpid())

    def end(self, session: Session) -> None:
        """Close an environment. What of it could not be closed is told, for who cleans up, and changes no verdict."""
        try:
            session.close()
        except (RunnerError, OSError) as error:
            self.check_disk(error)
            self.issue("warning", "cleanup", f"An environment could not be closed whole: {error}")

    def stop(self, changed: AgentChanged) -> TrialFault:
        """The run cannot go on and this trial has no end: the runner is told, which ends this process."""
        self._emit("changed", agent=changed.agent, was=changed.was, now=changed.now)
        return TrialFault("boot", str(changed))

    def raised(self, error: BaseException, when: str = "call") -> None:
        """Take an exception that left the scenario, and decide what it makes of the trial."""
        if isinstance(error, TrialFault | GuardFailed):
            return
        self.check_disk(error)
        if isinstance(error, Skipped):
            self._decide(Verdict("skipped", None, self.phase, error.msg or "The scenario skipped itself."))
        elif isinstance(error, AssertionError) and not self.asked:
            self.guard(_sentence(error), _where(error, self.setting.sealed))
        elif self._evaluating(error):
            self._failed("evaluation", "The scenario raised while it evaluated", error)
        else:
            who = "The bench's setup" if self.phase == "setup" else "The scenario"
            self._failed("scenario", f"{who} raised before the agent had finished", error)

    def _failed(self, code: str, what: str, error: BaseException) -> None:
        where = _where(error, self.setting.sealed)
        sentence = f"{what}{f' at {where}' if where else ''}: {_sentence(error)}"
        self.fail(code, self._shown(sentence), trace_of(error))

    def _evaluating(self, error: BaseException) -> bool:
        """Had the last request returned? An assert after any request is an evaluation in the wrong words."""
        if not self.answered or self.asked > self.answered:
            return False
        return isinstance(error, AssertionError) or not asks_later(error, self.setting.sealed)

    def left_ungraded(self, error: BaseException) -> bool:
        """Did this end the evaluation of an agent that had done all it was asked for?"""
        failed = self.verdict is not None and self.verdict.state == "eval_error" and not self.setting.manifest.regraded
        return failed and 0 < self.asked == self.answered and not asks_later(error, self.setting.sealed)

    def _decide(self, verdict: Verdict) -> None:
        if self.verdict is None:
            self.verdict = verdict

    def conclude(self) -> Verdict:
        """The state a scenario that ran to its end earns, unless something decisive came before."""
        required = self.setting.manifest.required
        if self.verdict is None and not self.observed.keys() >= required:
            missing = next(key for key in self.measures if key in required and key not in self.observed)
            self.fail("required", f"The required measure {missing!r} was not observed.")
        if self.verdict is None and hasattr(self, "evaluation") and self.evaluation.left_out:
            self.fail("evaluation", f"The scenario has mode {self.evaluation.mode!r} and never entered `evaluation()`.")
        return self.verdict or Verdict("scored")

    def outcome(self) -> tuple[str | None, float | None]:
        """Give (outcome, headline) of a scored trial; one whose headline is missing is neither solved nor unsolved."""
        headline = self.setting.manifest.headline
        value = None if headline is None else self.observed.get(headline.key)
        if headline is None or headline.type != "bool":
            number = isinstance(value, int | float) and not isinstance(value, bool)
            return "measured", float(value) if number and value is not None else None
        if value is None:
            return None, None
        solved = value is not (headline.objective == "minimize")
        return ("solved" if solved else "unsolved"), float(value)

    def _shown(self, text: str) -> str:
        """Name files as the bench does; where it is sealed is nobody's business."""
        return text.replace(f"{self.setting.sealed}/", "")


def media_of(content: bytes, kind: str) -> str:
    if kind == "diff":
        return "text/x-diff"
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return "application/octet-stream"
    return "application/octet-stream" if b"\0" in content else "text/plain; charset=utf-8"


def _sentence(error: BaseException) -> str:
    said = str(error).strip().split("\n")[0][:500]
    if isinstance(error, AssertionError):
        return f"assert {said}" if said and not said.startswith("assert") else said or "an assert did not hold"
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def _where(error: BaseException, root: Path) -> str:
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(str(root))]
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""


ABOVE = ("_pytest", "pluggy", str(Path(__file__).parent))


def trace_of(error: BaseException) -> str:
    """The traceback without the frames above the scenario, pytest's own and ours."""
    tb = error.__traceback__
    while tb is not None and any(part in tb.tb_frame.f_code.co_filename for part in ABOVE):
        tb = tb.tb_next
    return "".join(traceback.format_exception(type(error), error, tb or error.__traceback__))
