"""What people write beside runs and trials: notes and tags. They are truth; no number depends on them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db import transaction

from benchsite.accounts.access import group_ids, is_curator
from benchsite.curation.models import Note, Tag
from benchsite.runs.models import Run

from . import clean
from .curate import NotAllowed, raise_revision

LONGEST_TAG, LONGEST_NOTE = 60, 5000


def may_annotate(user: Any, run: Run) -> bool:
    """Whoever sent the run, the members of its bench's group, and curators."""
    if user is None or not user.is_authenticated or not user.is_active:
        return False
    return run.by_id == user.pk or is_curator(user) or run.bench.group_id in group_ids(user)


def add_note(run: Run, text: str, *, by: Any, trial: int | None = None) -> Note:
    """Write a note (Markdown) on a run, or on one of its trials. `by` None is the operator at the machine itself."""
    _may(by, run, trial)
    text = text.strip()
    if not text:
        raise NotAllowed("A note needs words.")
    if len(text) > LONGEST_NOTE:
        raise NotAllowed(f"A note holds at most {LONGEST_NOTE:,} characters; this one has {len(text):,}.")
    with transaction.atomic():
        note = Note.objects.create(run=run.ulid, trial=trial, text=clean.text(text), by=by)
        raise_revision(run)
    return note


def drop_note(run: Run, pk: int, *, by: Any) -> None:
    """Take a note back: its author may, and a curator."""
    note = Note.objects.filter(run=run.ulid, pk=pk).first()
    if note is None:
        raise NotAllowed("That note is gone already.")
    if by is not None and note.by_id != by.pk and not is_curator(by):
        raise NotAllowed("Only whoever wrote a note, or a curator, takes it back.")
    with transaction.atomic():
        note.delete()
        raise_revision(run)


def add_tag(run: Run, name: str, *, by: Any, trial: int | None = None) -> None:
    """Tag a run or a trial; a tag that is there already stays as it is."""
    _may(by, run, trial)
    name = _tag(name)
    with transaction.atomic():
        Tag.objects.get_or_create(run=run.ulid, trial=trial, name=name, defaults={"by": by})
        raise_revision(run)


def drop_tag(run: Run, name: str, *, by: Any, trial: int | None = None) -> None:
    _may(by, run, trial)
    with transaction.atomic():
        Tag.objects.filter(run=run.ulid, trial=trial, name=name).delete()
        raise_revision(run)


def bring_tags(run: Run, names: Iterable[object]) -> None:
    """Give a run that arrives the tags it was started with; from then on they are tags like any other."""
    kept = dict.fromkeys(clean.text(str(name), LONGEST_TAG).strip() for name in names)
    Tag.objects.bulk_create([Tag(run=run.ulid, name=name) for name in kept if name], ignore_conflicts=True)


def _tag(name: str) -> str:
    name = " ".join(clean.text(name).split())
    if not 0 < len(name) <= LONGEST_TAG:
        raise NotAllowed(f"A tag has 1 to {LONGEST_TAG} characters; this one has {len(name)}.")
    return name


def _may(by: Any, run: Run, trial: int | None) -> None:
    if by is not None and not may_annotate(by, run):
        raise NotAllowed("Only whoever sent a run, members of its bench's group and curators write beside it.")
    if trial is not None and not run.trials.filter(index=trial).exists():
        raise NotAllowed(f"The run {run.ulid} has no trial {trial}.")
