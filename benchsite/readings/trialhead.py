"""What stands above every tab of a trial: which one it is, what became of it, and its neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, OuterRef, Subquery
from django.db.models.functions import Coalesce

from benchsite.artifacts.models import Artifact
from benchsite.diffs.files import Changed
from benchsite.runs.models import Attempt, Run, Trial
from runner.faults import FAULTS
from runner.worlds.aside import shown

SIBLINGS = 100


@dataclass(frozen=True)
class Sibling:
    """One trial of the same case in the same cell."""

    index: int
    number: int
    state: str
    here: bool


@dataclass(frozen=True)
class Seen:
    """A trial that the reader may see, with its attempts."""

    trial: Trial
    run: Run
    attempts: tuple[Attempt, ...]

    @property
    def ulid(self) -> str:
        return self.run.ulid

    @property
    def index(self) -> int:
        return self.trial.index

    @property
    def final(self) -> Attempt | None:
        return self.attempts[-1] if self.attempts else None

    @property
    def shown_state(self) -> str:
        """The word for the chip: a scored trial shows its outcome."""
        return shown_state(self.trial)

    @property
    def axes(self) -> list[tuple[str, str]]:
        return sorted(self.trial.cell.subject.axes.items())

    @property
    def changed_paths(self) -> int | None:
        """Count what the agent's record lists, links too; None where there is no record."""
        return self.stage_counts().get("agent") if self.trial.changes else None

    @property
    def changed_links(self) -> int:
        """Count the links the agent made or changed: they are none of added, modified and deleted."""
        counts = ((self.record().get("changes") or {}).get("agent") or {}).get("counts") or {}
        return int(counts.get("links") or 0)

    @property
    def ignored(self) -> tuple[str, ...]:
        """Name what the last attempt's agent touched and the capture ignores; no record of changes has it."""
        rows = [row for row in self.record().get("requests") or [] if isinstance(row, dict)]
        return tuple(dict.fromkeys(shown(str(name)) for row in rows for name in row.get("ignored") or ()))

    @property
    def fault_sentence(self) -> str:
        known = FAULTS.get(self.trial.fault)
        return known.sentence if known else ""

    def stage_counts(self) -> dict[str, int]:
        """Count the changed paths of each stage, from the counts that stand on the attempt."""
        stages = self.record().get("changes") or {}
        kinds = ("added", "modified", "deleted", "links")
        return {name: sum(int((row.get("counts") or {}).get(k) or 0) for k in kinds) for name, row in stages.items()}

    def record(self, number: int | None = None) -> dict[str, Any]:
        """Give an attempt's own record (replay's JSON): the numbered one's, else the last one's."""
        chosen = [a for a in self.attempts if a.number == number] if number else list(self.attempts[-1:])
        return dict(chosen[0].record) if chosen else {}


@dataclass(frozen=True)
class Head(Seen):
    """`previous`, `following` and `next_unsolved` are indexes within the run."""

    siblings: tuple[Sibling, ...]
    of: int
    previous: int | None
    following: int | None
    next_unsolved: int | None
    artifacts: int


def shown_state(trial: Trial) -> str:
    return trial.outcome if trial.state == "scored" and trial.outcome else trial.state


def find(user: Any, ulid: str, index: int) -> Head | None:
    """Find a trial of a run the reader may see; None whether it is forbidden or absent."""
    seen = Run.objects.visible_to(user).filter(ulid=ulid)
    related = ("run__bench", "run__version", "cell__subject", "scenario", "case")
    attached = Artifact.objects.filter(trial=OuterRef("pk")).order_by().values("trial").annotate(n=Count("pk"))
    # the id twice: with so many tables PostgreSQL does not look into `seen` for where to begin
    trials = Trial.objects.filter(run__ulid=ulid, run__in=seen, index=index).select_related(*related)
    # not first(): it sorts, and so goes by another index than the one that finds the row
    trial = next(iter(trials.annotate(attached=Subquery(attached.values("n")))), None)
    if trial is None:
        return None
    slot = list(
        Trial.objects.filter(run=trial.run, cell=trial.cell, case=trial.case).order_by("number")[: SIBLINGS + 1]
    )
    last = max(int(trial.run.counts.get("planned", 0)) - 1, slot[-1].index)
    return Head(
        trial=trial,
        run=trial.run,
        attempts=tuple(trial.tries.order_by("number")),
        siblings=tuple(Sibling(t.index, t.number, shown_state(t), t.index == index) for t in slot[:SIBLINGS]),
        of=slot[-1].number,
        previous=index - 1 if index > 0 else None,
        following=index + 1 if index < last else None,
        next_unsolved=_next_unsolved(trial),
        artifacts=trial.attached or 0,
    )


def _next_unsolved(trial: Trial) -> int | None:
    """Find the next trial in the run that has something to look into; after the last comes the first again."""
    unsolved = trial.run.trials.with_outcome("unsolved").exclude(index=trial.index)
    first, after = unsolved.order_by("index"), unsolved.filter(index__gt=trial.index).order_by("index")
    place = Coalesce(Subquery(after.values("index")[:1]), Subquery(first.values("index")[:1]))
    found: int | None = Trial.objects.filter(pk=trial.pk).values_list(place, flat=True).get()
    return found


def totals(changes: tuple[Changed, ...]) -> dict[str, int]:
    """Count changed files by letter."""
    counts: dict[str, int] = {}
    for change in changes:
        counts[change.letter] = counts.get(change.letter, 0) + 1
    return counts
