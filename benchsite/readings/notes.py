"""Notes and tags as a page shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import F, Value
from django.db.models.functions import Coalesce

from benchsite.curation.models import Note, Tag
from benchsite.runs.models import Run

from .beside import Written


@dataclass(frozen=True)
class NoteLine:
    """`own`: the reader wrote it."""

    pk: int
    text: str
    by: str
    at: datetime | None
    own: bool


@dataclass(frozen=True)
class Beside:
    """What was written beside a run, or beside one of its trials."""

    ulid: str
    trial: int | None
    notes: tuple[NoteLine, ...]
    tags: tuple[str, ...]


def _both(run: str, trial: int | None) -> tuple[list[Written], list[str]]:
    """Ask for notes and tags in one query."""
    notes, tags = (
        model.objects.filter(run=run, trial=trial)
        .order_by()
        .values_list(Value(kind), "pk", text, Coalesce(F("by__username"), Value("")), "at", "by_id")
        for kind, model, text in (("note", Note, "text"), ("tag", Tag, "name"))
    )
    rows = sorted(notes.union(tags, all=True))
    found = [Written(pk, text, by, at, by_id or 0) for kind, pk, text, by, at, by_id in rows if kind == "note"]
    return found, sorted(row[2] for row in rows if row[0] == "tag")


def notes_of(
    run: Run,
    trial: int | None,
    reader: Any,
    tags: Sequence[str] | None = None,
    written: Sequence[Written] | None = None,
) -> Beside:
    """Notes stand in the order they were written in. `tags` and `written`: where a page has them already."""
    if written is None or tags is None:
        all_written, all_tags = _both(run.ulid, trial)
        written, tags = all_written if written is None else written, all_tags if tags is None else tags
    lines = (NoteLine(one.pk, one.text, one.by, one.at, one.by_id == reader.pk) for one in written)
    return Beside(run.ulid, trial, tuple(lines), tuple(tags))
