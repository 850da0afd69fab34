"""Leases, asked as a sweeper asks."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import models


class LeaseQuerySet(models.QuerySet[Any]):
    def open(self) -> LeaseQuerySet:
        return self.filter(done=False)

    def of_run(self, run: str) -> LeaseQuerySet:
        return self.filter(run=run)

    def expired(self, now: datetime) -> LeaseQuerySet:
        return self.open().filter(until__lt=now)

    def held_by(self, holder: str) -> LeaseQuerySet:
        return self.filter(holder=holder)
