"""What the viewer makes of the pairs in tests/data/diffs, as text that can be read and compared."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchsite.diffs.cache import Cache
from benchsite.diffs.carried import Moved, blocks, by_line, stretches
from benchsite.diffs.compare import Comparison, compare
from benchsite.diffs.dangers import split_name
from benchsite.diffs.files import Changed, Side, between, sides_of
from benchsite.diffs.limits import FIRST_ROWS
from benchsite.diffs.moves import with_moves
from benchsite.diffs.options import Options
from benchsite.diffs.overlay import pieces
from benchsite.diffs.rows import Cell, Fold, Line, Row, first_line
from runner.worlds.tree import scan

CASES = Path(__file__).parents[2] / "data" / "diffs"
OPTIONS = Options(view="unified")


def told(case: Path) -> str:
    """Compare a case's two worlds and tell all of it."""
    old, new = (_world(case / name) for name in ("old", "new"))
    sides = [{path: side for path, (side, _) in world.items()} for world in (old, new)]
    contents = {side.sha256: data for world in (old, new) for side, data in world.values() if data is not None}
    changes = with_moves(between(*sides), lambda side: contents.get(side.sha256), sides[0])
    moved = _moved(changes, contents)
    return "\n".join(line for change in changes for line in _file(change, contents, moved.get(change.path, {})))


def _moved(changes: tuple[Changed, ...], contents: dict[str, bytes]) -> dict[str, dict[Line, Moved]]:
    found = [stretches(change, *_bytes(change, contents), OPTIONS, Cache(None)) for change in changes]
    return by_line(blocks([one for gone, _ in found for one in gone], [one for _, come in found for one in come]))


def _bytes(change: Changed, contents: dict[str, bytes]) -> tuple[bytes, bytes]:
    old, new = (contents.get(side.sha256, b"") if side is not None else b"" for side in change.sides)
    return old, new


def _world(folder: Path) -> dict[str, tuple[Side, bytes | None]]:
    if not folder.exists():
        return {}
    found = sides_of(scan(folder, refuse=False).entries)
    return {path: (side, (folder / path).read_bytes() if side.type == "file" else None) for path, side in found.items()}


def _file(change: Changed, contents: dict[str, bytes], moved: dict[Line, Moved]) -> Iterator[str]:
    sides = (change.before, change.after)
    old, new = (contents.get(side.sha256) if side is not None else None for side in sides)
    made = compare(change, old, new, OPTIONS, Cache(None))
    source = f" from {change.old_path}" if change.old_path else ""
    counts = "" if made.added is None else f" +{made.added} -{made.deleted}"
    yield f"{change.letter} {_name(change.path)}{source}: {made.kind}{counts}"
    yield from (f"  {fact.tone}: {fact.sentence}" for fact in made.facts)
    yield from [f"  folded: {made.folded}"] if made.folded else []
    yield from [f"  first difference: byte {made.first_difference}"] if made.first_difference is not None else []
    yield from (f"  {line}" for line in _rows(made, moved))
    yield ""


def _rows(made: Comparison, moved: dict[Line, Moved]) -> Iterator[str]:
    rows, more = made.take(OPTIONS, 12 if made.folded else FIRST_ROWS)
    for row in rows:
        yield (
            f"@ {row.count} lines folded from {row.old},{row.new}"
            if isinstance(row, Fold)
            else _row(row, made) + _end(row, moved)
        )
    if more:
        yield f"@ more from {more[0]}{more[1]}"


def _row(row: Row, made: Comparison) -> str:
    sign = {"equal": " ", "insert": "+", "delete": "-"}[row.kind]
    numbers = "".join(f"{cell.number if cell else '':>5}" for cell in (row.old, row.new))
    cell = row.new or row.old
    return f"{sign}{numbers} |{_text(cell, made.show_ends) if cell else ''}"


def _end(row: Row, moved: dict[Line, Moved]) -> str:
    """Where the block that this line begins has its other end."""
    one = None if row.kind == "equal" else moved.get(first_line(row))
    return f" ⇢ {_name(one.path)} {one.line[0]}{one.line[1]}" if one and one.first else ""


def _text(cell: Cell, ends: bool) -> str:
    shown = "".join(
        f"«{text}»" if piece.marked else text
        for piece in pieces(cell)
        for text in [piece.content if isinstance(piece.content, str) else f"⟨{piece.content.label}⟩"]
    ).replace("»«", "")
    if len(shown) > 150:
        shown = f"{shown[:60]}[{len(shown) - 60} more]"
    return shown + ("␍" if ends and cell.crlf else "") + ("⊘" if cell.unended else "") + ("[cut]" if cell.cut else "")


def _name(path: str) -> str:
    return "".join(part if isinstance(part, str) else f"⟨{part.label}⟩" for part in split_name(path))


if __name__ == "__main__":
    for case in sorted(place for place in CASES.iterdir() if place.is_dir()):
        (case / "expected.txt").write_text(told(case), encoding="utf-8", newline="")
