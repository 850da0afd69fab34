"""Notes and tags as a page shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from benchsite.curation.models import Note, Tag
from benchsite.runs.models import Run


@dataclass(frozen=True)
class NoteLine:
    """`own`: the reader wrote it."""

    pk: int
    text: str
    by: str
    at: datetime
    own: bool


@dataclass(frozen=True)
class Beside:
    """What was written beside a run, or beside one of its trials."""

    ulid: str
    trial: int | None
    notes: tuple[NoteLine, ...]
    tags: tuple[str, ...]


def notes_of(run: Run, trial: int | None, reader: Any, tags: Sequence[str] | None = None) -> Beside:
    """Notes stand in the order they were written in. `tags`: where a page has them already."""
    notes = Note.objects.filter(run=run.ulid, trial=trial).select_related("by").order_by("id")
    lines = (NoteLine(one.pk, one.text, str(one.by or ""), one.at, one.by_id == reader.pk) for one in notes)
    if tags is None:
        tags = Tag.objects.filter(run=run.ulid, trial=trial).order_by("name").values_list("name", flat=True)
    return Beside(run.ulid, trial, tuple(lines), tuple(tags))
