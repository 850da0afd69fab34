"""Measure copy + baseline + capture of a world of 7,000 files and 72 MB against `cp -a`; bar 1.3.

Pairs are interleaved with a sync before each, and the median of the pairs' ratios counts: disks and neighbours drift.
"""

from __future__ import annotations

import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from runner.blobs import BlobStore
from runner.definition import Capture
from runner.worlds.baseline import take_baseline
from runner.worlds.capture import capture
from runner.worlds.copying import copy_world
from runner.worlds.rules import Rules
from runner.worlds.tree import Tree, scan

FILES, BYTES, PAIRS, BAR, CAPTURE_BAR = 7_000, 72_000_000, 5, 1.3, 0.060


def generate(root: Path) -> None:
    """Sizes as source trees have them: many small files, a few large ones."""
    chance = random.Random(1)
    sizes = [chance.paretovariate(1.2) for _ in range(FILES)]
    scale = BYTES / sum(sizes)
    for number, size in enumerate(sizes):
        folder = root / f"package{number % 70}" / f"part{number % 7}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"module{number}.py").write_bytes(chance.randbytes(int(size * scale)))


def with_cp(source: Path, target: Path) -> float:
    os.sync()
    began = time.perf_counter()
    subprocess.run(["cp", "-a", source, target], check=True)
    return time.perf_counter() - began


def with_runner(source: Path, template: Tree, target: Path, blobs: BlobStore) -> tuple[float, float]:
    """Give the seconds of copy + baseline + capture, and of the capture alone."""
    rules = Rules.from_capture(Capture())
    os.sync()
    began = time.perf_counter()
    copied = copy_world(source, target)
    baseline = take_baseline(target, template, blobs, rules, copied)
    spent = time.perf_counter() - began
    change_three(target)
    began = time.perf_counter()
    changes = capture(target, baseline, blobs, rules)
    captured = time.perf_counter() - began
    if len(changes.changes) != 3:
        raise SystemExit(f"3 changes were made, {len(changes.changes)} were found")
    return spent + captured, captured


def change_three(world: Path) -> None:
    (world / "package1" / "part1" / "module1.py").write_text("changed = True\n")
    (world / "package2" / "part2" / "module2.py").unlink()
    (world / "added.py").write_text("added = True\n")


def main() -> int:
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCHSITE_PERF_DIR")) as name:
        folder = Path(name)
        source, target, blobs = folder / "source", folder / "target", BlobStore(folder / "blobs")
        generate(source)
        template = scan(source)
        ratios, captures, rows = [], [], []
        for _ in range(PAIRS):
            plain = with_cp(source, target)
            shutil.rmtree(target)
            ours, captured = with_runner(source, template, target, blobs)
            shutil.rmtree(target)
            ratios.append(ours / plain)
            captures.append(captured)
            rows.append(f"{plain:.3f}/{ours:.3f}")
    ratio, captured = statistics.median(ratios), statistics.median(captures)
    print(f"world of {FILES} files, {BYTES // 1_000_000} MB: cp -a/runner in s: {' '.join(rows)}")
    print(f"copy + baseline + capture: {ratio:.2f}x cp -a (bar {BAR}x); a capture {captured * 1000:.0f} ms (bar 60)")
    return 0 if ratio <= BAR and captured <= CAPTURE_BAR else 1


if __name__ == "__main__":
    sys.exit(main())
