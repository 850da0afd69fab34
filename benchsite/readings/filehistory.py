"""What became of one file over a trial: at the start, after the agent, after evaluation, in the kept world."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from benchsite.diffs.dangers import Pill, split_name
from benchsite.diffs.files import LETTERS, Changed, read_record
from runner.errors import RunnerError

from . import words
from .shelf import Shelf
from .trialhead import Seen
from .worlds import changed_of, noun, world_of


@dataclass(frozen=True)
class State:
    """A file at one moment. `at` names the world that shows it, `stage` the changes that made it so.

    `twin`: the deleted file of the same bytes; most likely this one, moved.
    """

    when: str
    what: str
    sha256: str
    letter: str = ""
    at: str = ""
    stage: str = ""
    twin: tuple[str | Pill, ...] = ()


def history(seen: Seen, shelf: Shelf, path: str) -> tuple[State, ...]:
    return tuple(_states(seen, shelf, path))


def _states(seen: Seen, shelf: Shelf, path: str) -> Iterator[State]:
    changed, later = changed_of(seen, shelf), _evaluation(seen, shelf)
    mine, theirs = changed.get(path), later.get(path)
    start = world_of(seen, shelf, "start")
    began = mine.before if mine else start.entries.get(path)
    if not start.refused:
        yield State("at the start", _what(began), _digest(began), at="start" if began else "")
    if mine:
        at = "" if seen.trial.kept or mine.after is None else "end"
        twin = _twin(mine, changed)
        yield State("after the agent", _what(mine.after), _digest(mine.after), mine.letter, at, "agent", twin)
    elif not start.refused:
        yield State("after the agent", "the same" if began else "not there", "")
    if theirs:
        yield State("after evaluation", _what(theirs.after), _digest(theirs.after), theirs.letter, "", "evaluation")
    if seen.trial.kept:
        kept = world_of(seen, shelf).entries.get(path)
        yield State("in the kept workspace", _what(kept), _digest(kept), at="end" if kept else "")


def _evaluation(seen: Seen, shelf: Shelf) -> Mapping[str, Changed]:
    digest = ((seen.record().get("changes") or {}).get("evaluation") or {}).get("blob")
    value = shelf.json(digest) if isinstance(digest, str) else None
    try:
        return {change.path: change for change in read_record(value)} if value is not None else {}
    except RunnerError:
        return {}


def _twin(mine: Changed, changed: Mapping[str, Changed]) -> tuple[str | Pill, ...]:
    if mine.letter != LETTERS["added"] or not mine.after or not mine.after.sha256 or not mine.after.size:
        return ()
    gone = (c for c in changed.values() if c.status == "deleted" and c.before)
    same = next((c.path for c in gone if c.before and c.before.sha256 == mine.after.sha256), "")
    return tuple(split_name(same))


def _what(side: Any) -> str:
    if side is None:
        return "not there"
    if side.type == "file":
        return f"{words.size(side.size or 0)}, mode {side.mode}"
    return noun(side.type)


def _digest(side: Any) -> str:
    return (side.sha256 or "") if side is not None and side.type == "file" else ""
