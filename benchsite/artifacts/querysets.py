"""Blobs that wait, and uses of blobs, asked by access, by collection and by "used by"."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Exists, OuterRef

from benchsite.runs.models import Run


class BlobQuerySet(models.QuerySet[Any]):
    def held(self) -> BlobQuerySet:
        """What waits for a curator, asked so that the index of all but present blobs finds the few."""
        return self.exclude(state="present").filter(state="held")


class BlobUseQuerySet(models.QuerySet[Any]):
    def of_digest(self, digest: str) -> BlobUseQuerySet:
        return self.filter(blob__digest=digest)

    def readable_by(self, user: Any) -> BlobUseQuerySet:
        """Uses within runs the reader sees; asked per use, so that one blob used everywhere stays cheap."""
        return self.filter(Exists(Run.objects.visible_to(user).filter(pk=OuterRef("run_id"))))

    def in_bench(self, bench: Any, digests: list[str]) -> BlobUseQuerySet:
        return self.filter(bench=bench, blob__digest__in=digests)
