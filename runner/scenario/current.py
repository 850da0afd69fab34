"""The trial this process is running: one process runs one trial, so one name is enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .live import LiveTrial

_running: LiveTrial | None = None


def enter(trial: LiveTrial | None) -> None:
    global _running
    _running = trial


def current(verb: str) -> LiveTrial:
    if _running is None:
        raise RuntimeError(f"{verb} works only while a trial runs: call it inside a bench_* function, not at import.")
    return _running
