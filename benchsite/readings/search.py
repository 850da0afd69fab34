"""Find things by what people remember of them: a name, a run's number or id, an axis value, a tag, a word of a note,
the beginning of a digest. Only what the reader may see is looked at."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.db import connection
from django.db.models import Exists, Max, OuterRef, Q, TextField
from django.db.models.functions import Cast

from benchsite.artifacts.models import Blob, BlobUse
from benchsite.benches.models import Scenario, Subject
from benchsite.curation.models import Note, Tag
from benchsite.runs.models import Cell, Trial

from .subjects import axis_order

LIMIT = 20
"""Hits of a kind; more are told, and more words find fewer."""
LONGEST = 100
CUT = 140
ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{3,25}")
TAIL = re.compile(r"…?([0-9A-HJKMNP-TV-Z]{6,25})")
"""The end of a ULID, as lists of runs show it."""
TRIAL = re.compile(r"([0-7][0-9A-HJKMNP-TV-Z]{25})[/ #:]*(?:T/)?(\d{1,9})")
NUMBER = re.compile(r"(?:run\s*|#)?(\d{1,9})", re.IGNORECASE)
DIGEST = re.compile(r"[0-9a-f]{6,64}")


@dataclass(frozen=True)
class Hit:
    """`route` and `args` name its page; `title` and `detail` are words of strangers."""

    route: str
    args: tuple[Any, ...]
    title: str
    detail: str = ""
    status: str = ""


@dataclass(frozen=True)
class Group:
    name: str
    hits: tuple[Hit, ...]
    more: bool = False


@dataclass(frozen=True)
class SearchPage:
    words: str
    groups: tuple[Group, ...] = field(default=())

    @property
    def count(self) -> int:
        return sum(len(group.hits) for group in self.groups)


def search_page(words: str, benches: Any, runs: Any) -> SearchPage:
    """`benches` and `runs`: those the reader may see. At most eight queries, whatever is asked."""
    words = " ".join(words.replace("\0", " ").split())[:LONGEST]
    if not words:
        return SearchPage("")
    groups = (_cut(name, found) for name, found in _kinds(words, benches, runs))
    return SearchPage(words, tuple(group for group in groups if group.hits))


def _kinds(words: str, benches: Any, runs: Any) -> Iterator[tuple[str, Iterator[Hit]]]:
    yield "Trials", _trials(words, runs)
    yield "Runs", _runs(words, runs)
    yield "Benches", _benches(words, benches)
    yield "Scenarios", _scenarios(words, benches)
    yield "Subjects", _subjects(words, benches, runs)
    yield "Tags", _tags(words, runs)
    yield "Notes", _notes(words, runs)
    yield "Artifacts", _artifacts(words, runs)


def _cut(name: str, found: Iterator[Hit]) -> Group:
    hits = [hit for _, hit in zip(range(LIMIT + 1), found, strict=False)]
    return Group(name, tuple(hits[:LIMIT]), len(hits) > LIMIT)


def _each(words: str, *fields: str) -> Q:
    """Every word stands in one of the fields."""
    condition = Q()
    for word in words.split():
        one = Q()
        for name in fields:
            one |= Q(**{f"{name}__icontains": word})
        condition &= one
    return condition


def _begins(name: str, start: str, length: int, last: str) -> Q:
    """What begins so, as a range: an index answers it under any collation. `last` is the alphabet's last character."""
    return Q(**{f"{name}__gte": start, f"{name}__lte": start.ljust(length, last)})


def _runs(words: str, runs: Any) -> Iterator[Hit]:
    condition = Q(pk=None)
    if ULID.fullmatch(words.upper()):
        condition |= _begins("ulid", words.upper(), 26, "Z")
    if tail := TAIL.fullmatch(words.upper()):
        condition |= Q(ulid__endswith=tail[1])
    if number := NUMBER.fullmatch(words):
        condition |= Q(label=int(number[1]))
    if condition == Q(pk=None):
        return
    for run in runs.filter(condition).select_related("bench").order_by("-id")[: LIMIT + 1]:
        yield Hit("run", (run.ulid,), f"Run {run.label}", f"{run.bench} · {run.verdict} · {run.ulid}")


def _trials(words: str, runs: Any) -> Iterator[Hit]:
    asked = TRIAL.fullmatch(words.upper())
    if asked is None:
        return
    found = Trial.objects.filter(run__in=runs.filter(ulid=asked[1]), index=int(asked[2]))
    for trial in found.select_related("run__bench", "scenario"):
        where = f"{trial.scenario.name} · run {trial.run.label} of {trial.run.bench}"
        status = "withdrawn" if trial.withdrawn else trial.outcome or trial.state
        yield Hit("trial", (trial.run.ulid, trial.index), f"Trial {trial.index}", where, status)


