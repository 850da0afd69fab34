"""Files held back because they look as if they held a secret: what was found, and whose they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import OuterRef, Subquery

from benchsite.artifacts.models import Blob, BlobUse, Finding
from benchsite.benches.models import Bench
from benchsite.readings import typed
from benchsite.readings.sheet import Sheet
from benchsite.runs.models import Run

from .asked import Asked, Page

FINDINGS = 5


@dataclass(frozen=True)
class Row:
    """`run` is one of the runs that use it; the artifact's page names the others. A journal can't be redacted."""

    blob: Any
    found: tuple[Finding, ...]
    more: int
    run: Run | None

    @property
    def journal(self) -> bool:
        return self.run is not None and self.blob.digest in (self.run.manifest, self.run.events)


def files_page(asked: Asked) -> Page[Row]:
    found = Blob.objects.held()
    uses = BlobUse.objects.filter(blob=OuterRef("pk"))
    if asked.run:
        of_run = typed.of_run(asked.run, "run__ulid")
        found, uses = found.filter(pk__in=BlobUse.objects.filter(of_run).values("blob")), uses.filter(of_run)
    if asked.bench:
        benches = typed.benches(Bench.objects.all(), asked.bench)
        uses = uses.filter(bench__in=benches)
        found = found.filter(pk__in=BlobUse.objects.filter(bench__in=benches).values("blob"))
    # rows joined and then told apart would each be asked for their run before they are sorted and the first ones taken
    blobs, onward = asked.part(found.annotate(run_pk=Subquery(uses.values("run")[:1])), Blob.objects)
    return Page(asked, tuple(_rows(blobs)), found.count(), onward)


def _rows(blobs: Sequence[Any]) -> Iterator[Row]:
    runs = Run.objects.select_related("bench", "by").in_bulk([blob.run_pk for blob in blobs if blob.run_pk])
    findings: dict[int, list[Finding]] = {}
    for one in Finding.objects.filter(blob__in=blobs):
        findings.setdefault(one.blob_id, []).append(one)
    for blob in blobs:
        found = findings.get(blob.pk, [])
        yield Row(blob, tuple(found[:FINDINGS]), max(0, len(found) - FINDINGS), runs.get(blob.run_pk))


def sheet(page: Page[Row]) -> Sheet:
    head = ("digest", "size", "received_at", "found", "bench", "run", "by")
    rows = (
        (row.blob.digest, row.blob.size, row.blob.created_at.isoformat(), "; ".join(map(str, row.found)),
         *((str(row.run.bench), row.run.ulid, str(row.run.by) if row.run.by else None) if row.run else (None,) * 3))
        for row in page.rows
    )  # fmt: skip
    return Sheet("curate-files", head, rows, {"table": "files", "total": page.total, "after": page.next})
