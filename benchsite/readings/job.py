"""A large run on its way in: how far it is, or how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchsite.accounts.access import is_curator
from benchsite.flows.incoming import KIND, ahead_of
from benchsite.flows.upload import WRITING
from benchsite.jobs.models import Job
from benchsite.runs.models import Run

from . import words


@dataclass(frozen=True)
class JobPage:
    """`ahead` runs are taken in before this one; `run` is what it became."""

    job: Job
    ahead: int

    @property
    def going(self) -> bool:
        return self.job.state in (Job.State.QUEUED, Job.State.RUNNING)

    @property
    def run(self) -> str:
        return str(self.job.payload.get("run", ""))

    @property
    def state(self) -> str:
        """Say in a word where it stands: queued, checking, ingesting, done or refused."""
        if self.job.state == Job.State.RUNNING:
            return "ingesting" if self.job.message == WRITING else "checking"
        return "refused" if self.job.state == Job.State.FAILED else str(self.job.state)

    @property
    def verdict(self) -> str:
        """Give the curators' verdict on the run it became."""
        found = Run.objects.filter(ulid=self.run).values_list("verdict", flat=True).first() if self.run else None
        return found or ""

    @property
    def held(self) -> str:
        """Say that something of it is held back."""
        held = self.job.payload.get("held", 0)
        return words.held(held) if held else ""

    @property
    def percent(self) -> int:
        return min(100, 100 * self.job.done // self.job.total) if self.job.total else 0


def job_page(user: Any, key: str) -> JobPage | None:
    """Find a job; None for everybody but who began it and curators."""
    job = Job.objects.filter(key=key, kind=KIND).select_related("by").first()
    if job is None or not (is_curator(user) or (job.by_id is not None and job.by_id == user.pk)):
        return None
    return JobPage(job, ahead_of(job) if job.state == Job.State.QUEUED else 0)
