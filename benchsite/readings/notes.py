"""Notes and tags as a page shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

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


def notes_of(
    run: Run,
    trial: int | None,
    reader: Any,
    tags: Sequence[str] | None = None,
    written: Sequence[Written] | None = None,
) -> Beside:
    """Notes stand in the order they were written in. `tags` and `written`: where a page has them already."""
    if written is None:
        notes = Note.objects.filter(run=run.ulid, trial=trial).select_related("by").order_by("id")
        written = [Written(one.pk, one.text, str(one.by or ""), one.at, one.by_id or 0) for one in notes]
    lines = (NoteLine(one.pk, one.text, one.by, one.at, one.by_id == reader.pk) for one in written)
    if tags is None:
        tags = Tag.objects.filter(run=run.ulid, trial=trial).order_by("name").values_list("name", flat=True)
    return Beside(run.ulid, trial, tuple(lines), tuple(tags))
