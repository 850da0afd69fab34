"""One changed path, compared: bytes of both sides in, a comparison out that rows can be read from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal

from . import colour, facts, lines
from .cache import Cache
from .dangers import places
from .decode import Source, decode
from .facts import Fact
from .files import Changed, Side
from .images import is_picture
from .limits import AUTO_OPEN_BYTES, AUTO_OPEN_LINES, CLICK_ROWS, DANGER_LINES, WHOLE_LINE
from .lines import Opcode
from .options import Options
from .outline import Mark, outline
from .pretty import is_json, pretty
from .rows import Cell, Fold, Line, Pages, Row, between, first_line, rows, starting, unified

Kind = Literal["text", "binary", "large", "absent", "plain"]
"""`plain` has no lines to show: links, devices, folders, mode changes and pure renames say all in facts."""
FORMAT = 3
SUBMODULE = "160000"
Taken = tuple[tuple[Row | Fold, ...], Line | None]


@dataclass(frozen=True)
class Comparison:
    """`old` and `new` are None where that side has no text; `folded` says why a file does not open by itself.

    `dangers` are the lines with hidden or control characters: the new side's, else the old one's.
    """

    change: Changed
    kind: Kind
    facts: tuple[Fact, ...] = ()
    added: int | None = None
    deleted: int | None = None
    old: Pages | None = None
    new: Pages | None = None
    codes: tuple[Opcode, ...] = ()
    folded: str = ""
    dangers: tuple[Line, ...] = ()
    language: str = ""
    first_difference: int | None = None

    @property
    def show_ends(self) -> bool:
        return bool(self.old and self.new) and facts.show_ends(self.old.source, self.new.source)  # type: ignore[union-attr]

    def rows(self, options: Options) -> Iterator[Row | Fold]:
        if self.kind != "text" or self.old is None or self.new is None:
            return iter(())
        found = rows(self.codes, self.old, self.new, options.lines)
        return unified(found) if options.view == "unified" else found

    def outline(self, options: Options) -> tuple[Mark, ...]:
        return outline(self.codes, options.lines, options.view == "unified")

    def take(self, options: Options, count: int, start: Line | None = None) -> Taken:
        """Give at most `count` rows from the line `start` on, and the line that the next ones begin with, if any."""
        found = self.rows(options)
        found = starting(found, start) if start else found
        shown = tuple(islice(found, count))
        more = next(found, None)
        self.keep()
        return shown, first_line(more) if more else None

    def between(self, fold: Fold, first: int = 0, last: int | None = None) -> tuple[Row | Fold, ...]:
        """Give the rows a fold left out, as far as the file really has them."""
        if self.old is None or self.new is None or fold.old < 1 or fold.new < 1:
            return ()
        count = min(fold.count, len(self.old) - fold.old + 1, len(self.new) - fold.new + 1)
        last = min(count if last is None else last, max(first, 0) + CLICK_ROWS)
        shown = tuple(between(self.old, self.new, Fold(fold.old, fold.new, max(0, count)), first, last))
        self.keep()
        return shown

    def keep(self) -> None:
        """Save the colours that were made while rows were taken."""
        for side in (self.old, self.new):
            if side is not None and side.colours is not None:
                side.colours.keep()

    def whole(self, line: Line) -> Cell | None:
        """Give a line uncut, as far as a page can bear it; None where the file has no such line."""
        pages = self.old if line[0] == "L" else self.new
        return pages.cell(line[1] - 1, limit=WHOLE_LINE) if pages and line[1] <= len(pages) else None

    @property
    def coloured(self) -> int:
        """Count the lines whose colours had to be made."""
        return sum(side.colours.made for side in (self.old, self.new) if side is not None and side.colours is not None)


def compare(change: Changed, old: bytes | None, new: bytes | None, options: Options, cache: Cache) -> Comparison:
    """Compare a path's two sides. A side's bytes are None where it has none, or they are not to be had."""
    said = [*_about_sides(change)]
    lost = [side for side, data in ((change.before, old), (change.after, new)) if _is_file(side) and data is None]
    if not _is_file(change.before) and not _is_file(change.after):
        return Comparison(change, "plain", tuple(said))
    if change.same_bytes:
        return Comparison(change, "plain", (*said, Fact("info", "The content is the same.")), 0, 0)
    if lost:
        return Comparison(change, "absent", (*said, *(_about_lost(side) for side in lost if side)))
    return _bytes(change, old or b"", new or b"", options, cache, said)


def count(
    change: Changed, old: bytes | None, new: bytes | None, options: Options, cache: Cache
) -> tuple[int | None, int | None]:
    """Count (added, deleted) lines as `compare` does, without its facts and colours: lists of files need no more."""
    pair = (old or b"", new or b"")
    plain = old is not None and new is not None and _is_file(change.before) and _is_file(change.after)
    if not plain or change.same_bytes or (options.json == "pretty" and is_json(change.path)):
        made = compare(change, old, new, options, cache)
        return made.added, made.deleted
    left, right = decode(pair[0]), decode(pair[1])
    if left.binary or right.binary or any(is_picture(data) or facts.too_large(data) for data in pair):
        return None, None
    return lines.changed(codes_of(change, left, right, options, cache))


def _bytes(change: Changed, old: bytes, new: bytes, options: Options, cache: Cache, said: list[Fact]) -> Comparison:
    if is_picture(old) or is_picture(new):
        fact = Fact("info", "An image.")
        return Comparison(change, "binary", (*said, fact), first_difference=facts.first_difference(old, new))
    for data in (old, new):
        if why := facts.too_large(data):
            fact = Fact("warn", f"Too large to compare: {why}.")
            return Comparison(change, "large", (*said, fact), first_difference=facts.first_difference(old, new))
    left, right = decode(old), decode(new)
    if left.binary or right.binary:
        fact = Fact("info", "Binary content.")
        return Comparison(change, "binary", (*said, fact), first_difference=facts.first_difference(old, new))
    if options.json == "pretty" and is_json(change.path):
        left, right, how = _pretty(left, right)
        said.append(how)
    return _text(change, left, right, options, cache, said)


def _pretty(left: Source, right: Source) -> tuple[Source, Source, Fact]:
    """Put both sides in JSON's canonical form, or neither."""
    forms = [pretty(side.data) if side.data else b"" for side in (left, right)]
    if None in forms or any(facts.too_large(form or b"") for form in forms):
        return left, right, Fact("warn", "Not shown as pretty JSON: a side is no JSON, or too large when written out.")
    old, new = (Source(form or b"", form="json") for form in forms)
    how = "Both sides are written as pretty JSON with sorted keys; lines and numbers are of that form"
    same = ", in which they are the same." if old.data == new.data else "."
    return old, new, Fact("info", how + same)


