"""Many rows at once: COPY on PostgreSQL, executemany on SQLite. Callers hold the transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any

from django.db import connection, models

from . import clean

Row = Sequence[Any]
BLOBS_LOCK = 0x626C6F6273
"""A number that nothing else locks in this database."""


def postgresql() -> bool:
    return connection.vendor == "postgresql"


def new_ids(model: type[models.Model], count: int) -> list[int]:
    """Take `count` fresh primary keys. SQLite's write lock is held already (transactions are IMMEDIATE)."""
    if not count:
        return []
    table = model._meta.db_table
    with connection.cursor() as cursor:
        if postgresql():
            sequence = "(SELECT pg_get_serial_sequence(%s, 'id')::regclass AS name OFFSET 0)"
            cursor.execute(f"SELECT nextval(s.name) FROM {sequence} s, generate_series(1, %s)", [table, count])
            return [row[0] for row in cursor.fetchall()]
        cursor.execute(f'SELECT max(coalesce((SELECT max(id) FROM "{table}"), 0), '
                       "coalesce((SELECT seq FROM sqlite_sequence WHERE name = %s), 0))", [table])  # fmt: skip
        first = cursor.fetchone()[0] + 1
    return list(range(first, first + count))


def wait_for_no_disk() -> None:
    """Let this transaction's commit return before the disk has it: what a power cut takes is read again."""
    if postgresql():
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL synchronous_commit = off")


def hold_blobs(*, alone: bool = False) -> None:
    """Until this transaction ends, any number may come to use blobs, or one alone delete those that nobody uses.

    SQLite's write lock, held already, does as much.
    """
    if postgresql():
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT pg_advisory_xact_lock{'' if alone else '_shared'}({BLOBS_LOCK})")


class Table:
    """Some columns of a model's table, written in bulk in the order given."""

    def __init__(self, model: type[models.Model], *fields: str) -> None:
        self.model = model
        found = [model._meta.get_field(name) for name in fields]
        self.name = model._meta.db_table
        self.columns = [str(field.column) for field in found]
        self._kinds = [_kind(field) for field in found]

    def insert(self, rows: Iterable[Row]) -> None:
        if postgresql():
            self._copy(f'COPY "{self.name}" ({self._listed()}) FROM STDIN', rows)
            return
        self._many(f'INSERT INTO "{self.name}" ({self._listed()}) VALUES ({self._marks()})', rows)

    def insert_new(self, rows: Iterable[Row]) -> None:
        """Insert rows that meet no unique constraint; those that are there already stay as they are."""
        rows = list(rows)
        if not rows:
            return
        if postgresql():
            with self._staged(rows) as stage:
                self._run(
                    f'INSERT INTO "{self.name}" ({self._listed()}) SELECT {self._listed()} FROM {stage} '
                    "ON CONFLICT DO NOTHING"
                )
            return
        self._many(f'INSERT OR IGNORE INTO "{self.name}" ({self._listed()}) VALUES ({self._marks()})', rows)

    def update(self, rows: Sequence[Row]) -> None:
        """Overwrite rows found by the first column."""
        if not rows:
            return
        key, others = self.columns[0], self.columns[1:]
        if postgresql():
            sets = ", ".join(f'"{c}" = stage."{c}"' for c in others)
            with self._staged(rows) as stage:
                self._run(f'UPDATE "{self.name}" AS t SET {sets} FROM {stage} AS stage WHERE t."{key}" = stage."{key}"')
            return
        sets = ", ".join(f'"{c}" = %s' for c in others)
        self._many(f'UPDATE "{self.name}" SET {sets} WHERE "{key}" = %s', [(*row[1:], row[0]) for row in rows], turn=1)

    def _listed(self) -> str:
        return ", ".join(f'"{column}"' for column in self.columns)

    def _marks(self) -> str:
        return ", ".join(["%s"] * len(self.columns))

    def _run(self, sql: str) -> None:
        with connection.cursor() as cursor:
            cursor.execute(sql)

    def _copy(self, sql: str, rows: Iterable[Row]) -> None:
        convert = _converter(self._kinds, {"json": _json})
        with connection.cursor() as cursor, cursor.copy(sql) as copy:
            for row in rows:
                copy.write_row(convert(row) if convert else row)

    def _many(self, sql: str, rows: Iterable[Row], turn: int = 0) -> None:
        """`turn` says by how many places the rows' columns were rotated to the left."""
        kinds = self._kinds[turn:] + self._kinds[:turn]
        convert = _converter(kinds, {"json": _json, "time": _time})
        with connection.cursor() as cursor:
            cursor.executemany(sql, map(convert, rows) if convert else rows)

    def _staged(self, rows: Iterable[Row]) -> _Stage:
        return _Stage(self, rows)


class _Stage:
    """A temporary table with the rows in it, PostgreSQL only."""

    def __init__(self, table: Table, rows: Iterable[Row]) -> None:
        self.table, self.rows, self.name = table, rows, f'"stage_{table.name}"'

    def __enter__(self) -> str:
        listed = self.table._listed()
        self.table._run(
            f"CREATE TEMPORARY TABLE {self.name} ON COMMIT DROP AS "
            f'SELECT {listed} FROM "{self.table.name}" WITH NO DATA'
        )
        self.table._copy(f"COPY {self.name} ({listed}) FROM STDIN", self.rows)
        return self.name

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None:
            self.table._run(f"DROP TABLE {self.name}")


def _kind(field: Any) -> str:
    if isinstance(field, models.JSONField):
        return "json"
    return "time" if isinstance(field, models.DateTimeField) else ""


def _json(value: Any) -> Any:
    return None if value is None else clean.dumped(value)


def _time(value: Any) -> Any:
    return connection.ops.adapt_datetimefield_value(value) if isinstance(value, datetime) else value


def _converter(kinds: list[str], how: dict[str, Callable[[Any], Any]]) -> Callable[[Row], Row] | None:
    """Make a function that turns a row's odd columns, or None when there are none."""
    places = [(place, how[kind]) for place, kind in enumerate(kinds) if kind in how]
    if not places:
        return None

    def convert(row: Row) -> Row:
        turned = list(row)
        for place, turn in places:
            turned[place] = turn(turned[place])
        return turned

    return convert
