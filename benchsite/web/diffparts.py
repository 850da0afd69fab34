"""The parts of a diff page: files with their rows written, the bar of options, folds that are opened."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.safestring import SafeString

from benchsite.diffs.carried import Moved
from benchsite.diffs.compare import Comparison
from benchsite.diffs.facts import Fact
from benchsite.diffs.files import Changed, anchor
from benchsite.diffs.limits import CLICK_ROWS, FIRST_ROWS
from benchsite.diffs.options import CHOICES, Options
from benchsite.diffs.pretty import is_json
from benchsite.diffs.rows import Fold
from benchsite.readings.address import to_address
from benchsite.readings.diff import Changes, FileDiff, OneFile, TwoSides
from benchsite.readings.movedlines import Of
from benchsite.readings.preview import Preview

from . import diffhtml, filehtml, links
from .conditional import answer
from .evidence import tab

WORDS = {
    "view": ("View", {"split": "Split", "unified": "Unified"}),
    "space": ("Blanks", {"keep": "Shown", "eol": "Ends ignored", "all": "Ignored"}),
    "context": ("Context", {"3": "3", "10": "10", "all": "All"}),
    "wrap": ("Wrap", {"on": "On", "off": "Off"}),
    "json": ("JSON", {"kept": "As written", "pretty": "Pretty"}),
    "moved": ("Moved", {"on": "On", "off": "Off"}),
    "files": ("Files", {"all": "All", "failed": "Failed"}),
}
KEPT_FILES, KEPT_LEAST, KEPT_MOST = 16, 50_000, 4_000_000
"""Files kept written in this process's memory, never on a disk; small ones are quickly made, huge ones rarely read."""
BEFORE = 20
"""Rows above a line that a link shows with it."""
MAP_ROWS = 40
"""Files with more rows have a map of their changes beside them."""


@dataclass(frozen=True)
class ShownFile:
    """A file as its template takes it: `body` is markup, `url` its own page, `part` the section that replaces it.

    `map` is markup too; `dangers` are (number, href) of lines with hidden characters.
    """

    file: FileDiff
    body: SafeString
    url: str
    part: str
    old_raw: str
    new_raw: str
    workspace: str
    width: str
    nowrap: bool = False
    map: SafeString = field(default_factory=SafeString)
    dangers: list[tuple[str, str]] = field(default_factory=list)

    @property
    def link(self) -> SafeString:
        return filehtml.link(self.file)

    @property
    def links(self) -> SafeString:
        return filehtml.links(self)

    @property
    def head(self) -> SafeString:
        return filehtml.head(self.file)

    @property
    def facts(self) -> list[Fact]:
        """What is said above the rows; of hidden characters the banner tells that leads to them."""
        made = self.file.comparison
        return [fact for fact in made.facts if fact.tone != "danger"] if made else []

    @property
    def danger(self) -> str:
        made = self.file.comparison
        return " ".join(fact.sentence for fact in made.facts if fact.tone == "danger") if made else ""

    @property
    def waiting(self) -> SafeString:
        """The whole of a file that was not compared yet."""
        return filehtml.waiting(self)


_written: dict[tuple[str, int, str, bool], ShownFile] = {}


def shown_all(page: Changes) -> list[ShownFile]:
    return [shown(file, page.head, page.options) for file in page.files]


def shown(file: FileDiff, head: Any, options: Options) -> ShownFile:
    return shown_at(file, options, _url(head, file.address, options), _in_workspace(file, head))


def shown_at(file: FileDiff, options: Options, url: str, workspace: str = "") -> ShownFile:
    """Write a file whose own page is `url`, which has a query already."""
    made = file.comparison
    body = marks = SafeString("")
    if made is not None and made.kind == "text" and file.open:
        sheet = sheet_for(file.change, made, url, options, file.moved)
        body = sheet.tables(file.rows) + sheet.more(file.more)
        marks = diffhtml.change_map(made.outline(options), sheet.anchor) if len(file.rows) > MAP_ROWS else marks
    return ShownFile(
        file=file,
        body=body,
        url=url,
        part=f"{url}&part={'file' if made else 'near'}",
        old_raw=f"{url}&raw=old" if file.change.before and file.change.before.stored else "",
        new_raw=f"{url}&raw=new" if file.change.after and file.change.after.stored else "",
        workspace=workspace,
        width=_width(made) if options.wrap == "off" else "",
        nowrap=options.wrap == "off",
        map=marks,
        dangers=_dangers(file, url),
    )


def _width(made: Comparison | None) -> str:
    return diffhtml.width(side for side in (made.old, made.new) if side is not None) if made else ""


def _dangers(file: FileDiff, url: str) -> list[tuple[str, str]]:
    """Link lines so that each is there when its link is followed without script, folds or not."""
    found = file.comparison.dangers if file.comparison else ()
    return [
        (str(number), f"{url}&context=all&from={side}{max(1, number - BEFORE)}#{file.change.fragment}-{side}{number}")
        for side, number in found
    ]


