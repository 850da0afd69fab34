"""What one thing alone can be compared with: other runs of its bench, other cells, other subjects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchsite.runs.models import Cell, Run

from .grammar import Of
from .sides import Side, subject_title

MOST = 50


@dataclass(frozen=True)
class Other:
    of: Of
    title: str
    note: str


def others(user: Any, side: Side) -> list[Other]:
    """The likeliest first: the run before, the same run's cells before the same cell of other runs."""
    return {"run": _runs, "cell": _cells, "subject": _subjects}[side.of.kind](user, side)


def _runs(user: Any, side: Side) -> list[Other]:
    seen = Run.objects.visible_to(user).of_bench(side.run.bench).exclude(pk=side.run.pk).select_related("version")
    earlier = list(seen.filter(pk__lt=side.run.pk).newest()[:MOST])
    later = list(seen.filter(pk__gt=side.run.pk).newest()[:MOST])
    return [Other(Of("run", run.ulid), f"Run {run.label}", _note(run, side.run)) for run in [*earlier, *later]][:MOST]


def _note(run: Run, of: Run) -> str:
    same = "same definition" if run.version_id == of.version_id else f"another definition ({run.version.number})"
    return f"{run.state}, {run.verdict}, {same}"


def _cells(user: Any, side: Side) -> list[Other]:
    own, member = side.run, side.members[0]
    here = Cell.objects.filter(run=own).exclude(pk=member.id).select_related("subject").order_by("ordinal")
    runs = Run.objects.visible_to(user).of_bench(own.bench).exclude(pk=own.pk)
    there = Cell.objects.filter(run__in=runs, subject=member.subject).select_related("subject", "run").order_by("-run")
    made = [_cell(cell, own.ulid, "same run") for cell in here[:MOST]]
    return [*made, *(_cell(cell, cell.run.ulid, f"the same cell in run {cell.run.label}") for cell in there[:MOST])]


def _cell(cell: Cell, ulid: str, note: str) -> Other:
    return Other(Of("cell", f"{ulid}/{cell.key10}"), subject_title(cell.subject.axes), note)


def _subjects(user: Any, side: Side) -> list[Other]:
    bench = side.run.bench
    runs = Run.objects.visible_to(user).of_bench(bench).counted()
    subjects = {
        cell.subject_id: cell.subject
        for cell in Cell.objects.filter(run__in=runs).select_related("subject").order_by("-run", "ordinal")[:2000]
    }
    subjects.pop(side.members[0].subject, None)
    made = [(subject_title(one.axes), f"{bench}/{one.hash[:10]}") for one in subjects.values()]
    return [Other(Of("subject", id), title, "") for title, id in made[:MOST]]
