"""The end states of two trials against each other and against where both began: who touched which file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from benchsite.diffs.dangers import Pill, split_name
from benchsite.diffs.files import Changed, Side, changed, read_record, sides_of
from benchsite.readings.records import tree_of
from benchsite.readings.shelf import Shelf
from benchsite.readings.trialhead import Seen
from runner.errors import RunnerError

from .pair import Pair

Who = Literal["differ", "a", "b", "alike", "start"]
WORDS: dict[Who, str] = {
    "differ": "both changed, differently",
    "a": "only A touched",
    "b": "only B touched",
    "alike": "both changed, alike",
    "start": "neither touched; different from the start",
}
Show = Literal["ab", "a", "b"]
SHOWS: dict[Show, str] = {"ab": "A → B", "a": "Start → A", "b": "Start → B"}


@dataclass(frozen=True)
class Touched:
    """A path as A and B found and left it; None where it is not there. `starts` differ only where versions do."""

    path: str
    starts: tuple[Side | None, Side | None]
    a: Side | None
    b: Side | None
    who: Who

    @property
    def name(self) -> list[str | Pill]:
        return split_name(self.path)

    def change(self, show: Show) -> Changed | None:
        """Give what one comparison has to show; None where both sides of it are the same."""
        sides = {"ab": (self.a, self.b), "a": (self.starts[0], self.a), "b": (self.starts[1], self.b)}[show]
        return None if _same(*sides) else changed(self.path, *sides)


@dataclass(frozen=True)
class Ends:
    """`refused`: why end states cannot be told; `notes` are sentences about what is not in them."""

    touched: tuple[Touched, ...] = ()
    refused: str = ""
    notes: tuple[str, ...] = ()


def ends(pair: Pair, shelf: Shelf) -> Ends:
    """Compare two end states as the agents left them; what evaluation wrote afterwards is not in them."""
    digests = [side.trial.changes for side in (pair.a, pair.b)]
    templates = [] if pair.same_start else [side.run.version.template for side in (pair.a, pair.b)]
    shelf.expect([*digests, *templates])
    try:
        first, second = (_record(side, name, shelf) for name, side in pair.sides)
        starts = [_start(side, shelf) for side in (pair.a, pair.b)] if not pair.same_start else [{}, {}]
    except RunnerError as error:
        return Ends(refused=str(error))
    notes = tuple(
        f"Trial {name} has no change record, because its agent was never asked: it is shown as it started."
        for name, side in pair.sides
        if not side.trial.changes
    )
    return Ends(tuple(_touched(first, second, starts[0], starts[1])), notes=notes)


def _record(side: Seen, name: str, shelf: Shelf) -> dict[str, Changed]:
    if not side.trial.changes:
        return {}
    found = shelf.parsed(side.trial.changes, read_record)
    if found is None:
        raise RunnerError(f"The change record of trial {name} cannot be read. {shelf.why[side.trial.changes]}")
    return {change.path: change for change in found}


def _start(side: Seen, shelf: Shelf) -> dict[str, Side]:
    """Read a start world; without one nothing but what was touched can be compared."""
    digest = side.run.version.template
    tree = shelf.parsed(digest, tree_of) if digest else None
    return sides_of(tree.entries) if tree is not None else {}


def _touched(
    first: Mapping[str, Changed],
    second: Mapping[str, Changed],
    start_a: Mapping[str, Side],
    start_b: Mapping[str, Side],
) -> Iterable[Touched]:
    paths = {*first, *second} | {p for p in {*start_a, *start_b} if not _same(start_a.get(p), start_b.get(p))}
    for path in sorted(paths):
        a, b = first.get(path), second.get(path)
        # where both began alike, whoever touched a path tells of both: what setup wrote is in no template
        known = [one.before for one in (a, b) if one] if not (start_a or start_b) else [None]
        began_a = a.before if a else start_a.get(path, known[0])
        began_b = b.before if b else start_b.get(path, known[0])
        left_a, left_b = (a.after if a else began_a), (b.after if b else began_b)
        yield Touched(path, (began_a, began_b), left_a, left_b, _who(a, b, _same(left_a, left_b)))


def _who(a: Changed | None, b: Changed | None, same: bool) -> Who:
    if a and b:
        return "alike" if same else "differ"
    return "a" if a else "b" if b else "start"


def _same(old: Side | None, new: Side | None) -> bool:
    """Compare what the two sides are, not whether their bytes were kept."""
    if old is None or new is None:
        return old is new
    return (old.type, old.mode, old.sha256, old.target) == (new.type, new.mode, new.sha256, new.target)
