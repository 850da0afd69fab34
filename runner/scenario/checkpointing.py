"""Setting a trial's checkpoint once its paths are collected, and going on from one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.checkpoints import Checkpoint, identity, load
from runner.collected import Collected
from runner.errors import RunnerError
from runner.jobs import TrialJob
from runner.records import Issue
from runner.worlds.keeping import kept_world

from .auditing import reads

if TYPE_CHECKING:
    from runner.recorded import Work

    from .live import LiveTrial
    from .stage import Stage
    from .warm import Warm


def taken_up(warm: Warm, trial: LiveTrial, job: TrialJob) -> Checkpoint | None:
    """Read the checkpoint that an attempt goes on from; its bytes were proven on resuming, and are proven again."""
    if not job.checkpoint:
        return None
    try:
        return load(warm.manifest, job.index, job.checkpoint, warm.blobs)
    except RunnerError as error:
        raise trial.fail("transport", f"The checkpoint of the trial is damaged: {error}.") from error


def work_of(warm: Warm, trial: LiveTrial, job: TrialJob) -> Work | None:
    """Give the work that is graded again: an earlier run's, or what this trial's agent did before its checkpoint."""
    if warm.recorded is not None:
        return warm.recorded.work(job.index)
    if trial.checkpoint is None:
        return None
    kept = kept_world(warm.run_dir, job.index, trial.checkpoint.attempt)
    return trial.checkpoint.work(warm.manifest, job.index, kept if kept.is_dir() else None)


def set_checkpoint(
    warm: Warm, trial: LiveTrial, stage: Stage, job: TrialJob, entries: tuple[Collected, ...]
) -> str | None:
    """Write down what the evaluation starts from: the agent's work, what is known of it, what was collected.

    One that is repeated leaves the checkpoint that it started from. None where nothing may be saved, where the live
    environment is what is graded, and where the work is another run's."""
    plan = trial.setting.plan
    if plan["mode"] == "reuse" or not plan["save_artifacts"] or warm.recorded is not None:
        return None
    if job.checkpoint:
        return job.checkpoint
    found = Checkpoint(
        of=identity(warm.manifest, job.index),
        attempt=job.attempt,
        requests=tuple(trial.requests),
        collected=entries,
        flags=tuple(trial.flags),
        issues=tuple(Issue(**trial.redactor.event(vars(issue))) for issue in reads(warm, trial, stage)),
        seconds=trial.seconds() or 0.0,
    )
    return found.store(warm.blobs)
