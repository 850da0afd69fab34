"""What is compared: runs, cells or subjects of one bench, each made of the cells its figures come from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import F, OuterRef, Q, Subquery, Window
from django.db.models.functions import RowNumber

from benchsite.artifacts.models import Blob
from benchsite.benches.models import Bench, Subject
from benchsite.readings.subjects import FIRST, axes_of, axis_order
from benchsite.runs.models import Cell, Run

from .grammar import CompareRefused, Of

RUNS = 20
"""A subject's figures come from at most so many of its accepted runs, the newest."""
SHORTEST = 10
"""Digits of a subject's hash that name it."""


@dataclass(frozen=True)
class Member:
    """A cell that a side's figures come from."""

    id: int
    run: Run
    key10: str
    name: str
    subject: int
    axes: dict[str, str]
    agent_version: str
    isolation: str
    pin: dict[str, Any]


@dataclass(frozen=True)
class Side:
    """`runs` are the runs its members are of, the newest first; `title` tells it from the other sides."""

    of: Of
    title: str
    members: tuple[Member, ...]
    runs: tuple[Run, ...]

    @property
    def run(self) -> Run:
        return self.runs[0]


def sides_of(user: Any, asked: Sequence[Of]) -> tuple[Side, ...] | None:
    """Find what an address names; None where the reader does not see all of it."""
    kind = asked[0].kind
    find = {"run": _of_runs, "cell": _of_cells, "subject": _of_subjects}[kind]
    found = find(user, [of.id for of in asked])
    if found is None:
        return None
    benches = {str(member.run.bench) for members in found for member in members}
    if len(benches) > 1:
        raise CompareRefused(f"Different benches measure different things: {', '.join(sorted(benches))}.")
    titles = _titles(kind, found)
    return tuple(
        Side(of, title, tuple(members), _runs(members)) for of, title, members in zip(asked, titles, found, strict=True)
    )


def _runs(members: Iterable[Member]) -> tuple[Run, ...]:
    seen = {member.run.pk: member.run for member in members}
    return tuple(seen[pk] for pk in sorted(seen, reverse=True))


def _visible(user: Any, ulids: Iterable[str]) -> dict[str, Run]:
    state = Subquery(Blob.objects.filter(digest=OuterRef("manifest")).values("state")[:1])
    runs = Run.objects.visible_to(user).filter(ulid__in=set(ulids)).select_related("bench", "version")
    return {run.ulid: run for run in runs.annotate(manifest_state=state)}


def _of_runs(user: Any, ids: Sequence[str]) -> list[list[Member]] | None:
    runs = _visible(user, ids)
    if any(id not in runs for id in ids):
        return None
    members = _members(runs.values(), Cell.objects.filter(run__in=[run.pk for run in runs.values()]))
    return [[member for member in members if member.run.ulid == id] for id in ids]


def _of_cells(user: Any, ids: Sequence[str]) -> list[list[Member]] | None:
    named = [id.partition("/")[::2] for id in ids]
    runs = _visible(user, [ulid for ulid, _ in named])
    cells = Cell.objects.filter(run__in=[run.pk for run in runs.values()], key10__in=[key10 for _, key10 in named])
    found = {(member.run.ulid, member.key10): member for member in _members(runs.values(), cells)}
    if any(name not in found for name in named):
        return None
    return [[found[name]] for name in named]


def _of_subjects(user: Any, ids: Sequence[str]) -> list[list[Member]] | None:
    keys = _subjects(user, [[*id.split("/"), "", "", ""][:3] for id in ids])
    if None in keys:
        return None
    visible = Run.objects.visible_to(user).counted()
    newest = Window(RowNumber(), partition_by="subject", order_by=[F("run").desc(), F("ordinal").asc()])
    rows = Cell.objects.filter(run__in=visible.values("pk"), subject__in=keys).annotate(newest=newest)
    cells = sorted(rows.filter(newest__lte=RUNS).values_list("newest", "pk", "run_id", "subject_id"))
    # most of the runs are of several subjects: whole rows are read only once
    taken = [[(cell, run) for _, cell, run, subject in cells if subject == key] for key in keys]
    runs = list(visible.filter(pk__in={run for own in taken for _, run in own}).select_related("bench", "version"))
    chosen = Cell.objects.filter(pk__in={cell for own in taken for cell, _ in own}, run__in=[run.pk for run in runs])
    by_cell = {member.id: member for member in _members(runs, chosen)}
    found = [[by_cell[cell] for cell, _ in own if cell in by_cell] for own in taken]
    return found if all(found) else None


def _subjects(user: Any, named: Sequence[Sequence[str]]) -> list[int | None]:
    """Keys of subjects named by owner, name and the start of a hash, None for each that there is not: one query."""
    if any(len(start) < SHORTEST for _, _, start in named):
        return [None]
    wanted = Q()
    for owner, name, start in named:
        wanted |= Q(bench__owner=owner, bench__name=name, hash__startswith=start)
    rows = Subject.objects.filter(wanted, bench__in=Bench.objects.visible_to(user)).order_by("id")
    seen = list(rows.values_list("pk", "bench__owner", "bench__name", "hash"))
    return [
        next((pk for pk, *bench, hash in seen if bench == [owner, name] and hash.startswith(start)), None)
        for owner, name, start in named
    ]


def _members(runs: Iterable[Run], cells: Any) -> list[Member]:
    by_id = {run.pk: run for run in runs}
    names = ("pk", "run_id", "key10", "name", "subject_id", "subject__axes", "agent_version", "isolation", "pin")
    rows = cells.order_by("run_id", "ordinal").values_list(*names)
    return [Member(pk, by_id[run], *own, pin if isinstance(pin, dict) else {}) for pk, run, *own, pin in rows]


def _titles(kind: str, found: Sequence[Sequence[Member]]) -> list[str]:
    if kind == "run":
        return [f"Run {members[0].run.label}" for members in found]
    varying = [name for name, _ in axes_of([members[0].axes for members in found]).varying]
    names = [subject_title(members[0].axes, varying) for members in found]
    labels = {members[0].run.label for members in found}
    if kind == "subject" or (len(labels) == 1 and len(set(names)) == len(names)):
        return names
    return [f"{name}, run {members[0].run.label}" for name, members in zip(names, found, strict=True)]


def subject_title(axes: dict[str, str], varying: Sequence[str] = ()) -> str:
    """Name a subject by the axes that vary; where none does, by its agent and model, else by all it has."""
    names = list(varying) or [name for name in FIRST if name in axes] or sorted(axes, key=axis_order)
    return " · ".join(axes[name] for name in names if name in axes) or "default"
