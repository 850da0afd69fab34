"""How a file's bytes may be looked at: as text, as a picture, as hex; never as markup."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from benchsite.diffs import ansi, colour, facts
from benchsite.diffs.cache import Cache
from benchsite.diffs.dangers import DANGEROUS
from benchsite.diffs.decode import decode
from benchsite.diffs.facts import Fact
from benchsite.diffs.images import image_type
from benchsite.diffs.limits import CLICK_ROWS, HEX_HEAD, IMAGE_BYTES
from benchsite.diffs.rows import Cell, Pages

from .shelf import Shelf

VIEW_BYTES = 1_000_000
COLOURED = 5_000
"""Lines of a file that are coloured where it is shown whole: a quarter of a second, once."""
Kind = Literal["text", "terminal", "image", "hex", "empty", "none"]


@dataclass(frozen=True)
class Preview:
    """`cells` are lines of text; `hex` rows are (offset, bytes, printable)."""

    kind: Kind
    facts: tuple[Fact, ...] = ()
    cells: tuple[Cell, ...] = ()
    hex: tuple[tuple[str, str, str], ...] = ()
    media: str = ""
    language: str = ""
    encoding: str = ""
    lines: int = 0
    terminal: tuple[ansi.Stretch, ...] = ()


def preview(shelf: Shelf, digest: str, size: int, name: str, cache: Cache, *, terminal: bool = False) -> Preview:
    data = shelf.head(digest, VIEW_BYTES + 1)
    if data is None:
        return Preview("none", (Fact("warn", shelf.why.get(digest, "The content is not here.")),))
    if not data:
        return Preview("empty", (Fact("info", "The file is empty."),))
    media = image_type(data)
    if media and size <= IMAGE_BYTES:
        return Preview("image", media=media)
    cut = len(data) > VIEW_BYTES
    # a cut in the middle of a line would show a half as if it were whole
    data = data[: data.rfind(b"\n", 0, VIEW_BYTES) + 1 or VIEW_BYTES] if cut else data
    said = (
        [Fact("warn", f"Only the first {len(data):,} of {size:,} bytes are shown; download the rest.")] if cut else []
    )
    source = decode(data)
    if source.binary:
        return Preview(
            "hex", (Fact("info", "Binary content; its head is shown."),), hex=tuple(facts.hex_head(data[:HEX_HEAD]))
        )
    if terminal and b"\x1b" in data:
        return _terminal(source.text(source.data), said)
    return _text(Pages.of(source), digest, name, said, cache)


def _terminal(text: str, said: list[Fact]) -> Preview:
    read = ansi.read(text)
    if read.dropped:
        said = [*said, Fact("info", f"{read.dropped:,} terminal escapes that are no colours were left out.")]
    return Preview("terminal", tuple(said), terminal=read.stretches, lines=read.text.count("\n") + 1, encoding="UTF-8")


def _text(pages: Pages, digest: str, name: str, said: list[Fact], cache: Cache) -> Preview:
    texts = pages.texts()
    lexer = colour.lexer_name(name, texts[0])
    key = ["colour", colour.ENGINE, 3, digest, len(pages.source.data), lexer]
    colours = colour.Colours(pages.texts, lexer, key, cache) if lexer and not colour.too_much(texts) else None
    dangers = sum(1 for _ in DANGEROUS.finditer("\n".join(texts)))
    if dangers:
        said = [*said, Fact("danger", f"{dangers:,} hidden or control characters, shown as marked names.")]
    if pages.source.badge.startswith("decoded"):
        said = [*said, Fact("info", f"Text {pages.source.badge}.")]
    if len(texts) > CLICK_ROWS:
        said = [*said, Fact("warn", f"Only the first {CLICK_ROWS:,} of {len(texts):,} lines are shown.")]
    shown = Pages(pages.source, pages.raw, pages.unended, colours)
    if colours is not None and len(texts) > COLOURED:
        said = [*said, Fact("info", f"Only the first {COLOURED:,} lines are coloured.")]
    cells = tuple(shown.cell(n, coloured=n < COLOURED) for n in range(min(len(texts), CLICK_ROWS)))
    if colours is not None:
        colours.keep()
    return Preview(
        "text",
        tuple(said),
        cells=cells,
        language=colour.language(lexer) if lexer else "Text",
        encoding=pages.source.badge.removeprefix("decoded as ") or "UTF-8",
        lines=len(texts),
    )
