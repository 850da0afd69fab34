"""May you? Forbidden and absent give the same answer, at the same cost: one query that finds a row or does not."""

from __future__ import annotations

from typing import Any, TypeVar

from django.db.models import OuterRef, Subquery
from django.http import Http404, HttpRequest

from benchsite.artifacts.models import Blob
from benchsite.benches.models import Bench
from benchsite.runs.models import Run

T = TypeVar("T")


def found(thing: T | None) -> T:
    """Pass what is there."""
    if thing is None:
        raise Http404
    return thing


def run_for(request: HttpRequest, ulid: str) -> Run:
    held = Blob.objects.filter(digest=OuterRef("manifest")).values("state")[:1]
    runs = Run.objects.visible_to(request.user).select_related("bench", "version", "by")
    parent = Run.objects.visible_to(request.user).filter(ulid=OuterRef("parent")).values("label")[:1]
    runs = runs.annotate(manifest_state=Subquery(held), parent_label=Subquery(parent))
    run: Run | None = runs.filter(ulid=ulid).first()
    return found(run)


def bench_for(request: HttpRequest, owner: str, name: str) -> Bench:
    bench: Bench | None = Bench.objects.visible_to(request.user).filter(owner=owner, name=name).first()
    return found(bench)


def benches_for(request: HttpRequest) -> Any:
    return Bench.objects.visible_to(request.user)


def runs_for(request: HttpRequest) -> Any:
    return Run.objects.visible_to(request.user)
