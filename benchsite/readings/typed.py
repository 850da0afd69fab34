"""Lists narrowed by what a person types: the whole name where there is such a thing, else a part of it."""

from __future__ import annotations

from typing import Any

from django.db.models import Q

WHOLE = 26
OPERATOR = "the operator"
"""Who sent what no account did, as pages say it."""


def benches(among: Any, text: str) -> Any:
    """`among`: benches that the reader may see, so that a hidden one of that name changes nothing."""
    owner, slash, name = text.strip().partition("/")
    if not slash:
        return among.filter(Q(owner__icontains=owner) | Q(name__icontains=owner))
    whole = among.filter(owner=owner, name=name)
    return whole if whole.exists() else among.filter(owner__iendswith=owner, name__istartswith=name)


def by(rows: Any, text: str) -> Any:
    """Rows of an account, or of nobody's."""
    name = text.strip()
    whole = rows.filter(by__username=name)
    if whole.exists():
        return whole
    part = Q(by__username__icontains=name)
    return rows.filter(part | Q(by=None) if len(name) > 2 and name.lower() in OPERATOR else part)


def of_run(text: str, column: str) -> Q:
    """A run by its ULID, by the end of it that lists show, or by its beginning."""
    ulid = text.strip().lstrip("…").upper()
    if len(ulid) == WHOLE:
        return Q(**{column: ulid})
    return Q(**{f"{column}__endswith": ulid}) | Q(**{f"{column}__startswith": ulid})
