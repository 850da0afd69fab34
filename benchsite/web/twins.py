"""The tables' twins as CSV and JSON: the same readings, numbers unrounded, missing ones empty or null."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse

from benchsite.readings.sheet import Sheet
from runner.frames import FORMULA

from .conditional import answer

KINDS = ("csv", "json")


def twin(request: HttpRequest, revision: str, make: Callable[[], Sheet], kind: str) -> HttpResponse:
    """Answer with a table as its address's ending says, under the same conditions as its page."""
    return answer(request, revision, lambda: sent(make(), kind))


def sent(sheet: Sheet, kind: str) -> HttpResponse:
    return as_csv(sheet) if kind == "csv" else as_json(sheet)


def named(sheets: dict[str, Any], name: str) -> Any:
    if name not in sheets:
        raise Http404(f"{name}: there are {', '.join(sheets)}")
    return sheets[name]


def as_csv(sheet: Sheet) -> HttpResponse:
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{sheet.name}.csv"'
    writer = csv.writer(response, lineterminator="\n")
    writer.writerows([safe(value) for value in row] for row in (sheet.columns, *sheet.rows))
    return response


def as_json(sheet: Sheet) -> HttpResponse:
    rows = [dict(zip(sheet.columns, map(finite, row), strict=True)) for row in sheet.rows]
    text = json.dumps({**sheet.about, "columns": sheet.columns, "rows": rows}, ensure_ascii=False, allow_nan=False)
    return HttpResponse(text, content_type="application/json; charset=utf-8")


def safe(value: Any) -> Any:
    """Text that a spreadsheet would run as a formula gets a quote before it; names come from strangers."""
    if isinstance(value, bool):
        return int(value)
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def finite(value: Any) -> Any:
    """JSON has no infinity; an upload may claim one."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
