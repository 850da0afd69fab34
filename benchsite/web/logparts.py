"""A log's lines as rows, built in Python: a thousand of them make a page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from benchsite.readings.logview import Log, Numbered, page_with

from .marks import stretches


def of(log: Log, attempt: int) -> dict[str, Any]:
    """What the template of a log is given: rows, the query to keep, and the same as hidden fields of its form."""
    hidden = [("attempt", attempt)]
    keep = urlencode(hidden) + "&"
    return {"rows": format_html_join("", "{}", ((row,) for row in _rows(log, keep))), "keep": keep, "hidden": hidden}


def _rows(log: Log, keep: str) -> Iterator[SafeString]:
    for line in log.lines:
        number, text, cut = line
        # a line that was found leads to its place among the others
        href = f"?{keep}page={page_with(number)}#L{number}" if log.words else f"#L{number}"
        yield format_html(
            '<tr id="L{}"><td class="ln"><a href="{}">{}</a></td><td>{}{}</td></tr>',
            number, href, number, stretches(text), _more(line) if cut else "",
        )  # fmt: skip


def _more(line: Numbered) -> SafeString:
    return format_html(' <span class="muted">… cut here: the whole line has {} bytes</span>', f"{line[2]:,}")
