"""The tables of two trials beside each other as plain values: what was observed, and which files differ."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from benchsite.readings.sheet import Sheet, path_text
from benchsite.readings.shelf import Shelf
from runner.errors import RunnerError

from .ends import Show, ends
from .observed import observed, spent
from .pair import Pair
from .shown import view


def observations(pair: Pair, show: Show) -> Sheet:
    """What the page shows, in its order: each declared measure, then time, cost, tokens and lines."""
    head = ("kind", "measure", "a", "b", "a_state", "b_state", "differs", "change", "better")
    rows = (
        (kind, line.key, *line.values, *line.states, line.differs, line.change or None, line.better or None)
        for kind, lines in (("observed", observed(pair)), ("spent", spent(pair)))
        for line in lines
    )
    return _sheet(pair, "observations", head, rows)


def files(pair: Pair, show: Show) -> Sheet:
    """The files of a view over all its pages, then what it shows no difference at."""
    shelf = Shelf((), pair.a.run.bench_id)
    found = ends(pair, shelf)
    if found.refused:
        raise RunnerError(found.refused)
    seen = view(pair, found.touched, show, shelf)
    head = ("who", "status", "path", "old_path", "alike_percent")
    shown = (
        (one.who, one.change.status, path_text(one.change.path), path_text(one.change.old_path) or None,
         one.change.likeness if one.change.old_path else None)
        for one in seen.shown
    )  # fmt: skip
    same = ((one.who, "same", path_text(one.path), None, None) for one in seen.same)
    return _sheet(pair, "files", head, iter([*shown, *same]), show=show)


def _sheet(pair: Pair, name: str, columns: tuple[str, ...], rows: Iterator[tuple[Any, ...]], **more: Any) -> Sheet:
    of = [f"trial:{side.ulid}/{side.index}" for side in (pair.a, pair.b)]
    about = {"of": of, "bench": str(pair.a.run.bench), "table": name, "notices": list(pair.notices), **more}
    return Sheet(f"compare-{name}", columns, rows, about)


SHEETS: dict[str, Callable[[Pair, Show], Sheet]] = {"observations": observations, "files": files}