def _text(change: Changed, left: Source, right: Source, options: Options, cache: Cache, said: list[Fact]) -> Comparison:
    old, new = (
        _pages(change.old_path or change.path, change.before, left, cache),
        _pages(change.path, change.after, right, cache),
    )
    codes = codes_of(change, left, right, options, cache)
    added, deleted = lines.changed(codes)
    said += facts.about_encodings(left if _is_file(change.before) else None, right if _is_file(change.after) else None)
    ends = facts.ends_only(left, right)
    said += [ends] if ends else facts.about_ends(left, right)
    (here, lines_here), (before, lines_before) = _dangers(new), _dangers(old)
    risky: list[Line] = [("R", n) for n in lines_here] if here else [("L", n) for n in lines_before]
    if here or before:
        said.append(Fact("danger", _about_dangers(here, before)))
    name = colour.lexer_name(change.path, new.text(0) if len(new) else "")
    uncoloured = colour.too_much(new.raw or old.raw) if name else ""
    said += [Fact("info", uncoloured.capitalize() + ".")] if uncoloured else []
    return Comparison(
        change, "text", tuple(said), added, deleted, old, new, codes,
        folded=_why_folded(change, old, new, added + deleted, ends), dangers=tuple(risky[:DANGER_LINES]),
        language=colour.language(name) if name else "",
    )  # fmt: skip


def _pages(path: str, side: Side | None, source: Source, cache: Cache) -> Pages:
    bare = Pages.of(source)
    if not len(bare):
        return bare
    name = colour.lexer_name(path, bare.text(0))
    if not name or side is None:
        return bare
    if colour.too_much(bare.raw):
        return bare
    key = ["colour", colour.ENGINE, FORMAT, side.sha256, source.form, name]
    return replace(bare, colours=colour.Colours(bare.texts, name, key, cache))


