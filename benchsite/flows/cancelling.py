"""Cancel a run, or one trial of it, that a process of this site drives."""

from __future__ import annotations

from typing import Any

from benchsite.accounts.access import is_curator
from benchsite.runs.models import Run
from runner.cancelling import Cancelled, cancel
from runner.errors import RunnerError

from .curate import NotAllowed
from .launch import folder_of

PATIENCE = 15.0
"""Seconds a page waits for the runner's answer; one that ends a trial's processes for longer goes on doing so."""


def may_cancel(user: Any, run: Run) -> bool:
    """Whoever started or sent the run, and curators."""
    if user is None or not user.is_authenticated or not user.is_active:
        return False
    return run.by_id == user.pk or is_curator(user)


def cancel_run(run: Run, *, by: Any, trial: int | None = None) -> Cancelled:
    if not may_cancel(by, run):
        raise NotAllowed("Only whoever started a run, or a curator, cancels it.")
    if run.state != Run.State.RUNNING:
        raise RunnerError(f"Run {run.label} is {run.state}: there is nothing to cancel.")
    folder = folder_of(run.ulid)
    if folder is None:
        raise RunnerError(f"Run {run.label} was not started by this site: cancel it where it runs.")
    return cancel(folder, trial, timeout=PATIENCE)
