"""Looking back on a trial: what the agent did that a reader of its score should know, journalled with its evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from runner.environments.base import WORKSPACE
from runner.expected import in_texts, in_world, pieces_of
from runner.integrity import (
    Finding,
    Place,
    about_collecting,
    about_reads,
    about_submission,
    about_tests,
    hardcoded,
    told,
)
from runner.records import Issue
from runner.redaction import chunks_of
from runner.worlds.changes import ChangeSet, Side

if TYPE_CHECKING:
    from runner.recorded import Work

    from .live import LiveTrial
    from .stage import Stage
    from .warm import Warm

TEXT_LIMIT = 2 << 20


def audit(warm: Warm, trial: LiveTrial, stage: Stage) -> None:
    """Flag the trial, and tell each finding as an issue; whatever goes wrong here is no fault of the trial."""
    if not trial.asked:
        return
    try:
        if trial.work is not None:
            _carry(trial, trial.work)
        for finding in told(_findings(warm, trial, stage)):
            trial.flag(finding.flag)
            trial.emit(
                "issue", severity="warning", phase="execution", code=finding.flag, sentence=finding.sentence,
                detail=finding.detail,
            )  # fmt: skip
    except Exception as error:
        trial.issue("warning", "audit", f"What the agent did could not be looked through: {error}")


def _carry(trial: LiveTrial, work: Work) -> None:
    """Where no agent worked, what it could reach is not known any more: its reads stay flagged as they were."""
    for issue in work.attempt.issues:
        if issue.code == "outside_read":
            trial.flag(issue.code)
            trial.emit("issue", **asdict(issue))


def _findings(warm: Warm, trial: LiveTrial, stage: Stage) -> Iterator[Finding]:
    record, expected = stage.record(), warm.expected

    def read(side: Side) -> str | None:
        return _text(trial, side)

    yield from about_tests(record, read)
    if trial.unsafe is not None:
        yield from _submission(trial, record, *trial.unsafe)
    if trial.verdict is not None and trial.verdict.fault == "collect":
        commands = [row["command"] for row in trial.setting.plan.get("collect", ())]
        yield from about_collecting(record, commands, repository_gone=stage.repository_gone())
    yield from _reads(warm, trial, stage)

    def known(pieces: Sequence[str]) -> set[str]:
        given = [step.text for steps in trial.heard.values() for step in steps if step.role == "user"]
        return in_texts(given, pieces) | in_world(trial.setting.sealed / "workspace", pieces)

    if expected.pieces or expected.copies:
        yield from hardcoded(record, read, expected.pieces, pieces_of, expected.copies, known)
    if trial.redactor:
        yield from _secrets(trial, record)


def _submission(trial: LiveTrial, record: ChangeSet, path: str, reason: str) -> Iterator[Finding]:
    """HOME and TMPDIR begin empty: without collect commands, who else should have written there?"""
    if path == WORKSPACE or path.startswith(f"{WORKSPACE}/"):
        yield from about_submission(record, WORKSPACE, path, reason)
    elif path and not trial.setting.plan.get("collect"):
        yield Finding("unsafe_submission", f"{path} could not be carried out: {reason}.", Place())


def reads(warm: Warm, trial: LiveTrial, stage: Stage) -> Iterator[Issue]:
    """Tell of reaches outside the world as issues, for a checkpoint: where it is taken up, no agent works."""
    for finding in told(_reads(warm, trial, stage)):
        yield Issue("warning", "execution", finding.flag, finding.sentence, finding.detail)


def _reads(warm: Warm, trial: LiveTrial, stage: Stage) -> Iterator[Finding]:
    heard = trial.heard if trial.work is None else {}
    if not any(step.kind == "tool_call" for steps in heard.values() for step in steps):
        return
    needs = warm.subject(trial.setting.planned.cell).needs
    roots = stage.roots(needs.programs, (warm.run_dir.parents[2],))
    for request, steps in heard.items():
        yield from about_reads(request, (replace(step, n=n) for n, step in enumerate(steps, 1)), roots)


def _secrets(trial: LiveTrial, record: ChangeSet) -> Iterator[Finding]:
    """A changed file stays as it is, or the record would be none; that it holds a secret is said."""
    names_in = trial.redactor.names_in
    for change in record.changes:
        side = change.after
        if side is None:
            continue
        if side.stored and side.sha256 and (names := names_in(chunks_of(trial.setting.blobs.path(side.sha256)))):
            yield Finding("secret_in_file", f"{change.path} holds {', '.join(names)}.", Place(change.path))
        elif names := names_in([f"{change.path}\0{side.target or ''}".encode("utf-8", "surrogateescape")]):
            told = f"{change.path} has {', '.join(names)} in its name, or in what it links to."
            yield Finding("secret_in_file", told, Place(change.path))


def _text(trial: LiveTrial, side: Side) -> str | None:
    if side.type != "file" or not side.stored or not side.sha256 or side.size > TEXT_LIMIT:
        return None
    data = trial.setting.blobs.read(side.sha256)
    return None if b"\0" in data else data.decode("utf-8", "replace")