def codes_of(change: Changed, old: Source, new: Source, options: Options, cache: Cache) -> tuple[Opcode, ...]:
    """Compare the lines of two sides, or look up what was found before."""
    pairs = ((change.before, old), (change.after, new))
    # a record may name a digest where nothing was read: what is kept under that digest is of its bytes
    before, after = (side.sha256 if side and source.data else "" for side, source in pairs)
    key = ["lines", lines.ENGINE, before, after, old.form, options.space]
    packed = cache.get(key, lambda: lines.pack(lines.opcodes(old.data, new.data, options.space)))
    return lines.unpack(packed, lines.count_lines(old.data), lines.count_lines(new.data))


def _why_folded(change: Changed, old: Pages, new: Pages, changed: int, ends: Fact | None) -> str:
    if facts.minified(old.raw) or facts.minified(new.raw):
        return "minified"
    # a file that an agent edited and then called generated is none
    said = [facts.generated(pages.raw) for pages in (old, new) if len(pages)]
    if change.folded or (said and all(said)):
        return "generated file"
    if ends:
        return "only line ends changed"
    if changed > AUTO_OPEN_LINES:
        return f"{changed:,} changed lines"
    shown = len(new.source.data) if change.before is None else len(old.source.data) if change.after is None else 0
    return f"{shown:,} bytes" if shown > AUTO_OPEN_BYTES else ""


def _is_file(side: Side | None) -> bool:
    return side is not None and side.type == "file" and side.mode != SUBMODULE


def _about_sides(change: Changed) -> Iterator[Fact]:
    before, after = change.before, change.after
    if change.status in ("renamed", "copied"):
        how = "unchanged" if change.likeness == 100 else f"{change.likeness} % alike"
        yield Fact("info", f"{'Moved' if change.status == 'renamed' else 'Copied'}, {how}.")
    if change.mode_changed and before and after:
        yield Fact("info", f"Mode changed: {before.mode} → {after.mode}{_executable(before.mode, after.mode)}.")
    if change.status == "type" and before and after:
        yield Fact("warn", f"A {_noun(before)} became a {_noun(after)}.")
    for side, verb in ((before, "pointed"), (after, "points")):
        if side and side.mode == SUBMODULE:
            yield Fact("warn", "A submodule: another repository, of which only its commit is recorded.")
        elif side and side.type == "link":
            yield Fact("warn", f"A symbolic link; it {verb} to {side.target!r} and is never followed.")
        elif side and side.type not in ("file", "dir", "link"):
            yield Fact("warn", f"A {_noun(side)}; it has no content that could be shown.")
    if change.status == "added" and after and after.mode == "100755":
        yield Fact("info", "Executable.")
    for side in (before, after):
        if _is_file(side) and side.size == 0:
            yield Fact("info", f"The {'old' if side is before else 'new'} file is empty.")


def _noun(side: Side) -> str:
    nouns = {"link": "symbolic link", "dir": "folder", "fifo": "named pipe", "unreadable": "file that cannot be read"}
    return nouns.get(side.type, side.type)


def _executable(before: str, after: str) -> str:
    if before.endswith("755") == after.endswith("755"):
        return ""
    return ", now executable" if after.endswith("755") else ", no longer executable"


def _about_lost(side: Side) -> Fact:
    if side.stored:
        return Fact("warn", f"The content ({side.size:,} bytes, sha256 {side.sha256[:8]}) is withheld or missing here.")
    return Fact("warn", f"The content ({side.size:,} bytes, sha256 {side.sha256[:8]}) was too large to be stored.")


def _dangers(pages: Pages) -> tuple[int, tuple[int, ...]]:
    # whole and not line by line, which takes ten times as long
    text = "\n".join(pages.raw) + ("" if pages.unended else "\n")
    return places(text.replace("\r\n", "\n"))


def _about_dangers(here: int, before: int) -> str:
    count = here or before
    what = "1 hidden or control character" if count == 1 else f"{count:,} hidden or control characters"
    return f"{what} in the {'new' if here else 'old'} text, shown as marked names."
