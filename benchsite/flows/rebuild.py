"""Drop what is a projection and fold the kept journals again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db import transaction

from benchsite.accounts.models import User
from benchsite.benches.models import Bench
from benchsite.runs.models import Run
from runner.errors import JournalError

from .erase import erase_runs, erase_unused
from .ingest import take
from .sources import Source

KEPT = ("id", "created_at", "revision")
"""Columns a run keeps: its place among the newest, and a revision that no page was made for yet."""


def rebuild(say: Callable[[str], None]) -> int:
    """Rebuild every bench in a transaction of its own; gives the number of runs."""
    return sum(_bench(bench, say) for bench in Bench.objects.all())


def _bench(bench: Bench, say: Callable[[str], None]) -> int:
    with transaction.atomic():
        held = Run.objects.select_for_update().filter(bench=bench)  # an ingest beside waits before it writes anything
        runs = list(held.order_by("id").values(*KEPT, "ulid", "by", "manifest", "events"))
        erase_runs(Run.objects.filter(bench=bench))
        erase_unused(bench)
        for run in runs:
            _run(run)
            say(f"{bench}: run {run['ulid']} is folded again.")
    return len(runs)


def _run(run: dict[str, Any]) -> None:
    kept = {name: run[name] for name in KEPT}
    by = User.objects.filter(pk=run["by"]).first() if run["by"] else None
    try:
        take(Source.of_store(run["manifest"], run["events"]), by=by, kept=kept, keep_events=bool(run["events"]))
    except JournalError as error:
        raise JournalError(
            f"The run {run['ulid']} cannot be folded again, so its bench stays as it is: {error}"
        ) from error
