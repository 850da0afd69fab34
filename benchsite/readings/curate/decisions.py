"""What was decided, newest first: on runs and trials, and on files held back. What holds now can be undone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Max

from benchsite.artifacts.models import Blob
from benchsite.curation.models import BlobDecision, Decision
from benchsite.readings import typed
from benchsite.readings.sheet import Sheet
from benchsite.runs.models import Run

from .asked import Asked, Page

WORDS = {
    "accept": "accepted",
    "reject": "rejected",
    "withdraw": "withdrawn",
    "restore": "restored",
    "reopen": "reopened",
    "release": "released",
    "hold": "held back again",
    "redact": "redacted",
}


@dataclass(frozen=True)
class Row:
    """`kept` says in a few words why it cannot be undone; empty where it can."""

    decision: Any
    run: Run | None
    blob: Blob | None
    kept: str

    @property
    def word(self) -> str:
        return WORDS.get(self.decision.verdict, self.decision.verdict)


def decisions_page(asked: Asked) -> Page[Row]:
    found = _narrowed(Decision.objects.all(), asked)
    if asked.run:
        found = found.filter(typed.of_run(asked.run, "run"))
    decisions, onward = asked.part(found.select_related("by"), Decision.objects)
    return Page(asked, tuple(_on_runs(decisions)), found.count(), onward)


def releases_page(asked: Asked) -> Page[Row]:
    found = _narrowed(BlobDecision.objects.all(), asked)
    decisions, onward = asked.part(found.select_related("by"), BlobDecision.objects)
    return Page(asked, tuple(_on_files(decisions)), found.count(), onward)


def _narrowed(found: Any, asked: Asked) -> Any:
    return typed.by(found, asked.by) if asked.by else found


def _on_runs(decisions: Sequence[Decision]) -> Iterator[Row]:
    named = {decision.run for decision in decisions}
    runs = {run.ulid: run for run in Run.objects.filter(ulid__in=named).select_related("bench")}
    newest = Decision.objects.filter(run__in=named).order_by().values_list("run", "trial").annotate(last=Max("pk"))
    last = {(run, trial): pk for run, trial, pk in newest}
    for one in decisions:
        kept = "" if one.run in runs else "the run is gone"
        if not kept and last[one.run, one.trial] != one.pk:
            kept = "another followed"
        yield Row(one, runs.get(one.run), None, kept)


def _on_files(decisions: Sequence[BlobDecision]) -> Iterator[Row]:
    named = {decision.digest for decision in decisions}
    blobs = {blob.digest: blob for blob in Blob.objects.filter(digest__in=named)}
    newest = BlobDecision.objects.filter(digest__in=named).order_by().values_list("digest").annotate(last=Max("pk"))
    last = dict(newest)
    for one in decisions:
        kept = "the bytes are deleted" if one.verdict == BlobDecision.Verdict.REDACT else ""
        if not kept and one.digest not in blobs:
            kept = "no run uses it any more"
        if not kept and last[one.digest] != one.pk:
            kept = "another followed"
        yield Row(one, None, blobs.get(one.digest), kept)


def sheet(page: Page[Row]) -> Sheet:
    """Decisions on runs and trials."""
    rows = (
        (one.run, one.trial, str(row.run.bench) if row.run else None, one.verdict, str(one.by) if one.by else None,
         one.at.isoformat(), one.reason)
        for row in page.rows
        for one in (row.decision,)
    )  # fmt: skip
    about = {"table": "decisions", "total": page.total, "after": page.next}
    return Sheet("curate-decisions", ("run", "trial", "bench", "verdict", "by", "at", "reason"), rows, about)


def files_sheet(page: Page[Row]) -> Sheet:
    rows = (
        (one.digest, one.verdict, str(one.by) if one.by else None, one.at.isoformat(), one.reason)
        for row in page.rows
        for one in (row.decision,)
    )
    about = {"table": "releases", "total": page.total, "after": page.next}
    return Sheet("curate-releases", ("digest", "verdict", "by", "at", "reason"), rows, about)