def _benches(words: str, benches: Any) -> Iterator[Hit]:
    owner, slash, name = words.partition("/")
    condition = _each(words, "owner", "name", "title")
    if slash:
        condition |= Q(owner__iexact=owner.strip(), name__istartswith=name.strip())
    for bench in benches.filter(condition).order_by("owner", "name")[: LIMIT + 1]:
        yield Hit("bench", (bench.owner, bench.name), str(bench), bench.title)


def _scenarios(words: str, benches: Any) -> Iterator[Hit]:
    found = Scenario.objects.filter(_each(words, "name", "slug"), bench__in=benches.values("pk"))
    for row in found.select_related("bench").order_by("slug", "bench_id")[: LIMIT + 1]:
        yield Hit("bench_scenario", (row.bench.owner, row.bench.name, row.slug), row.name, str(row.bench))


def _of_axes(words: str) -> Q:
    """Looks in the JSON of the axes, whose own signs no one means: a lone quote or colon finds nothing."""
    if not re.search(r"\w", words):
        return Q(pk=None)
    condition = Q()
    for word in words.split():
        name, pair, value = (_as_stored(part) for part in word.partition("="))
        one = Q(text__icontains=_as_stored(word))
        condition &= one | Q(text__icontains=f'"{name}": "{value}') if pair else one
    return condition


def _as_stored(word: str) -> str:
    """SQLite holds JSON as Python writes it, in ASCII; PostgreSQL holds the characters."""
    return json.dumps(word, ensure_ascii=connection.vendor == "sqlite")[1:-1]


def _subjects(words: str, benches: Any, runs: Any) -> Iterator[Hit]:
    """By axis values, or `axis=value`; each leads to its cell in the newest run that the reader sees."""
    all_of_them = Subject.objects.filter(bench__in=benches.values("pk")).annotate(text=Cast("axes", TextField()))
    # asked first: of a condition on text a database expects one subject, and would look up the run of each of its cells
    found = list(all_of_them.filter(_of_axes(words)).values_list("pk", flat=True))
    there = Cell.objects.filter(subject__in=found, run__in=runs.values("pk"))
    # all at once: to seek each subject's newest run by itself takes a second where there are ten thousand runs
    last = there.order_by().values_list("subject").annotate(last=Max("run")).order_by("-last", "subject")
    newest = dict(last[: LIMIT + 1])
    rows = Cell.objects.filter(subject__in=newest, run__in=set(newest.values())).select_related("run", "subject__bench")
    cells = {cell.subject_id: cell for cell in rows if cell.run_id == newest[cell.subject_id]}
    for cell in map(cells.__getitem__, newest):
        axes = [f"{name}={cell.subject.axes[name]}" for name in sorted(cell.subject.axes, key=axis_order)]
        title = " · ".join(axes) or "default"
        yield Hit("run_cell", (cell.run.ulid, cell.key10), title, f"{cell.subject.bench} · run {cell.run.label}")


def _tags(words: str, runs: Any) -> Iterator[Hit]:
    found = Tag.objects.filter(name__icontains=words, run__in=runs.values("ulid")).order_by("name", "-id")
    for tag in found[: LIMIT + 1]:
        yield _beside(tag, tag.name)


def _notes(words: str, runs: Any) -> Iterator[Hit]:
    found = Note.objects.filter(_each(words, "text"), run__in=runs.values("ulid")).order_by("-id")
    for note in found[: LIMIT + 1]:
        yield _beside(note, note.text if len(note.text) <= CUT else f"{note.text[:CUT]}…")


def _beside(row: Any, title: str) -> Hit:
    if row.trial is None:
        return Hit("run", (row.run,), title, f"run {row.run}")
    return Hit("trial", (row.run, row.trial), title, f"trial {row.trial} of run {row.run}")


def _artifacts(words: str, runs: Any) -> Iterator[Hit]:
    """By the beginning of a digest, among what visible runs use."""
    start = words.lower().removeprefix("sha256:")
    if not DIGEST.fullmatch(start):
        return
    used = BlobUse.objects.filter(blob=OuterRef("pk"), run__in=runs.values("pk"))
    found = Blob.objects.filter(_begins("digest", start, 64, "f")).filter(Exists(used)).order_by("digest")
    for blob in found[: LIMIT + 1]:
        yield Hit("artifact", (blob.digest,), blob.digest, f"{blob.size:,} bytes")
