"""One changed path, compared: bytes of both sides in, a comparison out that rows can be read from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from . import colour, facts, lines
from .cache import Cache
from .dangers import DANGEROUS
from .decode import Source, decode
from .facts import Fact
from .files import Changed, Side
from .limits import AUTO_OPEN_BYTES, AUTO_OPEN_LINES
from .lines import Opcode
from .options import Options
from .rows import Fold, Pages, Row, rows, unified

Kind = Literal["text", "binary", "large", "absent", "plain"]
"""`plain` has no lines to show: links, devices, folders, mode changes and pure renames say all in facts."""
FORMAT = 2
EMPTY = Source(b"")


@dataclass(frozen=True)
class Comparison:
    """`old` and `new` are None where that side has no text; `folded` says why a file does not open by itself."""

    change: Changed
    kind: Kind
    facts: tuple[Fact, ...] = ()
    added: int | None = None
    deleted: int | None = None
    old: Pages | None = None
    new: Pages | None = None
    codes: tuple[Opcode, ...] = ()
    folded: str = ""
    dangers: int = 0
    language: str = ""
    first_difference: int | None = None

    @property
    def show_ends(self) -> bool:
        return bool(self.old and self.new) and facts.show_ends(self.old.source, self.new.source)  # type: ignore[union-attr]

    def rows(self, options: Options) -> Iterator[Row | Fold]:
        if self.kind != "text" or self.old is None or self.new is None:
            return iter(())
        context = None if options.context == "all" else int(options.context)
        found = rows(self.codes, self.old, self.new, context)
        return unified(found) if options.view == "unified" else found


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


def _bytes(change: Changed, old: bytes, new: bytes, options: Options, cache: Cache, said: list[Fact]) -> Comparison:
    for data in (old, new):
        if why := facts.too_large(data):
            fact = Fact("warn", f"Too large to compare: {why}.")
            return Comparison(change, "large", (*said, fact), first_difference=facts.first_difference(old, new))
    left, right = decode(old), decode(new)
    if left.binary or right.binary:
        fact = Fact("info", "Binary content.")
        return Comparison(change, "binary", (*said, fact), first_difference=facts.first_difference(old, new))
    return _text(change, left, right, options, cache, said)


def _text(change: Changed, left: Source, right: Source, options: Options, cache: Cache, said: list[Fact]) -> Comparison:
    old, new = (
        _pages(change.old_path or change.path, change.before, left, cache),
        _pages(change.path, change.after, right, cache),
    )
    codes = _codes(change, old, new, options, cache)
    added, deleted = lines.changed(codes)
    said += facts.about_encodings(left if _is_file(change.before) else None, right if _is_file(change.after) else None)
    ends = facts.ends_only(left, right)
    said += [ends] if ends else facts.about_ends(left, right)
    here, before = _count_dangers(new), _count_dangers(old)
    if here or before:
        said.append(Fact("danger", _about_dangers(here, before)))
    name = colour.lexer_name(change.path, new.text(0) if len(new) else "")
    uncoloured = colour.too_much(new.raw) if name and not new.colours else ""
    said += [Fact("info", uncoloured.capitalize() + ".")] if uncoloured else []
    return Comparison(
        change, "text", tuple(said), added, deleted, old, new, codes,
        folded=_why_folded(change, old, new, added + deleted, ends), dangers=here or before,
        language=colour.language(name) if name else "",
    )  # fmt: skip


def _pages(path: str, side: Side | None, source: Source, cache: Cache) -> Pages:
    bare = Pages.of(source)
    if not len(bare):
        return bare
    name = colour.lexer_name(path, bare.text(0))
    if not name or side is None:
        return bare
    key = ["colour", colour.ENGINE, FORMAT, side.sha256, name]
    found = cache.get(key, lambda: colour.packed(bare.texts(), name))
    return bare if found is None else replace(bare, colours=found)


def _codes(change: Changed, old: Pages, new: Pages, options: Options, cache: Cache) -> tuple[Opcode, ...]:
    before, after = (side.sha256 if side else "" for side in (change.before, change.after))
    key = ["lines", lines.ENGINE, before, after, options.space]
    packed = cache.get(key, lambda: lines.pack(lines.opcodes(old.source.data, new.source.data, options.space)))
    return lines.unpack(packed, len(old), len(new))


def _why_folded(change: Changed, old: Pages, new: Pages, changed: int, ends: Fact | None) -> str:
    if change.folded:
        return "generated file"
    if ends:
        return "only line ends changed"
    if facts.minified(old.raw) or facts.minified(new.raw):
        return "minified"
    if changed > AUTO_OPEN_LINES:
        return f"{changed:,} changed lines"
    shown = len(new.source.data) if change.before is None else len(old.source.data) if change.after is None else 0
    return f"{shown:,} bytes" if shown > AUTO_OPEN_BYTES else ""


def _is_file(side: Side | None) -> bool:
    return side is not None and side.type == "file"


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
        if side and side.type == "link":
            yield Fact("warn", f"A symbolic link; it {verb} to {side.target!r} and is never followed.")
        elif side and side.type not in ("file", "dir", "link"):
            yield Fact("warn", f"A {_noun(side)}; it has no content that could be shown.")
    if change.status == "added" and after and after.mode == "100755":
        yield Fact("info", "Executable.")
    for side in (before, after):
        if side and side.type == "file" and side.size == 0:
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


def _count_dangers(pages: Pages) -> int:
    return sum(1 for match in DANGEROUS.finditer("\n".join(pages.texts())))


def _about_dangers(here: int, before: int) -> str:
    count = here or before
    what = "1 hidden or control character" if count == 1 else f"{count:,} hidden or control characters"
    return f"{what} in the {'new' if here else 'old'} text, shown as marked names."
