"""`oracle`: applies the bench's own solution. A bench whose headline it misses has a fault in its scenarios.

A solution lies in `fixtures/solution/`: `<scenario>/` (files copied over the world), `<scenario>.patch` (applied), or
`<scenario>.txt` (the answer, said). A case may have its own: `<scenario>@<case>` in place of `<scenario>`.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from runner.definition import AgentSpec
from runner.errors import BenchError

from .base import Ask, Invocation, Probe, base_pin, no_endpoint
from .playing import play, player_probe, read_play

KIND = "oracle"
FOLDER = "fixtures/solution"
Steps = list[dict[str, Any]]
read = read_play
endpoint = no_endpoint


def probe(spec: AgentSpec, axes: Mapping[str, Any]) -> Probe:
    return player_probe()


def invoke(ask: Ask) -> Invocation:
    """The first request is answered with the solution; what is asked after it needs nothing more."""
    return play(ask, _solution(ask) if ask.number == 1 else [])


def _solution(ask: Ask) -> Steps:
    base = ask.bench_root / FOLDER
    for name in ([f"{ask.scenario}@{ask.case}"] if ask.case else []) + [ask.scenario]:
        steps = list(_steps(ask, base, name))
        if steps:
            return steps
    raise BenchError(
        f"The oracle has no solution for the scenario {ask.scenario!r}: put files into {FOLDER}/{ask.scenario}/, "
        f"a patch into {FOLDER}/{ask.scenario}.patch or an answer into {FOLDER}/{ask.scenario}.txt."
    )


def _steps(ask: Ask, base: Path, name: str) -> Iterator[dict[str, Any]]:
    """Carry the solution into the out folder first: fixtures themselves are never shown to an agent."""
    folder, patch, answer = base / name, base / f"{name}.patch", base / f"{name}.txt"
    staged = Path(ask.out, "solution")
    if folder.is_dir():
        shutil.copytree(folder, staged, dirs_exist_ok=True)
        for path in _files(folder):
            yield {"do": "copy", "source": ask.inside(staged / path), "path": path}
    if patch.is_file():
        shutil.copyfile(patch, Path(ask.out, "solution.patch"))
        yield {"do": "apply", "source": ask.inside(Path(ask.out, "solution.patch"))}
    if answer.is_file():
        yield {"do": "say", "text": answer.read_text(encoding="utf-8").strip()}


def _files(folder: Path) -> list[str]:
    return sorted(os.path.relpath(Path(parent, name), folder) for parent, _, names in os.walk(folder) for name in names)


def pin(spec: AgentSpec, axes: Mapping[str, Any], probe: Probe) -> dict[str, Any]:
    return base_pin(KIND, axes, probe)
