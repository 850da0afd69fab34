"""A diff of two real 10,000-line Python files, 3 % edited, coloured: its first screen, never read before and again.

CPU time of the request in the process, median of seven, beside what makes no page: `git diff --no-index` (the process
included) and diff2html in Node (side by side, word marks, no colours; the process left out) on the same two files.
Bars: 250 ms and 60 ms. Then the page of a change of ten thousand files, half of them moved: 150 ms as any other page.
"""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .site_perf import ROUNDS, measured, set_up

LINES, SHARE, FILES = 10_000, 0.03, 10_000
COLD_BAR, WARM_BAR, PAGE_BAR = 0.250, 0.060, 0.150
NODE_MODULES = Path(__file__).parents[2] / "var" / "npm" / "node_modules"
SCRIPT = """
const {html} = require("diff2html"), {readFileSync} = require("fs"), patch = readFileSync(process.argv[1], "utf8");
const options = {outputFormat: "side-by-side", matching: "lines", diffStyle: "word", drawFileList: false};
const spent = [];
let size = 0;
for (let n = 0; n <= ROUNDS; n += 1) {
  const began = process.cpuUsage();
  size = html(patch, options).length;
  const used = process.cpuUsage(began);
  if (n) spent.push((used.user + used.system) / 1e6);
}
console.log(JSON.stringify({spent, size}));
"""


def real_source() -> list[str]:
    """Take ten thousand lines of the standard library, in the order of their files' names."""
    found: list[str] = []
    for file in sorted(Path(sysconfig.get_path("stdlib")).glob("[a-z]*.py")):
        found += file.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
        if len(found) >= LINES:
            break
    return found[:LINES]


def edited(rng: random.Random) -> tuple[bytes, bytes]:
    """Edit a share of the lines as people do: a word more, a line gone, a line new."""
    old, new = real_source(), []
    for line in old:
        chance = rng.random()
        if chance >= SHARE:
            new.append(line)
        elif chance < SHARE * 0.8:
            new.append(line.rstrip("\n") + " edited\n")
        elif chance < SHARE * 0.9:
            new += [line, "    inserted = True\n"]
    return "".join(old).encode(), "".join(new).encode()


def take_in(folder: Path, old: bytes, new: bytes) -> Any:
    from benchsite.flows.ingest import ingest
    from tests import make, make_world

    make_world.STORED = 2_000_000
    make_world.START = {"src/parser.py": b"", "src/legacy.py": b"", "module.py": old}
    make_world.unsolved = make_world.solved = lambda world, rng: world.files.update({"module.py": new})
    run = make.make_run(folder / "run", bench="perf/diff", cells=1, scenarios=1, trials=1, fates=False)
    return ingest(run, verdict="accepted")


def take_in_many(folder: Path) -> Any:
    from tests.site.web.one_trial import Story
    from tests.site.web.one_trial import take_in as ingest_story

    before = {f"src/pkg{n % 40}/file{n}.py": b"x = %d\ny = 2\n" % n for n in range(FILES)}
    after = {
        name.replace("src/", "lib/") if n % 2 else name: data if n % 2 else data.replace(b"y = 2", b"y = 3")
        for n, (name, data) in enumerate(before.items())
    }
    return ingest_story(folder / "many", Story(before=before, after=after), seed=2)


def by_git(folder: Path) -> float:
    spent = []
    for _ in range(ROUNDS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(["git", "diff", "--no-index", "old.py", "new.py"], cwd=folder, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(spent)


def by_diff2html(folder: Path) -> tuple[float, int] | None:
    """Let diff2html write the page it would for the same patch; None where it is not installed."""
    if not shutil.which("node") or not (NODE_MODULES / "diff2html").exists():
        return None
    patch = subprocess.run(["git", "diff", "--no-index", "old.py", "new.py"], cwd=folder, capture_output=True).stdout
    (folder / "diff.patch").write_bytes(patch)
    script = SCRIPT.replace("ROUNDS", str(ROUNDS))
    env = {**os.environ, "NODE_PATH": str(NODE_MODULES)}
    command = ["node", "-e", script, str(folder / "diff.patch")]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    answer = json.loads(done.stdout)
    return statistics.median(answer["spent"]), answer["size"]


def tell(name: str, seconds: float, size: int = 0, bar: float = 0.0, git: float = 0.0) -> bool:
    parts = [f"{name:34} {seconds * 1000:6.0f} ms"]
    parts += [f"(bar {bar * 1000:.0f})"] if bar else []
    parts += [f"{seconds / git:6.1f} x git"] if git else []
    parts += [f"{size / 1000:7.0f} kB"] if size else []
    over = bool(bar) and seconds > bar
    print("  ".join(parts) + ("   OVER THE BAR" if over else ""), flush=True)
    return not over


def site(address: str, name: str, bar: float, git: float, before: Callable[[], Any] = lambda: None) -> bool:
    seconds, _, size = measured(address, before)
    return tell(name, seconds, size, bar, git)


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="benchsite-perf-") as name:
        folder = Path(name)
        set_up(folder)
        old, new = edited(random.Random(1))
        (folder / "old.py").write_bytes(old)
        (folder / "new.py").write_bytes(new)
        from benchsite.readings.address import to_address
        from benchsite.web import diffparts

        run = take_in(folder, old, new)
        file = f"/runs/{run.ulid}/t/0/changes/file/?f={to_address('module.py')}"

        def forget() -> None:
            diffparts._written.clear()
            shutil.rmtree(folder / "data" / "cache", ignore_errors=True)

        git, others = by_git(folder), by_diff2html(folder)
        tell("git diff --no-index", git, git=git)
        if others:
            tell("diff2html, whole, no colours", *others, git=git)
        good = [
            site(file, "first screen, never read before", COLD_BAR, git, forget),
            site(file, "first screen, read before", WARM_BAR, git),
            site(file, "the same, by another process", WARM_BAR, git, diffparts._written.clear),
            site(f"{file}&context=all&from=R1&part=rows", "all rows, colours kept", 0, git, diffparts._written.clear),
        ]
        many = f"/runs/{take_in_many(folder).ulid}/t/0/changes/"
        good.append(site(many, f"a change of {FILES:,} files", PAGE_BAR, 0))
        forget()
        began = time.process_time()
        from django.test import Client

        Client().get(f"{file}&context=all&from=R1&part=rows")
        tell("all rows, never read before", time.process_time() - began, git=git)
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
