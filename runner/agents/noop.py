"""`noop`: does nothing. A bench whose headline it reaches measures nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runner.definition import AgentSpec

from .base import Ask, Invocation, Probe, base_pin, no_endpoint
from .playing import play, player_probe, read_play

KIND = "noop"
read = read_play
endpoint = no_endpoint


def probe(spec: AgentSpec, axes: Mapping[str, Any]) -> Probe:
    return player_probe()


def invoke(ask: Ask) -> Invocation:
    return play(ask, [])


def pin(spec: AgentSpec, axes: Mapping[str, Any], probe: Probe) -> dict[str, Any]:
    return base_pin(KIND, axes, probe)
