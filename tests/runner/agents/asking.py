"""Drives one request as an environment would: a child process in a world of its own, output outside the world."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runner.agents import Ask, Invocation, Reading, resolve
from runner.definition import AgentSpec

RECORDED = Path(__file__).parents[2] / "data" / "agents"


@dataclass(frozen=True)
class Done:
    exit_code: int | None
    signal: int | None = None
    timed_out: bool = False
    seconds: float = 0.0


@dataclass
class Desk:
    """A trial's folders and its agent; `request` is one `agent.request`."""

    root: Path
    spec: AgentSpec
    axes: dict[str, Any] = field(default_factory=dict)
    seed: int = 7
    scenario: str = "fix_bug"
    case: str = ""
    number: int = 0
    session: str | None = None
    path: str = ""
    budget: float | None = None

    def __post_init__(self) -> None:
        for folder in (self.world, self.home, self.out, self.bench):
            folder.mkdir(parents=True, exist_ok=True)

    world = property(lambda self: self.root / "place" / "world")
    home = property(lambda self: self.root / "place" / "home")
    out = property(lambda self: self.root / "place" / "out")
    bench = property(lambda self: self.root / "bench")

    @property
    def module(self) -> Any:
        return resolve({"it": self.spec}, "it").module

    def ask(self, prompt: str) -> Ask:
        prompt_file = self.out / f"prompt-{self.number}.txt"
        prompt_file.write_text(prompt, encoding="utf-8")
        return Ask(
            spec=self.spec,
            axes=self.axes,
            model=self.axes.get("model"),
            env={},
            prompt=prompt,
            prompt_file=prompt_file,
            number=self.number,
            session=self.session,
            out=self.out,
            home=self.home,
            agent_path=str(self.world),
            seed=self.seed,
            bench_root=self.bench,
            scenario=self.scenario,
            case=self.case,
            inside=str,
            budget=self.budget,
        )

    def request(self, prompt: str = "Fix it.", timeout: float = 240) -> tuple[Reading, Done]:
        self.number += 1
        ask = self.ask(prompt)
        stdout, stderr = self.out / f"{self.number}.stdout", self.out / f"{self.number}.stderr"
        done = self.execute(self.module.invoke(ask), stdout, stderr, timeout)
        reading: Reading = self.module.read(ask, stdout, stderr, done)
        self.session = reading.session or self.session
        return reading, done

    def read(self, stdout: Path, done: Done, stderr: Path | None = None) -> Reading:
        """Read output that was recorded before."""
        reading: Reading = self.module.read(self.ask("Fix it."), stdout, stderr or self.root / "no-stderr", done)
        return reading

    def execute(self, call: Invocation, stdout: Path, stderr: Path, timeout: float) -> Done:
        """Only what an environment gives and what the adapter asked for reaches the child."""
        path = self.path or f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin"
        env = {"HOME": str(self.home), "PATH": path, "TMPDIR": str(self.root), "LANG": "C.UTF-8", **call.env}
        source = call.stdin or Path(os.devnull)
        started = time.monotonic()
        with source.open("rb") as stdin, stdout.open("wb") as out, stderr.open("wb") as err:
            try:
                child = subprocess.Popen(
                    call.argv, cwd=self.world, env=env, stdin=stdin, stdout=out, stderr=err, start_new_session=True
                )
            except OSError:
                return Done(127)
            try:
                code: int | None = child.wait(timeout)
                timed_out = False
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                code, timed_out = child.wait(), True
        number = -code if code is not None and code < 0 else None
        return Done(None if number else code, number, timed_out, time.monotonic() - started)
