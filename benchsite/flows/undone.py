"""A run that turns out unfit half-way leaves nothing behind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.contrib.auth.models import Group
from django.db import OperationalError, transaction

from benchsite.benches.models import Bench
from benchsite.curation.models import RunLabel
from benchsite.runs.models import Run

from .erase import erase_runs, erase_unused
from .folding import Busy


@contextmanager
def undone(run: str, bench: str, *, there: bool) -> Iterator[None]:
    """Where a run turns out unfit, take away again what was made for it: run, bench and the owner's group. `there`: the
    run was here before, and stays."""
    benches, groups = Bench.objects.named(bench), Group.objects.filter(name=bench.partition("/")[0])
    had = (True, True) if there else (benches.exists(), groups.exists())
    try:
        yield
    except (Busy, OSError, OperationalError):  # another one is at it, or the machine is at its end: nothing is unfit
        raise
    except Exception:
        if not there:
            with transaction.atomic():
                _take_away(run)
                if not had[0]:
                    benches.delete()
                if had == (False, False):
                    groups.delete()
        raise


def _take_away(ulid: str) -> None:
    for run in Run.objects.filter(ulid=ulid).select_related("bench"):
        erase_runs(Run.objects.filter(pk=run.pk))
        erase_unused(run.bench)
    RunLabel.objects.filter(run=ulid).delete()
