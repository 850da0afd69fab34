"""One trial from an empty folder to its last event, in the process that was forked for it."""

from __future__ import annotations

import os
import random
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from runner.errors import AgentChanged, RunnerError, is_disk_full
from runner.jobs import TrialJob
from runner.worlds.places import Place, make_place, worlds_root

from . import current
from .agent import AgentHandle
from .auditing import audit
from .checkpointing import set_checkpoint, taken_up, work_of
from .debugging import debugged
from .evaluation import Evaluation
from .fresh import open_fresh
from .live import Emit, LiveTrial, Setting, trace_of
from .outputs import redacted
from .playing import play
from .plugin import Items
from .preparing import prepare_stage
from .replaying import RecordedAgent
from .stage import Stage
from .stops import TrialFault
from .workspace import WorkspaceHandle

if TYPE_CHECKING:
    from .warm import Subject, Warm

SCENARIO_OUTPUT = 1 << 20


def run_trial(warm: Warm, items: Items, job: TrialJob, emit: Emit) -> None:
    """Run one trial; every way it can end is told as events, the last of them `trial.finished`."""
    warm.blobs.on_full = lambda full: emit("full", place=full.place)
    try:
        _run(warm, items, job, emit)
    except OSError as error:
        if not is_disk_full(error):
            raise
        emit("full", place=str(worlds_root()))


def _run(warm: Warm, items: Items, job: TrialJob, emit: Emit) -> None:
    began = time.monotonic()
    place = make_place(warm.manifest.run, job.index, job.attempt, warm.owner, warm.worlds_at)
    streams = _redirect(place)
    _reseed(job.seed)
    redactor = warm.redactor(warm.manifest.trials[job.index].cell)
    trial = LiveTrial(_setting(warm, job, place, began), emit, redactor)
    current.enter(trial)
    stage: Stage | None = None
    try:
        trial.checkpoint = taken_up(warm, trial, job)
        stage = _prepared(warm, trial, place, job)
        trial.enter("execution")
        _play(warm, items, trial)
    except TrialFault:
        pass  # journalled when it was raised
    except BaseException as error:
        trial.raised(error)
    finally:
        if stage is not None:
            audit(warm, trial, stage)
        _finish(trial, stage, streams)


def _finish(trial: LiveTrial, stage: Stage | None, streams: tuple[str, str]) -> None:
    verdict = trial.conclude()
    trial.enter("cleanup")
    try:
        if stage is not None:
            stage.close("the trial is over")
            stage.record_ours()
    except (RunnerError, OSError) as error:
        trial.check_disk(error)
        trial.issue("warning", "cleanup", f"The trial could not be cleaned up whole: {error}")
    _attach_output(trial, streams)
    trial.end_phase()
    outcome, headline = trial.outcome() if verdict.state == "scored" else (None, None)
    usage = trial.agent.usage.to_json() if stage is not None and hasattr(trial, "agent") else None
    trial.emit(
        "trial.finished", state=verdict.state, outcome=outcome, fault=verdict.fault, phase=verdict.phase,
        reason=verdict.reason, seconds=trial.seconds(), flags=trial.flags, usage=usage,
        headline=headline,
    )  # fmt: skip


def _setting(warm: Warm, job: TrialJob, place: Place, began: float) -> Setting:
    return Setting(
        manifest=warm.manifest,
        planned=warm.manifest.trials[job.index],
        attempt=job.attempt,
        seed=job.seed,
        bench=warm.bench,
        sealed=warm.sealed.root,
        blobs=warm.blobs,
        rules=warm.rules,
        root=place.base,
        deadline=began + warm.bench.timeouts.trial,
        budget=warm.budget,
    )


def _prepared(warm: Warm, trial: LiveTrial, place: Place, job: TrialJob) -> Stage:
    """Nothing of the scenario has run yet: what goes wrong here is the machine's, unless the bench's setup raised."""
    work = work_of(warm, trial, job)
    if work is not None and (code := work.ended_by):
        raise trial.fail(code, work.attempt.reason)
    try:
        subject = _subject(warm, trial, trial.setting.planned.cell)
        trial.axes = subject.axes
        stage = prepare_stage(warm, subject, trial, place)
    except Exception as error:
        raise trial.fail("environment", f"The trial could not be prepared: {error}", trace_of(error)) from error
    trial.workspace = WorkspaceHandle(trial, stage)
    agent = subject.agent
    trial.agent = AgentHandle(trial, stage, agent) if work is None else RecordedAgent(trial, stage, agent, work)
    trial.work = work
    fresh = partial(open_fresh, warm, subject, trial, place.base)
    checkpoint = partial(set_checkpoint, warm, trial, stage, job)
    trial.evaluation = Evaluation(trial, stage, trial.setting.plan, fresh, checkpoint)
    return stage


def _subject(warm: Warm, trial: LiveTrial, cell: int) -> Subject:
    try:
        warm.check_agent(cell)
        return warm.subject(cell)
    except AgentChanged as error:
        raise trial.stop(error) from error
    except (RunnerError, OSError) as error:
        raise trial.fail("boot", str(error)) from error


def _play(warm: Warm, items: Items, trial: LiveTrial) -> None:
    planned = trial.setting.planned
    scenario = warm.manifest.scenarios[planned.scenario]
    key = (scenario.file, scenario.function, scenario.cases[planned.case].key)
    item = items.get(key)
    if item is None:
        raise trial.fail("scenario", f"The case {'::'.join(part for part in key if part)} was not found any more.")
    play(item, trial)


def _redirect(place: Place) -> tuple[str, str]:
    """Give the process descriptors of its own: trials that run side by side must not mix their lines."""
    files = place.at("scenario.stdout"), place.at("scenario.stderr")
    os.chdir(place.base)
    tempfile.tempdir = place.base
    if debugged():
        for file in files:
            Path(file).touch()
        return files
    sys.stdout.flush()
    sys.stderr.flush()
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    for number, file in enumerate(files, 1):
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(descriptor, number)
        os.close(descriptor)
    return files


def _reseed(seed: int) -> None:
    random.seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed)


def _attach_output(trial: LiveTrial, streams: tuple[str, str]) -> None:
    """What the scenario itself printed, when it printed something."""
    sys.stdout.flush()
    sys.stderr.flush()
    for name, file in zip(("scenario.stdout", "scenario.stderr"), streams, strict=True):
        if size := os.stat(file).st_size:  # noqa: PTH116
            content = redacted(Path(file), size, SCENARIO_OUTPUT, trial.redactor)
            trial.attach(name, content, media="text/plain; charset=utf-8", kind="log")