def sheet_for(change: Changed, made: Comparison, url: str, options: Options, moved: Of) -> diffhtml.Sheet:
    """A file that is new or gone has one side only, whatever the view."""
    sides = "new" if change.before is None else "old" if change.after is None else options.view
    longest = max(len(side) if side else 0 for side in (made.old, made.new))
    digits = min(6, max(3, len(str(longest))))
    endings = {line: _ending(change, one, url) for line, one in moved.items()}
    return diffhtml.Sheet(change.fragment, sides, digits, url, made.show_ends, endings)


def _ending(change: Changed, one: Moved, url: str) -> diffhtml.Ending:
    """Lead to a moved line's other end: a script finds it on the page, else it stands on its file's own."""
    side, number = one.line
    at = url.replace(f"f={to_address(change.path)}", f"f={to_address(one.path)}")
    start = f"&from={side}{max(1, number - BEFORE)}" if number > FIRST_ROWS else ""
    path = "" if one.path == change.path else one.path
    return diffhtml.Ending(path, number, f"{at}{start}#{anchor(one.path)}-{side}{number}", one.first)


def answer_file(request: HttpRequest, page: OneFile) -> HttpResponse:
    """Give a file's page, its bare section, or the rows of one fold; unchanged answers are 304."""

    def make() -> HttpResponse:
        part = request.GET.get("part", "")
        if part in ("rows", "line"):
            return HttpResponse(fold_rows(request, page, _url(page.head, to_address(page.change.path), page.options)))
        one = _kept(page, part != "near")
        if part in ("file", "near"):
            return tab(request, "changes", page, template="_file", shown=one, options=page.options)
        keep = f"f={one.file.address}&"
        moved = bool(page.moved) or page.options.moved == "off"
        shown_bar = bar(page.options, json=is_json(page.change.path), moved=moved)
        return tab(request, "changes", page, template="file", shown=one, options=page.options, bar=shown_bar, keep=keep)

    return answer(request, page.revision, make)


def _kept(page: OneFile, asked: bool) -> ShownFile:
    """Write a file's rows once for many readers; the revision names digests, blob states and options."""
    key = (page.head.ulid, page.head.index, page.revision, asked)
    if (found := _written.get(key)) is not None:
        return found
    one = shown(page.file(asked=asked), page.head, page.options)
    if KEPT_LEAST < len(one.body) < KEPT_MOST:
        one = replace(one, file=one.file.slim())
        while len(_written) >= KEPT_FILES:
            _written.pop(next(iter(_written), key), None)
        _written[key] = one
    return one


def bar(options: Options, *, json: bool = False, moved: bool = False, failed: bool = False) -> list[dict[str, Any]]:
    """Give each option with its choices as links: (words, query, whether it is the one)."""
    offered = {"json": json, "moved": moved, "files": failed}
    return [
        {
            "name": WORDS[name][0],
            "choices": [
                (WORDS[name][1][c], options.query(**{name: c}), getattr(options, name) == c) for c in CHOICES[name]
            ],
        }
        for name in WORDS
        if offered.get(name, True)
    ]


def code(preview: Preview | None) -> SafeString:
    return diffhtml.code(preview.cells) if preview else SafeString("")


def fold_rows(request: HttpRequest, page: TwoSides, url: str) -> SafeString:
    """Write rows that are not on a page yet: those of the fold asked for, those from a line on, or one long line."""
    made = page.comparison()
    sheet = sheet_for(page.change, made, url, page.options, page.moved)
    start = page.options.start
    if request.GET.get("part") == "line":
        cell = made.whole(start) if start else None
        return SafeString(diffhtml.line(cell, made.show_ends, False)) if cell else SafeString("")
    if start is not None:
        rows, more = made.take(page.options, CLICK_ROWS, start)
        return sheet.tables(rows) + sheet.more(more)
    fold, shown = _numbers(request, "fold"), _numbers(request, "show")
    if len(fold) != 3:
        return SafeString("")
    return sheet.rows(made.between(Fold(*fold), *shown[:2]))


def _numbers(request: HttpRequest, name: str) -> list[int]:
    asked = request.GET.get(name, "").split(",")
    return [int(part) for part in asked if part.isascii() and part.isdigit() and len(part) < 9]


def _url(head: Any, address: str, options: Options) -> str:
    query = options.query()
    base = links.address("trial_diff_file", head.ulid, str(head.index))
    return f"{base}?{query}&f={address}" if query else f"{base}?f={address}"


def _in_workspace(file: FileDiff, head: Any) -> str:
    if file.change.after is None:
        return ""
    return f"{links.address('trial_workspace', head.ulid, str(head.index))}?f={file.address}"
