"""What became of one trial, told as the events a runner would have written."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from runner.blobs import BlobStore
from runner.journal import Event

from . import make_world as worlds

TRANSCRIPT = "application/x-benchsite-transcript+jsonl"


@dataclass(frozen=True)
class Fate:
    """How an attempt ends. `before` is a fault that a first attempt met before this one."""

    state: str
    outcome: str | None = None
    fault: str | None = None
    phase: str | None = None
    reason: str = ""
    flags: tuple[str, ...] = ()
    before: str | None = None
    observe: str = "all"  # all | invalid | missing | twice | none


SOLVED, UNSOLVED = Fate("scored", "solved"), Fate("scored", "unsolved")
FATES: tuple[Fate, ...] = (
    SOLVED,
    UNSOLVED,
    Fate("excluded", reason="expect: the workspace has no file src/parser.py.", observe="none"),
    Fate("run_error", fault="provider", phase="execution", reason="The provider answered 529: overloaded."),
    Fate("eval_error", fault="suite", phase="evaluation", reason="The workspace's test suite could not start."),
    Fate("scored", "unsolved", flags=("invalid",), observe="invalid"),
    Fate("scored", "solved", before="boot"),
    Fate("run_error", fault="timeout", phase="execution", reason="The trial reached its limit of 3,600 s."),
    Fate("scored", "solved", flags=("request_timeout",), observe="missing"),
    Fate("run_error", fault="boot", phase="execution", reason="agent: not found.", before="boot"),
    Fate("run_error", fault="lost", phase="execution", reason="The worker died while the trial ran."),
    Fate("run_error", fault="scenario", phase="execution", reason="KeyError: 'x' in bench_fix.py:9."),
    Fate("eval_error", fault="evaluation", phase="evaluation", reason="ZeroDivisionError in bench_fix.py:14."),
    Fate("excluded", reason="expect: the suite passes.", flags=("late_guard",), observe="none"),
    Fate("scored", "solved", flags=("observed_twice",), observe="twice"),
    Fate("skipped", reason="needs a network", observe="none"),
    Fate("cancelled", reason="The run was cancelled."),
    Fate("not_run", reason="The budget of the run was spent."),
    Fate("run_error", fault="protocol", phase="execution", reason="Line 3 is not JSON."),
    Fate("run_error", fault="collect", phase="collect", reason="git: exit 129."),
    Fate("run_error", fault="budget", phase="execution", reason="The trial spent $2.10 of $2."),
    Fate("scored", "unsolved", flags=("exit_code", "suite_timeout")),
)
"""One of each: a made run of as many trials or more holds every state, outcome and a fault of every door."""
UNRUN = frozenset({"cancelled", "not_run"})


class Teller:
    """Tells attempts; holds what all trials of a run share."""

    def __init__(self, blobs: BlobStore, start: worlds.World, rng: random.Random, keep: str) -> None:
        self.blobs, self.start, self.rng, self.keep = blobs, start, rng, keep

    def trial(self, index: int, fate: Fate, prompt: str) -> Iterator[Event]:
        if fate.state in UNRUN:
            yield {"type": "trial.not_run", "trial": index, "state": fate.state, "reason": fate.reason}
            return
        attempt = 1
        if fate.before:
            first = Fate("run_error", fault=fate.before, phase="execution", reason="agent: not found.")
            yield from self.attempt(index, attempt, first, prompt)
            yield {"type": "trial.retried", "trial": index, "attempt": attempt, "code": fate.before}
            attempt = 2
        yield from self.attempt(index, attempt, fate, prompt)

    def attempt(self, trial: int, attempt: int, fate: Fate, prompt: str) -> Iterator[Event]:
        def event(type: str, **fields: Any) -> Event:
            return {"type": type, "trial": trial, "attempt": attempt, **fields}

        yield event("trial.started", seed=self.rng.randrange(2**31), worker=trial % 2)
        yield event("phase", phase="setup", seconds=0.01)
        ran = fate.state in ("scored", "eval_error") or fate.fault in ("timeout", "protocol", "budget", "collect")
        seconds, usage = round(self.rng.uniform(2, 90), 3), self._usage(ran)
        late = "late_guard" in fate.flags
        world = self.start.copy()
        if ran or late:
            yield from self._request(event, fate, prompt, world, seconds, usage)
        yield event("phase", phase="execution", seconds=seconds)
        if fate.state == "excluded":
            yield event("guard", sentence=fate.reason, late=late, where="tests/bench_fix_0.py:8")
        if fate.state == "scored":
            yield from self._observations(event, fate)
            yield event("phase", phase="evaluation", seconds=1.25)
            yield from self._evidence(event, world)
        if fate.fault:
            yield event(
                "issue",
                severity="fatal",
                phase=fate.phase,
                code=fate.fault,
                sentence=fate.reason,
                detail="Traceback (most recent call last):\n  …",
            )
        if self._kept(fate):
            blob, files, size = worlds.tree_blob(world, self.blobs)
            yield event("kept", path=f"workspaces/{trial}-{attempt}", blob=blob, files=files, size=size)
        yield event(
            "trial.finished",
            state=fate.state,
            outcome=fate.outcome,
            fault=fate.fault,
            phase=fate.phase,
            reason=fate.reason,
            seconds=seconds + 1.3,
            flags=list(fate.flags),
            usage=usage,
            headline={"solved": 1.0, "unsolved": 0.0}.get(fate.outcome or ""),
        )

    def _kept(self, fate: Fate) -> bool:
        return {"never": False, "always": True, "failed": fate.state != "scored"}.get(
            self.keep, fate.outcome != "solved"
        )

    def _usage(self, ran: bool) -> dict[str, Any]:
        if not ran:
            return {}
        rng = self.rng
        return {
            "tokens_in": rng.randrange(1000, 90_000),
            "tokens_out": rng.randrange(200, 9000),
            "tokens_cached": rng.randrange(0, 900),
            "cost": round(rng.uniform(0.01, 1.2), 4),
            "model_calls": rng.randrange(1, 9),
            "tool_calls": rng.randrange(1, 30),
        }

    def _request(
        self, event: Any, fate: Fate, prompt: str, world: worlds.World, seconds: float, usage: Any
    ) -> Iterator[Event]:
        act = worlds.solved if fate.outcome == "solved" else worlds.unsolved
        act(world, self.rng)
        blob, counts = worlds.changes_blob(self.start, world, self.blobs)
        text = "Done: the parser splits once." if fate.outcome == "solved" else "I edited the parser and its tests."
        yield event(
            "request",
            number=1,
            prompt=self.blobs.put(prompt.encode()),
            text=self.blobs.put(text.encode()),
            exit_code=1 if "exit_code" in fate.flags else 0,
            timed_out="request_timeout" in fate.flags,
            seconds=seconds,
            usage=usage,
            transcript=self.blobs.put(self._transcript(prompt, text)),
            output=self.blobs.put(b'{"raw": "output"}\n\x1b[31mred\x1b[0m\n'),
            changes=blob,
            session=None,
        )
        yield event("changes", stage="agent", blob=blob, counts=counts)

    def _transcript(self, prompt: str, text: str) -> bytes:
        call = {"path": "src/parser.py", "old": 'split("=")', "new": 'split("=", 1)'}
        steps: list[dict[str, Any]] = [
            {"role": "system", "kind": "message", "text": "You are a careful engineer."},
            {"role": "user", "kind": "message", "text": prompt},
            {"role": "assistant", "kind": "reasoning", "text": "The split is too eager; <b>bold</b> is no markup."},
            {"role": "assistant", "kind": "tool_call", "text": "", "tool": "edit", "arguments": call, "call": "c1"},
            {"role": "tool", "kind": "observation", "text": "1 file changed", "call": "c1", "exit_code": 0},
            {
                "role": "assistant",
                "kind": "tool_call",
                "text": "",
                "tool": "shell",
                "arguments": {"command": "pytest -q"},
                "call": "c2",
            },
            {"role": "tool", "kind": "observation", "text": "2 passed\n" * 40, "call": "c2", "exit_code": 0},
            {"role": "assistant", "kind": "message", "text": text, "usage": {"tokens_in": 900, "tokens_out": 40}},
        ]
        return b"".join(json.dumps({"n": n, **step}).encode() + b"\n" for n, step in enumerate(steps, 1))

    def _observations(self, event: Any, fate: Fate) -> Iterator[Event]:
        rng, good = self.rng, fate.outcome == "solved"
        values: dict[str, Any] = {
            "resolved": good,
            "collateral": rng.randrange(0, 2 if good else 9),
            "score": round(rng.uniform(0.5, 1) if good else rng.uniform(0, 0.6), 4),
            "approach": rng.choice(["refactor", "patch", "rewrite"]),
            "note": "Clean." if good else "Touched <script>alert(1)</script> files.",
        }
        if fate.observe == "missing":
            values.pop("collateral")
            values.pop("note")
        for measure, value in values.items():
            valid, reason = True, ""
            if fate.observe == "invalid" and measure in ("score", "approach"):
                valid, value = False, "n/a"
                reason = "'n/a' is not a number." if measure == "score" else "'n/a' is none of the categories."
            yield event("observe", measure=measure, value=value, valid=valid, reason=reason)
            if fate.observe == "twice" and measure == "collateral":
                yield event("observe", measure=measure, value=0, valid=True, reason="")

    def _evidence(self, event: Any, world: worlds.World) -> Iterator[Event]:
        log = b"tests/test_parser.py ..  [100%]\n2 passed in 0.01s\n"
        patch = b"--- a/src/parser.py\n+++ b/src/parser.py\n@@ -6 +6 @@\n-    old\n+    new\n"
        page = b"<html><script>alert(1)</script></html>"
        evidence = (
            ("suite.log", "log", "text/plain", log),
            ("diff", "patch", "text/x-diff", patch),
            ("picture.png", "image", "image/png", worlds.PNG),
            ("report.html", "page", "text/html", page),
        )
        for name, kind, media, data in evidence:
            yield event("artifact", name=name, kind=kind, media=media, blob=self.blobs.put(data), size=len(data))
        graded = world.copy()
        graded.files[".coverage-report"] = b"92%\n"
        blob, counts = worlds.changes_blob(world, graded, self.blobs)
        yield event("changes", stage="evaluation", blob=blob, counts=counts)
