"""Queries of several parts, written once a process: the ORM takes ten times as long to write one as a database takes
to answer it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from django.db import connection

from benchsite.runs.models import Run

from .wholerows import fetched

STAND_INS = {
    **{name: 2**62 + place for place, name in enumerate(("pk", "bench_id", "version_id"))},
    **{name: f"<{name}>" for name in ("ulid", "manifest", "events")},
}
"""Values that no run has, by the attribute in whose place they stand when a query is written."""


class _Of(NamedTuple):
    """In the place of a value: this attribute of the run that is asked about."""

    name: str


class Prepared:
    """A query about one run; `rows` asks it. Values come as the database gives them: JSON is asked for as text."""

    def __init__(self, query: Callable[[Run], Any]) -> None:
        self._query = query
        self._known: dict[str, tuple[str, list[Any]]] = {}

    def rows(self, run: Run) -> list[tuple[Any, ...]]:
        sql, values = self._known.get(connection.alias) or self._write(connection.alias)
        given = [getattr(run, value.name) if isinstance(value, _Of) else value for value in values]
        return fetched(connection, sql, given)

    def _write(self, alias: str) -> tuple[str, list[Any]]:
        sql, values = self._query(Run(**STAND_INS)).query.get_compiler(alias).as_sql()
        places = {value: _Of(name) for name, value in STAND_INS.items()}
        named = [places.get(value, value) if isinstance(value, int | str) else value for value in values]
        self._known[alias] = (sql, named)
        return sql, named
