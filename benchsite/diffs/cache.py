"""Answers kept as files by key. Losing them loses only time; they hold numbers and class names, never text."""

from __future__ import annotations

import contextlib
import json
import os
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from runner.digests import digest

SWEEP_EVERY = 200


class Cache:
    """A size-capped folder of JSON. `root` None keeps nothing."""

    def __init__(self, root: Path | None, limit: int = 256_000_000) -> None:
        self.root, self.limit = root, limit
        self._puts = 0

    def get(self, key: list[Any], make: Callable[[], Any]) -> Any:
        """Give the answer for a key, made and kept where it is not there yet."""
        answer = self.look(key)
        if answer is None:
            answer = make()
            self.put(key, answer)
        return answer

    def look(self, key: list[Any]) -> Any:
        """Give the answer kept for a key; None where there is none, or what is kept is damaged."""
        if self.root is None:
            return None
        try:
            return json.loads(zlib.decompress(self._place(key).read_bytes()))
        except (OSError, ValueError, zlib.error):
            return None

    def put(self, key: list[Any], answer: Any) -> None:
        if self.root is not None:
            self._put(self._place(key), answer)

    def _place(self, key: list[Any]) -> Path:
        assert self.root is not None, "a cache that keeps nothing has no places"
        name = digest(key)
        return self.root / name[:2] / name

    def _put(self, path: Path, answer: Any) -> None:
        """Write beside and rename; a full disk must cost a page nothing but the next reading's time."""
        beside = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            beside.write_bytes(zlib.compress(json.dumps(answer, separators=(",", ":")).encode(), 1))
            beside.replace(path)
        except OSError:
            with contextlib.suppress(OSError):
                beside.unlink()
        self._puts += 1
        if self._puts % SWEEP_EVERY == 0:
            self.sweep()

    def sweep(self) -> None:
        """Remove the oldest answers until the rest fits the limit."""
        if self.root is None:
            return
        total = 0
        for _, size, path in sorted(self._kept(), reverse=True):
            total += size
            if total > self.limit:
                with contextlib.suppress(OSError):
                    path.unlink()

    def _kept(self) -> Iterator[tuple[float, int, Path]]:
        """Give (time, size, path) of each answer; another process may take any of it away meanwhile."""
        assert self.root is not None, "a cache that keeps nothing has no answers"
        for folder, _, names in os.walk(self.root):  # unlike glob it passes over a folder that has just gone
            for path in (Path(folder, name) for name in names):
                with contextlib.suppress(OSError):
                    found = path.stat()
                    yield found.st_mtime, found.st_size, path
