"""What changed in a world since its baseline."""

from __future__ import annotations

from runner.blobs import BlobStore
from runner.paths import StrPath

from .baseline import Baseline, State
from .changes import Change, ChangeSet, Kind, Side, by_bytes
from .lines import count_lines
from .rules import Rules
from .walk import git_mode

__all__ = ["Change", "ChangeSet", "Side", "capture", "capture_and_advance", "compare"]


def capture(world: StrPath, baseline: Baseline, blobs: BlobStore, rules: Rules) -> ChangeSet:
    """Record what differs from the baseline; files of at most `max_bytes` are stored on both sides."""
    return capture_and_advance(world, baseline, blobs, rules)[0]


def capture_and_advance(
    world: StrPath, baseline: Baseline, blobs: BlobStore, rules: Rules
) -> tuple[ChangeSet, Baseline]:
    """Give the changes and, from the same look at the world, the baseline of the next stage."""
    now = baseline.advanced(world, blobs, rules)
    return compare(baseline, now, blobs, rules), now


def compare(before: Baseline, after: Baseline, blobs: BlobStore, rules: Rules) -> ChangeSet:
    changes, made, removed = [], [], []
    for path in sorted(before.touched(after), key=by_bytes):
        was, now = before.states.get(path), after.states.get(path)
        if _is_folder(now) and not _is_folder(was):
            made.append(path)
        if _is_folder(was) and (now is None or now.type not in ("dir", "unreadable")):
            removed.append(path)
        change = _change(path, was, now, before, blobs, rules.max_bytes)
        if change:
            changes.append(change)
    return ChangeSet(tuple(changes), tuple(made), tuple(removed))


def _is_folder(state: State | None) -> bool:
    return state is not None and state.type == "dir"


def _change(
    path: str, was: State | None, now: State | None, before: Baseline, blobs: BlobStore, limit: int
) -> Change | None:
    """Judge one path by what git would keep of it; directories themselves are no change, unless one was closed."""
    if _is_folder(now):
        now = None
    if _is_folder(was) and (now is None or now.type != "unreadable"):
        was = None
    if (was is None and now is None) or (was and now and _same(was, now)):
        return None
    old = was.side(before.keep_before(path, blobs, limit)) if was else None
    new = now.side() if now else None
    if new and old and new.sha256 == old.sha256 and old.stored:
        new = now.side(stored=True) if now else None  # a change of mode alone: the same bytes
    return Change(path, _kind(old, new), old, new, *count_lines(old, new, blobs))


def _same(was: State, now: State) -> bool:
    if (was.type, was.sha256, was.target) != (now.type, now.sha256, now.target):
        return False
    if now.type == "unreadable" and was.fingerprint != now.fingerprint:
        return False  # nobody could read it, but somebody wrote
    return git_mode(was.fingerprint[4]) == git_mode(now.fingerprint[4])


def _kind(old: Side | None, new: Side | None) -> Kind:
    if new is None:
        return "deleted"
    if new.type == "link":
        return "link"
    return "modified" if old else "added"
