"""How much waits for a curator: one query, asked for curators alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Value

from benchsite.accounts.access import is_curator
from benchsite.artifacts.models import Blob
from benchsite.runs.models import Run


@dataclass(frozen=True)
class Waiting:
    runs: int
    files: int

    @property
    def all(self) -> int:
        return self.runs + self.files


def waiting(user: Any) -> Waiting | None:
    """Count submitted runs and files held back; None for whoever decides nothing. Kept on the user for the request."""
    if not is_curator(user):
        return None
    if not hasattr(user, "_benchsite_waiting"):
        user._benchsite_waiting = _asked()
    found: Waiting = user._benchsite_waiting
    return found


def _asked() -> Waiting:
    runs = _counted(Run.objects.submitted(), "runs")
    found = dict(runs.union(_counted(Blob.objects.held(), "files"), all=True))
    return Waiting(found.get("runs", 0), found.get("files", 0))


def _counted(rows: Any, name: str) -> Any:
    return rows.order_by().annotate(what=Value(name)).values_list("what").annotate(many=Count("pk"))
