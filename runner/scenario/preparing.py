"""Making a trial's world: copy, the bench's setup, an optional first commit, baseline, environment."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from runner import keeper
from runner.environments.base import Needs
from runner.errors import RunnerError
from runner.worlds.backends import COPY, Copying, TakeBaseline
from runner.worlds.baseline import Baseline
from runner.worlds.places import Place
from runner.worlds.walls import WALLS, wall_off

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
    raise_walls(warm, trial, place)
    git = warm.bench.workspace is not None and warm.bench.workspace.git
    alone = warm.bench.setup is None and not git
    take_baseline = make_world(warm, trial, place, alone=alone)
    if trial.walls:
        trial.mounted()
    trial.enter("setup", brief=alone)
    if warm.bench.setup is not None:
        _set_up(warm, subject, trial, place.world)
    if git:
        commit(trial, place.world)
    baseline = _baseline(warm, trial, take_baseline)
    try:
        needs = warm.needed(trial.setting.planned)
        walled = replace(needs, wall=trial.wall_of(place)) if trial.walls else needs
        session = warm.environment.open(place, _needs(trial, place, walled))
    except (RunnerError, OSError) as error:
        raise trial.fail("environment", f"The environment {warm.environment.name!r} failed: {error}") from error
    return Stage(trial, place, baseline, session)


def raise_walls(warm: Warm, trial: LiveTrial, place: Place) -> None:
    """Where the plan has a limit of disk held by a file system of that size, make it: for the trial's places, and for
    those of a fresh evaluation, since without root no power is left later."""
    plan = trial.setting.plan
    kind = plan.get("held", {}).get("disk")
    if kind not in WALLS:
        return
    template, places = warm.sealed.template, [place]
    files, limit = len(template.entries) if template else 0, int(plan["resources"]["disk"])
    if template and warm.worlds.mounts_again:
        limit -= template.room  # it counts, wherever it lies
    if plan["mode"] == "fresh":
        places.append(fresh_place(trial, place.base))
    try:
        trial.walls = wall_off(kind, limit, files, places)
    except (RunnerError, OSError) as error:
        said = f"The limit of disk cannot be held here any more by a file system of the kind {kind}: {error}"
        raise trial.fail("environment", said) from error
    agents = trial.checkpoint is None and warm.recorded is None
    for wall in trial.walls[1:] if agents else trial.walls:
        wall.give_way()  # what an agent left was within the limit: putting it back may not fail for want of room


def fresh_place(trial: LiveTrial, root: str) -> Place:
    """The folders of a fresh evaluation. A control group has the folder's name, so it is the run's own."""
    place = Place(f"{root}/fresh-{trial.setting.manifest.run}")
    for folder in (place.root, place.world, place.home, place.tmp, place.out):
        folder.mkdir(mode=0o700 if folder == place.root else 0o777, exist_ok=True)
    return place


def make_world(warm: Warm, trial: LiveTrial, place: Place, *, again: bool = False, alone: bool = False) -> TakeBaseline:
    """Where the kernel mounts no layer after all, the trial has a copy, which looks the same, and says so.

    `again`: a further world for a trial that has its own; without root there is no power left to mount it."""
    worlds, why = warm.worlds, ""
    if worlds.name != warm.manifest.host.get("world", COPY):
        why = "none can be had here any more"
    elif worlds.name != COPY and trial.walls and not worlds.mounts_again:
        why = "its disk is limited, and without root no layer can lie on what holds that"
    elif worlds.name != COPY and (worlds.mounts_again or not again):
        try:
            return worlds.set_up(place, alone=alone)
        except OSError as error:
            why = str(error)
    if why:
        trial.issue("warning", "world", f"The world of this trial is a copy and no overlay: {why}.")
    copying = worlds if isinstance(worlds, Copying) else Copying(warm.sealed.world, warm.sealed.template)
    try:
        return copying.set_up(place, alone=alone)
    except (RunnerError, OSError) as error:
        raise trial.fail("environment", f"The world could not be copied: {error}") from error


def _needs(trial: LiveTrial, place: Place, needs: Needs) -> Needs:
    """Where a scenario declares that it needs the fixtures in the agent's environment, that has an empty folder for
    them: they are put there when the agent has ended."""
    if trial.setting.plan.get("fixtures") != "declared" or trial.setting.plan.get("isolation") == "none":
        return needs
    folder = place.root / "fixtures"
    folder.mkdir()
    return replace(needs, fixtures=folder)


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


def commit(trial: LiveTrial, world: Path) -> None:
    env = {**GIT_ENV, "PATH": os.environ.get("PATH", os.defpath), "HOME": str(world.parent)}
    for argv in GIT_STEPS:
        try:
            subprocess.run(argv, cwd=world, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=True)
        except FileNotFoundError as error:
            raise trial.fail("environment", "git=True needs the program git, which was not found on PATH.") from error
        except subprocess.CalledProcessError as error:
            said = error.stderr.decode(errors="replace").strip()
            raise trial.fail("environment", f"`{' '.join(argv)}` failed in the new world: {said}") from error


def _baseline(warm: Warm, trial: LiveTrial, take_baseline: TakeBaseline) -> Baseline:
    try:
        return take_baseline(warm.blobs, warm.rules)
    except (RunnerError, OSError) as error:
        raise trial.fail("environment", f"The baseline of the world could not be taken: {error}") from error
