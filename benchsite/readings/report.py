"""One self-contained HTML file of a run or of a comparison: opens from disk, prints, asks nothing of any network."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.template.loader import render_to_string

from benchsite.runs.models import Run
from runner.errors import RunnerError

from .compare.numbers import NumbersPage
from .matrix import SORTS
from .question import Question
from .run import run_page
from .still import still

SHEETS = ("tokens", "base", "layout", "sections", "components", "tables", "blocks", "code", "charts", "matrix", "pages",
          "series", "run", "numbers", "report", "print")  # fmt: skip


def run_report(run: Run, asked: Question, address: str = "") -> str:
    """Give a run's report as the page shows it; links lead to `address`, the page's own, where it is known."""
    page = run_page(run, replace(asked, fixed=False, panels="all"))
    if page is None:
        raise RunnerError("The run has no such axis, value, scenario or measure; ask for one that its page offers.")
    title = f"Run {run.label} of {run.bench}"
    return _report(
        "report/run.html", {"page": page, "title": title, "run": run, "sorts": SORTS}, address, run.finished_at
    )


def comparison_report(page: NumbersPage, address: str = "") -> str:
    """Give a comparison's report: all its cases that the address chose, not one page of them."""
    title = f"{' against '.join(column.side.title for column in page.columns)}, {page.bench}"
    rows = [{"line": line, "squares": [(square, "", "") for square in line.squares]} for line in page.chosen]
    columns = [{"it": column} for column in page.columns]
    return _report("report/compare.html", {"page": page, "title": title, "rows": rows, "columns": columns}, address)


def _report(template: str, context: dict[str, Any], address: str, ended: datetime | None = None) -> str:
    """No clock is asked: the same figures make the same bytes, so that a kept copy and a rebuild are equal to them."""
    inner = still(render_to_string(template, context), address)
    frame = {"inner": inner, "title": context["title"], "css": style(), "ended": ended, "address": address}
    return render_to_string("report/frame.html", frame)


@cache
def style() -> str:
    """All the style a report needs in one text; what could close its element or fetch anything is refused."""
    folder = Path(settings.BASE_DIR) / "static" / "css"
    text = "\n".join((folder / f"{sheet}.css").read_text(encoding="utf-8") for sheet in SHEETS)
    if "</" in text or "url(" in text or "@import" in text:
        raise RunnerError("A style sheet fetches something or holds markup, so no report can be made of it.")
    return text
