"""Making a trial's world: copy, the bench's setup, an optional first commit, baseline, environment."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from runner import keeper
from runner.errors import RunnerError
from runner.worlds.baseline import Baseline, take_baseline
from runner.worlds.copying import Copied, copy_world
from runner.worlds.places import Place

from .stage import Stage
from .stops import TrialFault

if TYPE_CHECKING:
    from .live import LiveTrial
    from .warm import Subject, Warm

_WHO = {"NAME": "Benchsite", "EMAIL": "bench@example.invalid", "DATE": "2000-01-01T00:00:00+0000"}
GIT_ENV = {
    **{f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in _WHO.items()},
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "LANG": "C.UTF-8",
}
"""The same author and date always: the first commit's hash is the same in every trial."""
GIT_STEPS = (
    ["git", "init", "-q", "-b", "main"],
    ["git", "add", "-A", "-f"],
    ["git", "commit", "-q", "--allow-empty", "-m", "Start"],
)


def prepare_stage(warm: Warm, subject: Subject, trial: LiveTrial, place: Place) -> Stage:
    try:
        copied = copy_world(warm.sealed.world, place.world)
    except (RunnerError, OSError) as error:
        raise trial.fail("environment", f"The world could not be copied: {error}") from error
    trial.enter("setup")
    if warm.bench.setup is not None:
        _set_up(warm, subject, trial, place.world)
    if warm.bench.workspace is not None and warm.bench.workspace.git:
        _commit(trial, place.world)
    baseline = _baseline(warm, trial, place.world, copied)
    try:
        session = warm.environment.open(place, subject.needs)
    except (RunnerError, OSError) as error:
        raise trial.fail("environment", f"The environment {warm.environment.name!r} failed: {error}") from error
    return Stage(trial, place, baseline, session)


def _set_up(warm: Warm, subject: Subject, trial: LiveTrial, world: Path) -> None:
    """Processes that setup leaves are ended before the baseline: nobody but the agent may change the world after it."""
    assert warm.bench.setup is not None
    try:
        warm.bench.setup(world, dict(subject.axes))
    except BaseException as error:
        trial.raised(error, "setup")
        raise TrialFault("scenario", str(error)) from error
    finally:
        keeper.end_all(os.getpid())


def _commit(trial: LiveTrial, world: Path) -> None:
    env = {**GIT_ENV, "PATH": os.environ.get("PATH", os.defpath), "HOME": str(world.parent)}
    for argv in GIT_STEPS:
        try:
            subprocess.run(argv, cwd=world, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=True)
        except FileNotFoundError as error:
            raise trial.fail("environment", "git=True needs the program git, which was not found on PATH.") from error
        except subprocess.CalledProcessError as error:
            said = error.stderr.decode(errors="replace").strip()
            raise trial.fail("environment", f"`{' '.join(argv)}` failed in the new world: {said}") from error


def _baseline(warm: Warm, trial: LiveTrial, world: Path, copied: Copied) -> Baseline:
    try:
        return take_baseline(world, warm.sealed.template, warm.blobs, warm.rules, copied)
    except (RunnerError, OSError) as error:
        raise trial.fail("environment", f"The baseline of the world could not be taken: {error}") from error
