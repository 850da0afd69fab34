"""`scripted`: an agent whose every act is written down, so that what a bench says about it can be checked."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from runner.definition import AgentSpec, Scripted
from runner.digests import digest

from .base import Ask, Invocation, Probe, base_pin, no_endpoint
from .playing import play, player_probe, read_play

KIND = "scripted"
read = read_play
endpoint = no_endpoint


def probe(spec: AgentSpec, axes: Mapping[str, Any]) -> Probe:
    return player_probe()


def invoke(ask: Ask) -> Invocation:
    assert isinstance(ask.spec, Scripted)
    return play(ask, choose(ask.spec, ask.seed, ask.prompt))


def choose(spec: Scripted, seed: int, prompt: str = "") -> Sequence[Mapping[str, Any]]:
    """Pick among `seeded` by the trial's recorded seed; what their probabilities leave over goes by the prompt."""
    drawn = random.Random(seed).random()
    for probability, steps in spec.seeded:
        if drawn < probability:
            return steps
        drawn -= probability
    return next((steps for text, steps in spec.when if text in prompt), spec.steps)


def pin(spec: AgentSpec, axes: Mapping[str, Any], probe: Probe) -> dict[str, Any]:
    assert isinstance(spec, Scripted)
    script = {
        "steps": [dict(step) for step in spec.steps],
        "seeded": [[p, [dict(s) for s in s_]] for p, s_ in spec.seeded],
        "when": [[text, [dict(s) for s in s_]] for text, s_ in spec.when],
    }
    return base_pin(KIND, axes, probe) | {"script": digest(script)}
