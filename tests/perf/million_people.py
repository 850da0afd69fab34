"""What people leave in a database of a million trials: tags, notes, decisions, accounts, jobs, uploads, runs and files
that wait for a curator."""

from __future__ import annotations

from itertools import islice
from typing import Any

from runner.digests import sha256

ACCOUNTS, JOBS, UPLOADS, HELD = 300, 5_000, 5_000, 1_000
TAGGED, NOTED, DECIDED, SUBMITTED = 5_000, 20_000, 5_000, 400
"""Runs with a tag, notes on trials, decisions, and runs of the last bench that nobody has judged."""


def live_here(found: dict[str, Any]) -> None:
    """Fill what is told by no journal. Everybody is one of a few hundred, everything in the order of time."""
    from benchsite.accounts.models import User
    from benchsite.runs.models import Run

    curator = User.objects.create_superuser("curator")
    people = [curator, *User.objects.bulk_create([User(username=f"reader{n}") for n in range(ACCOUNTS)])]
    runs = list(Run.objects.order_by("id").values_list("ulid", flat=True))
    _tell(runs, people, found["large"].ulid)
    _work(runs, people)
    last = Run.objects.order_by("-id").values_list("pk", flat=True)[:SUBMITTED]
    Run.objects.filter(pk__in=list(last)).update(verdict="submitted")
    _hold(found["large"])


def _tell(runs: list[str], people: list[Any], large: str) -> None:
    from benchsite.curation.models import BlobDecision, Decision, Note, Tag

    whose = [people[n % len(people)] for n in range(NOTED)]
    tags = [Tag(run=run, name="nightly" if n % 2 else f"week-{n % 60}") for n, run in enumerate(runs[:TAGGED])]
    tags += [Tag(run=large, trial=n, name="look" if n % 7 else "odd") for n in range(0, 36_000, 12)]
    Tag.objects.bulk_create(tags, batch_size=2000)
    notes = [Note(run=runs[n % len(runs)], trial=n % 96, text="Looks right.", by=by) for n, by in enumerate(whose)]
    notes += [Note(run=large, trial=n % 3 or None, text=f"Note {n}", by=by) for n, by in enumerate(whose[:60])]
    Note.objects.bulk_create(notes, batch_size=2000)
    decided = zip(runs, whose[:DECIDED], strict=False)
    Decision.objects.bulk_create([Decision(run=run, verdict="accept", reason="Fine.", by=by) for run, by in decided])
    BlobDecision.objects.bulk_create(
        [BlobDecision(digest=sha256(f"{n}".encode()), verdict="release", reason="No secret.") for n in range(HELD)]
    )


def _work(runs: list[str], people: list[Any]) -> None:
    from benchsite.flows.incoming import KIND
    from benchsite.jobs.models import Job, Upload

    taken = [Job(kind=KIND, state="done", payload={"run": run}, by=people[0]) for run in runs[:JOBS]]
    Job.objects.bulk_create(taken)
    sent = islice(zip(runs, people * 100, strict=False), UPLOADS)
    Upload.objects.bulk_create([Upload(run=run, bench="perf/small1", state="committed", by=by) for run, by in sent])


def _hold(run: Any) -> None:
    from benchsite.artifacts.models import Blob, BlobUse

    named = [Blob(digest=sha256(f"held {n}".encode()), size=n, state="held") for n in range(HELD)]
    held = Blob.objects.bulk_create(named)
    BlobUse.objects.bulk_create([BlobUse(blob=blob, bench=run.bench, run=run) for blob in held])
