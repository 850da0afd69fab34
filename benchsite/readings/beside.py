"""What stands beside a run's numbers, in one query: what was observed, flags, reasons, decisions and tags."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Count, F, Max, Q, Sum, TextField, Value
from django.db.models.functions import Cast, Coalesce

from benchsite.curation.models import Decision, Note, Tag
from benchsite.flows import clean
from benchsite.flows.leaks import held_in
from benchsite.runs.models import Run, Tally, Trial
from runner.faults import FLAGS, STATES

from .prepared import Prepared
from .reasons import HEAD, Reason

PLACES = {flag: place for place, flag in enumerate(FLAGS)}
TOLD = tuple(state for state in STATES if state not in ("scored", "queued", "running"))
"""States that have a reason; named one by one, as an index finds them among thousands that were scored."""


class Written(NamedTuple):
    """A note on the run itself."""

    pk: int
    text: str
    by: str
    at: datetime | None
    by_id: int


@dataclass
class Beside:
    """`gaps`: (invalid, missing) of the scored trials by measure, no zeros; `flags`: flagged trials by flag, no zeros.

    `reason` is that of the newest decision on the run itself; `tags` are those that were put on it here.
    """

    gaps: dict[int, tuple[int, int]] = field(default_factory=dict)
    flags: dict[str, int] = field(default_factory=dict)
    reasons: list[Reason] = field(default_factory=list)
    reason: str = ""
    tags: list[str] = field(default_factory=list)
    notes: list[Written] = field(default_factory=list)
    held: int = 0
    """Blobs of the run that wait for a curator; `struck`: its journal is one of them."""
    struck: bool = False


def beside(run: Run) -> Beside:
    """Every part is small: a row a measure, a set of flags, a reason, a decision or a tag."""
    found, seen, newest = Beside(), Counter[str](), 0
    for kind, a, b, c, x, y, of in _BESIDE.rows(run):
        if kind == "measure":
            found.gaps[of] = (x, y)
        elif kind == "flags":
            seen.update(dict.fromkeys(json.loads(a), x))
        elif kind == "reason":
            found.reasons.append(Reason(a, b, c, x))
        elif kind == "tag":
            found.tags.append(a)
        elif kind == "note":
            found.notes.append(Written(x, a, b, clean.moment(c), y))
        elif kind == "held":
            found.held, found.struck = x, bool(y)
        elif x > newest:
            newest, found.reason = x, a
    order = sorted(seen, key=lambda flag: (PLACES.get(flag, len(PLACES)), flag))
    found.flags = {flag: seen[flag] for flag in order}
    found.tags.sort()
    found.notes.sort()
    return found


def _whole(run: Run) -> Any:
    first, *rest = _parts(run)
    return first.union(*rest, all=True)


def _parts(run: Run) -> Iterator[Any]:
    trials = Trial.objects.filter(run=run, withdrawn=False)
    gaps = Tally.objects.filter(Q(invalid__gt=0) | Q(missing__gt=0), run=run)
    # by a number: to write a key as a text for each of thousands of rows takes as long as to read them
    yield _part(gaps, "measure", x=Sum("invalid"), y=Sum("missing"), of=F("measure_id"))
    yield _part(trials.exclude(flags=[]), "flags", F("flags"), x=Count("pk"))
    yield _part(trials.filter(state__in=TOLD), "reason", F("state"), F("fault"), HEAD, x=Count("pk"))
    yield _part(Decision.objects.filter(run=run.ulid, trial=None), "decision", F("reason"), x=Max("pk"))
    yield _part(Tag.objects.filter(run=run.ulid, trial=None), "tag", F("name"), x=Max("pk"))
    own = Count("pk", filter=Q(blob__digest__in=(run.manifest, run.events)))
    yield _part(held_in(run), "held", x=Count("pk"), y=own)
    notes, by = Note.objects.filter(run=run.ulid, trial=None), Coalesce(F("by__username"), Value(""))
    yield _part(notes, "note", F("text"), by, F("at"), x=Max("pk"), y=Coalesce(Max("by_id"), Value(0)))


def _part(rows: Any, kind: str, a: Any = None, b: Any = None, c: Any = None, **numbers: Any) -> Any:
    """Give rows of one shape, whatever they are of: kind, three texts, three numbers."""
    given = {"a": a, "b": b, "c": c}
    # what is the same in all rows is no cast: rows would be grouped by it too
    texts = {name: Value("") if text is None else Cast(text, TextField()) for name, text in given.items()}
    named = rows.order_by().annotate(k=Value(kind), **texts).values_list("k", "a", "b", "c")
    return named.annotate(**{name: numbers.get(name, Value(0)) for name in ("x", "y", "of")})


_BESIDE = Prepared(_whole)
