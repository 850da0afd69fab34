"""Thousands of rows at once: PostgreSQL sends them as they are, as it takes longer to write numbers as text and to
read them again than to find them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import connections


def whole_rows(query: Any) -> list[tuple[Any, ...]]:
    """All rows of a `values_list`. Values come as the database gives them: JSON is asked for as text."""
    connection = connections[query.db]
    if connection.vendor != "postgresql":
        return list(query)
    try:
        sql, values = query.query.get_compiler(query.db).as_sql()
    except EmptyResultSet:  # a condition that nothing meets is not asked
        return []
    return fetched(connection, sql, values)


def fetched(connection: Any, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
    """The same for a query that is written already."""
    if connection.vendor != "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(sql, values)
            return list(cursor.fetchall())
    with _cursor(connection) as cursor:
        cursor.execute(connection.ops.compose_sql(sql, values))
        return list(cursor.fetchall())


def _cursor(connection: Any) -> Any:
    """A cursor as Django makes them, but for what its rows are sent as."""
    from psycopg import Cursor
    from psycopg.pq import Format

    connection.ensure_connection()
    cursor = Cursor(connection.connection)
    cursor.format = Format.BINARY
    return (connection.make_debug_cursor if connection.queries_logged else connection.make_cursor)(cursor)
