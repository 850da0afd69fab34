"""Which of a trial's changed files its failures name: flags, issues, guards, observations, the output of its tests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from benchsite.artifacts.models import Artifact
from benchsite.diffs.files import Changed
from benchsite.diffs.limits import NAMED_CHARS
from benchsite.diffs.named import Names
from benchsite.runs.models import Observation
from runner.integrity import place_of

from .shelf import Shelf
from .trial import dicts
from .trialhead import Head

LOGS = 6
MEANING = (
    "Only files that a failed guard, an observation that is false or invalid, an issue, a flag or the output of this "
    "trial's tests names."
)
By = dict[str, tuple[str, ...]]
"""What names each path, in words."""


def failing(head: Head, changes: Iterable[Changed], bench: int) -> By:
    """Look through all that tells of failure; the agent's own output tells of nothing."""
    names, found = (
        Names(path for change in changes for path in (change.path, change.old_path) if path),
        dict[str, dict[str, None]](),
    )
    for words, paths in _told(head, names, bench):
        for path in paths:
            found.setdefault(path, {})[words] = None
    return {path: tuple(words) for path, words in found.items()}


def _told(head: Head, names: Names, bench: int) -> Iterator[tuple[str, set[str]]]:
    record = head.record()
    for issue in dicts(record.get("issues")):
        place = place_of(str(issue.get("detail") or ""))
        said = f"{issue.get('sentence')}\n{issue.get('detail')}"
        yield str(issue.get("code") or "issue"), {place.path} if place and place.path else names.within(said)
    for guard in dicts(record.get("guards")):
        yield "guard", names.within(str(guard.get("sentence") or ""))
    if head.trial.outcome != "solved":
        yield "reason", names.within(head.trial.reason)
        yield from _logs(head, names, bench)
    rows = Observation.objects.filter(trial=head.trial).select_related("measure")
    for row in rows:
        if not row.valid or (row.measure.type == "bool" and not row.number):
            yield row.measure.label or row.measure.key, names.within(f"{row.reason}\n{row.text}")


def _logs(head: Head, names: Names, bench: int) -> Iterator[tuple[str, set[str]]]:
    """Search what commands of the evaluation printed; what a request printed is the agent speaking."""
    attempt = head.final.number if head.final else 1
    rows = Artifact.objects.filter(trial=head.trial, attempt=attempt, kind="log").exclude(name__startswith="request-")
    logs = list(rows[:LOGS])
    shelf = Shelf((log.digest for log in logs), bench)
    for log in logs:
        data = shelf.head(log.digest, NAMED_CHARS) or b""
        yield log.name, names.within(data.decode("utf-8", "surrogateescape"))
