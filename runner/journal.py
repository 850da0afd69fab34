"""The append-only record of a run: `events.jsonl`, one JSON object a line. One writer, flock per run."""

from __future__ import annotations

import fcntl
import json
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from io import FileIO
from pathlib import Path
from typing import IO, Any

from .errors import DiskFull, JournalError, is_disk_full

MANIFEST, EVENTS, WORKSPACES = "manifest.json", "events.jsonl", "workspaces"
RESERVE, RESERVED = ".reserve", 1 << 16
"""A file beside the journal: when the disk is full it is given up, so that the run's last words can be written."""
MAX_LINE = 16 << 20
Event = dict[str, Any]

# type -> its fields beside seq, at, type. Events about one attempt carry `trial` (index) and `attempt` (from 1).
EVENT_TYPES: dict[str, tuple[str, ...]] = {
    "run.started": ("workers", "load"),
    "run.resumed": ("workers", "load"),
    "run.finished": ("state",),  # finished | cancelled | interrupted
    "journal.repaired": ("cut",),  # bytes of a partial last line
    "cell.stopped": ("cell", "code", "sentence"),
    "trial.started": ("trial", "attempt", "seed", "worker"),
    "phase": ("trial", "attempt", "phase", "seconds"),
    "request": (
        "trial", "attempt", "number", "prompt", "text", "exit_code", "timed_out",
        "seconds", "usage", "transcript", "output", "changes", "delta", "ignored", "session", "replayed",
        "models",
    ),
    "judge": ("trial", "attempt", "number", "model", "prompt", "text", "seconds", "usage", "cut"),
    "observe": ("trial", "attempt", "measure", "value", "valid", "reason"),
    "guard": ("trial", "attempt", "sentence", "late", "where"),
    "artifact": ("trial", "attempt", "name", "kind", "media", "blob", "size"),
    "issue": ("trial", "attempt", "severity", "phase", "code", "sentence", "detail"),
    "changes": ("trial", "attempt", "stage", "blob", "counts"),  # stage: agent | evaluation
    "collected": ("trial", "attempt", "entries"),  # what became of each declared path (runner.collected)
    "checkpoint": ("trial", "attempt", "blob"),  # from here on the evaluation alone can be repeated
    "kept": ("trial", "attempt", "path", "blob", "files", "size"),
    "trial.finished": (
        "trial", "attempt", "state", "outcome", "fault", "phase", "reason", "seconds", "flags", "usage", "headline",
    ),
    "trial.retried": ("trial", "attempt", "code"),  # the attempt that is thrown over; the next number follows
    "trial.not_run": ("trial", "state", "reason"),  # cancelled | skipped | not_run without an attempt
}  # fmt: skip


def now() -> str:
    return moment(time.time_ns())


def moment(nanoseconds: int) -> str:
    """Write a time of the machine's clock as events have it."""
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    return f"{_second(seconds)}.{rest // 1_000_000:03d}Z"


@lru_cache(maxsize=2)
def _second(seconds: int) -> str:
    """Events come many to a second, and writing one's time out would cost as much as all the rest of it."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))


_ENCODER = json.JSONEncoder(separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def encode(event: Event) -> bytes:
    """Write one event as a line. Lone surrogates are escaped, so that the file is always UTF-8."""
    return _ENCODER.encode(event).encode() + b"\n"


class Journal:
    """The writer of one run's events. Safe to use from several threads of the process that opened it."""

    def __init__(self, run_dir: Path, file: FileIO, seq: int) -> None:
        self.run_dir, self._file, self._seq = run_dir, file, seq
        self._lock = threading.Lock()

    @classmethod
    def open(cls, run_dir: Path) -> Journal:
        """Open for appending, cutting a partial last line first (appending after it would corrupt a middle line)."""
        path = run_dir / EVENTS
        file = path.open("a+b", buffering=0)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            file.close()
            raise JournalError(f"The run {run_dir.name} is being written by another process.") from error
        try:
            seq, good, size = _tail(path)
            journal = cls(run_dir, file, seq)
            _reserve(run_dir)
            if size > good:
                file.truncate(good)
                journal.append("journal.repaired", cut=size - good)
        except BaseException:
            file.close()
            raise
        return journal

    def append(self, type: str, /, **fields: Any) -> Event:
        return self.extend([{"type": type, **fields}])[0]

    def extend(self, events: Iterable[Event]) -> list[Event]:
        """Append events in order; `seq` is given here, `at` too where the event has none."""
        written: list[Event] = []
        with self._lock:
            lines = bytearray()
            for event in events:
                if event["type"] not in EVENT_TYPES:
                    raise JournalError(f"There is no event type {event['type']!r}.")
                full = {"seq": self._seq + len(written) + 1, "at": event.get("at") or now(), **event}
                lines += encode(full)
                written.append(full)
            self._write(lines)
            self._seq += len(written)
        return written

    def _write(self, lines: bytearray) -> None:
        """Write all or nothing: what a full disk cut short is taken back, so that the next line begins a line."""
        begin = self._file.seek(0, os.SEEK_END)
        rest = memoryview(lines)
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            self._file.truncate(begin)
            raise self._told(error) from error

    def sync(self) -> None:
        """Make everything written so far survive a power cut; called at the end of each trial."""
        try:
            os.fdatasync(self._file.fileno())
        except OSError as error:
            raise self._told(error) from error

    def _told(self, error: OSError) -> Exception:
        return DiskFull(self.run_dir) if is_disk_full(error) else error

    def release(self) -> None:
        """Give up the space that was held for the last words."""
        with suppress(OSError):
            (self.run_dir / RESERVE).unlink(missing_ok=True)

    def close(self) -> None:
        self.release()
        self._file.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_events(run_dir: Path) -> Iterator[Event]:
    """Read events one by one, in order; a partial last line (a writer still at work, or killed) is left aside."""
    try:
        file = (run_dir / EVENTS).open("rb")
    except FileNotFoundError:
        return
    with file:
        yield from decode(file)


def decode(file: IO[bytes], loads: Callable[[bytes], Any] = json.loads, number: int = 0) -> Iterator[Event]:
    """Read events from an open binary file; refuse a damaged line that is not the last. `loads` may be a faster one.

    `number` lines of the journal stand before those of this file.
    """
    while line := file.readline(MAX_LINE + 1):
        number += 1
        if len(line) > MAX_LINE:
            raise JournalError(f"Line {number} of events.jsonl is longer than {MAX_LINE} bytes.")
        if not line.endswith(b"\n"):
            return
        try:
            event = loads(line)
        except (ValueError, RecursionError) as error:
            raise JournalError(f"Line {number} of events.jsonl is not JSON: {error}.") from error
        if not isinstance(event, dict) or not isinstance(event.get("type"), str):
            raise JournalError(f"Line {number} of events.jsonl is not an event: it has no 'type'.")
        yield event


def _reserve(run_dir: Path) -> None:
    try:
        with (run_dir / RESERVE).open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, RESERVED)
    except OSError as error:
        (run_dir / RESERVE).unlink(missing_ok=True)
        if is_disk_full(error):
            raise DiskFull(run_dir) from error


def _tail(path: Path) -> tuple[int, int, int]:
    """Find (last seq, end of the last whole line, size)."""
    seq = good = 0
    with path.open("rb") as file:
        for line in file:
            if not line.endswith(b"\n"):
                break
            try:
                seq = int(json.loads(line)["seq"])
            except (ValueError, KeyError, TypeError) as error:
                raise JournalError(
                    f"{path} is damaged after event {seq}: a line in the middle is not an event."
                ) from error
            good += len(line)
    return seq, good, path.stat().st_size
