"""A template, a store and a place: what each test of worlds starts from."""

from __future__ import annotations

import contextlib
import ctypes
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from runner.blobs import BlobStore
from runner.definition import DEFAULT_IGNORE
from runner.worlds import mounting
from runner.worlds.backends import Copying, Overlay, try_styles
from runner.worlds.baseline import Baseline
from runner.worlds.capture import ChangeSet, capture
from runner.worlds.layers import Lower
from runner.worlds.places import Place, drop_place, make_place
from runner.worlds.rules import Rules
from runner.worlds.tree import scan


def _styles() -> list[str]:
    """What this process may mount; from now on in a namespace of its own, where no mount outlives it."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCHSITE_WORLDS", f"{folder}/worlds")
        (Path(folder) / "template" / "folder").mkdir(parents=True)
        tried = try_styles(Path(folder) / "template")
    found = [style for style in (mounting.TRUSTED, mounting.OWN) if tried.get(style) in ("ok", "flat")]
    libc = ctypes.CDLL(None, use_errno=True)
    if found and libc.unshare(mounting.CLONE_NEWNS) == 0:
        assert libc.mount(None, b"/", None, mounting.MS_REC | mounting.MS_SLAVE, None) == 0
        return found
    return []


BACKENDS = ("copy", *_styles())
"""Each test of a world runs with a copy and, by who may mount one, with overlays of both kinds of marks."""


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


@pytest.fixture(params=BACKENDS)
def style(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def start(style: str, template: Path, place: Place, blobs: BlobStore) -> Iterator[Callable[..., Trial]]:
    """Make a world from the template, let `setup` write, take the baseline."""
    mounted: list[Path] = []

    def begin(
        setup: Callable[[Path], None] = lambda world: None,
        ignore: tuple[str, ...] = DEFAULT_IGNORE,
        max_bytes: int = 10 << 20,
    ) -> Trial:
        rules = Rules(ignore, max_bytes)
        tree = scan(template)
        worlds = Copying(template, tree) if style == "copy" else Overlay(style, Lower(template, tree, rules))
        take_baseline = worlds.set_up(place)
        if style != "copy":
            mounted.append(place.world)
        setup(place.world)
        return Trial(place.world, take_baseline(blobs, rules), blobs, rules)

    yield begin
    for world in mounted:
        ctypes.CDLL(None).umount2(str(world).encode(), 2)


@pytest.fixture
def trial(start: Callable[..., Trial]) -> Trial:
    return start()
