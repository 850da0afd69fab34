"""Measure set-up, baseline and capture of a large world, as a copy and as an overlay, against `cp -a`; bar 1.3.

Pairs are interleaved with a sync before each, and the median of the pairs' ratios counts: disks and neighbours drift.
Each side goes first in turn, and no world is removed before the last is made: ext4 looks past every inode that was
given up in the last minutes, so whoever came after a removal would pay for it.
What the kernel does for a copy (and `cp` pays as well) and what this process does are told apart by CPU times.
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from runner.blobs import BlobStore
from runner.definition import Capture
from runner.worlds import mounting
from runner.worlds.backends import Copying, Overlay, try_styles
from runner.worlds.capture import capture
from runner.worlds.layers import Lower
from runner.worlds.places import Place, make_place, remove_tree, worlds_root
from runner.worlds.rules import Rules
from runner.worlds.tree import scan

BAR, CAPTURE_BAR = 1.3, 0.060
RULES = Rules.from_capture(Capture())


@dataclass(frozen=True)
class Size:
    files: int
    bytes: int
    pairs: int
    held: bool = False
    """Whether the bars are held against it."""


SIZES = (Size(7_000, 72_000_000, 5, held=True), Size(50_000, 100_000_000, 1))


def generate(root: Path, size: Size) -> None:
    """Sizes as source trees have them: many small files, a few large ones."""
    chance = random.Random(1)
    weights = [chance.paretovariate(1.2) for _ in range(size.files)]
    scale = size.bytes / sum(weights)
    for number, weight in enumerate(weights):
        folder = root / f"package{number % (size.files // 100)}" / f"part{number % 7}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"module{number}.py").write_bytes(chance.randbytes(int(weight * scale)))


@dataclass(frozen=True)
class Spent:
    """Seconds: set-up with baseline, capture, and this process's own CPU (user, kernel) for both."""

    begun: float
    captured: float
    user: float = 0.0
    kernel: float = 0.0

    @property
    def all(self) -> float:
        return self.begun + self.captured


def with_cp(source: Path, place: Place) -> float:
    os.sync()
    began = time.perf_counter()
    subprocess.run(["cp", "-a", f"{source}/.", place.world], check=True)
    return time.perf_counter() - began


def with_runner(worlds: Copying | Overlay, place: Place, blobs: BlobStore, *, alone: bool = True) -> Spent:
    """`alone`: as where a bench has no setup, so that nobody was in the world since it was copied."""
    os.sync()
    before, began = cpu(), time.perf_counter()
    baseline = worlds.set_up(place, alone=alone)(blobs, RULES)
    begun = time.perf_counter() - began
    change_three(place.world)
    began = time.perf_counter()
    changes = capture(place.world, baseline, blobs, RULES)
    captured = time.perf_counter() - began
    user, kernel = (now - then for now, then in zip(cpu(), before, strict=True))
    if len(changes.changes) != 3:
        raise SystemExit(f"3 changes were made, {len(changes.changes)} were found")
    return Spent(begun, captured, user, kernel)


def cpu() -> tuple[float, float]:
    """Seconds of this process and of those it started: user, kernel."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime for one in used), sum(one.ru_stime for one in used)


def change_three(world: Path) -> None:
    (world / "package1" / "part1" / "module1.py").write_text("changed = True\n")
    (world / "package2" / "part2" / "module2.py").unlink()
    (world / "added.py").write_text("added = True\n")


def in_child(measure: Callable[[], Spent]) -> Spent:
    """A trial's process is forked for it, and what it mounts goes with it."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        spent = measure()
        os.write(writer, f"{spent.begun} {spent.captured} {spent.user} {spent.kernel}".encode())
        os._exit(0)
    os.close(writer)
    os.waitpid(pid, 0)
    with os.fdopen(reader) as file:
        return Spent(*map(float, file.read().split()))


def measure(folder: Path, size: Size) -> bool:
    source, blobs = folder / f"source{size.files}", BlobStore(folder / "blobs")
    generate(source, size)
    template = scan(source)
    sides: list[Callable[[Place], Spent]] = [
        lambda place: Spent(with_cp(source, place), 0),
        lambda place: in_child(lambda: with_runner(Copying(source, template), place, blobs)),
        lambda place: in_child(lambda: with_runner(Copying(source, template), place, blobs, alone=False)),
    ]
    rows, places = list[list[Spent]](), list[Place]()
    for pair in range(size.pairs):
        row = list[Spent]()
        for side in sides if pair % 2 == 0 else reversed(sides):
            places.append(make_place("perf", size.files, len(places) + 1))
            row.append(side(places[-1]))
        rows.append(row if pair % 2 == 0 else row[::-1])
    for place in places:
        remove_tree(place.root)
    ratio, after_setup = (statistics.median(row[which].all / row[0].all for row in rows) for which in (1, 2))
    captured = statistics.median(row[1].captured for row in rows)
    pairs = " ".join(f"{plain.all:.3f}/{ours.all:.3f}" for plain, ours, _ in rows)
    print(f"world of {size.files:,} files, {size.bytes // 1_000_000} MB: cp -a/copy in s: {pairs}")
    own = min((row[1] for row in rows), key=lambda spent: spent.all)
    bar = f" (bar {BAR}x)" if size.held else ""
    print(
        f"  copy: {ratio:.2f}x cp -a{bar}, {after_setup:.2f}x after a setup; a capture {captured * 1000:.0f} ms", end=""
    )
    print(f"{' (bar 60)' if size.held else ''}; CPU user {own.user:.2f} s, kernel {own.kernel:.2f} s", flush=True)
    overlay(source, size, blobs, statistics.median(row[0].all for row in rows))
    return not size.held or (ratio <= BAR and captured <= CAPTURE_BAR)


def overlay(source: Path, size: Size, blobs: BlobStore, plain: float) -> None:
    tried = try_styles(source)
    style = next((name for name in mounting.STYLES if tried.get(name) in ("ok", "flat")), "")
    if not style:
        print(f"  overlay: the kernel mounts none here: {tried}")
        return
    template, began = scan(source), time.perf_counter()
    worlds = Overlay(style, Lower(source, template, RULES))
    once, spent = time.perf_counter() - began, list[Spent]()
    for _ in range(5):
        place = make_place("perf", size.files, 2)
        spent.append(in_child(lambda place=place: with_runner(worlds, place, blobs)))  # type: ignore[misc]
        remove_tree(place.root)
    begun, captured = (statistics.median(getattr(one, name) for one in spent) for name in ("begun", "captured"))
    print(
        f"  overlay ({style}): set-up with baseline {begun * 1000:.1f} ms, a capture {captured * 1000:.1f} ms,", end=""
    )
    print(f" {(begun + captured) / plain:.3f}x cp -a; once a run {once * 1000:.0f} ms", flush=True)


def main() -> int:
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCHSITE_PERF_DIR")) as name:
        os.environ["BENCHSITE_WORLDS"] = f"{name}/worlds"
        good = [measure(Path(name), size) for size in SIZES]
        shutil.rmtree(worlds_root(), ignore_errors=True)
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
