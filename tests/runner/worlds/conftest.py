"""A template, a store and a place: what each test of worlds starts from."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from runner.blobs import BlobStore
from runner.definition import DEFAULT_IGNORE
from runner.worlds.baseline import Baseline, take_baseline
from runner.worlds.capture import ChangeSet, capture
from runner.worlds.copying import copy_world
from runner.worlds.places import Place, drop_place, make_place
from runner.worlds.rules import Rules
from runner.worlds.tree import scan


@contextlib.contextmanager
def without_root_powers() -> Iterator[None]:
    """Take CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH from this thread, so that modes bind root as they bind others."""
    libc = ctypes.CDLL(None, use_errno=True)
    header, before = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    assert libc.capget(header, before) == 0
    without = (ctypes.c_uint32 * 6)(*before)
    without[0] &= ~0b110
    assert libc.capset(header, without) == 0
    try:
        yield
    finally:
        assert libc.capset(header, before) == 0


@pytest.fixture
def worlds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "worlds"
    monkeypatch.setenv("BENCHSITE_WORLDS", str(root))
    return root


@pytest.fixture
def place(worlds: Path) -> Iterator[Place]:
    made = make_place("01RUN", 3, 1)
    yield made
    drop_place(made)


@pytest.fixture
def template(tmp_path: Path) -> Path:
    root = tmp_path / "template"
    (root / "src").mkdir(parents=True)
    (root / "src" / "parser.py").write_text("one\ntwo\nthree\n")
    (root / "src" / "run.sh").write_text("#!/bin/sh\n")
    (root / "src" / "run.sh").chmod(0o755)
    (root / "data.bin").write_bytes(bytes(range(256)) * 4)
    (root / "README").write_text("hello")
    (root / "empty").mkdir()
    return root


@dataclass
class Trial:
    """A copied world with its baseline; `changes()` looks at it as a trial does after a request."""

    world: Path
    baseline: Baseline
    blobs: BlobStore
    rules: Rules

    def changes(self) -> ChangeSet:
        return capture(self.world, self.baseline, self.blobs, self.rules)


@pytest.fixture
def blobs(tmp_path: Path) -> BlobStore:
    return BlobStore(tmp_path / "blobs")


@pytest.fixture
def start(template: Path, place: Place, blobs: BlobStore) -> Callable[..., Trial]:
    """Copy the template, let `setup` write, take the baseline."""

    def begin(
        setup: Callable[[Path], None] = lambda world: None,
        ignore: tuple[str, ...] = DEFAULT_IGNORE,
        max_bytes: int = 10 << 20,
    ) -> Trial:
        rules = Rules(ignore, max_bytes)
        copied = copy_world(template, place.world)
        setup(place.world)
        baseline = take_baseline(place.world, scan(template), blobs, rules, copied)
        return Trial(place.world, baseline, blobs, rules)

    return begin


@pytest.fixture
def trial(start: Callable[..., Trial]) -> Trial:
    return start()
