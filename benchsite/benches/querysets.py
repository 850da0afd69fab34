"""Benches, asked as pages ask."""

from __future__ import annotations

from typing import Any

from django.db import models

from benchsite.accounts.access import bench_visible


class BenchQuerySet(models.QuerySet[Any]):
    def visible_to(self, user: Any) -> BenchQuerySet:
        """Public benches, and those of the reader's groups; a curator sees all."""
        return self.filter(bench_visible(user))

    def named(self, full: str) -> BenchQuerySet:
        owner, _, name = full.partition("/")
        return self.filter(owner=owner, name=name)

    def of_owner(self, owner: str) -> BenchQuerySet:
        return self.filter(owner=owner)
