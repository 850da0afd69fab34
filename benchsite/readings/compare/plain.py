"""A comparison as plain values: what the API answers, and the twins' tables in one."""

from __future__ import annotations

from typing import Any

from .numbers import NumbersPage
from .sheets import SHEETS


def plain(page: NumbersPage) -> dict[str, Any]:
    """Give every table of the page; cases are those the address chooses, all of them at once."""
    tables = {name: make(page) for name, make in SHEETS.items()}
    return {
        "format": "benchsite/comparison/1",
        "bench": str(page.bench),
        "kind": page.kind,
        "measure": page.measure.key if page.measure else None,
        "policy": {"name": page.policy.name, "title": page.policy.title, "sentence": page.policy.sentence},
        "notices": [{"level": notice.level, "text": notice.text} for notice in page.notices],
        **{name: [dict(zip(table.columns, row, strict=True)) for row in table.rows] for name, table in tables.items()},
    }
