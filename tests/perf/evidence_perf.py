"""What large evidence costs: a transcript of 100,000 steps beside one of 300, worlds and changes of 10,000 files.

CPU time of the request in the process: warm pages, median of seven; first readings, with the cache emptied, median of
three. The bar is that of any page. Ratios are to the small transcript.
"""

from __future__ import annotations

import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.perf.site_perf import PAGE_BAR, measured, set_up, tell

STEPS, FEW, FILES = 100_000, 300, 10_000


def step(n: int) -> dict[str, Any]:
    if n % 3 == 0:
        return {"role": "assistant", "kind": "message", "text": f"thinking about {n} " * 8}
    if n % 3 == 1:
        return {"role": "assistant", "kind": "tool_call", "tool": "shell", "arguments": {"command": f"pytest -q {n}"}}
    return {"role": "tool", "kind": "observation", "text": f"line of output {n}\n" * 10, "exit_code": int(n % 7 == 0)}


def other(n: int) -> dict[str, Any]:
    """Alike for half of the way, then now and then something else; the last steps are alike again."""
    return {**step(n), "text": f"otherwise {n}"} if STEPS // 2 < n < STEPS - 100 and n % 11 == 0 else step(n)


def take_in(folder: Path) -> tuple[Any, ...]:
    """Give runs of one trial: two long transcripts, a short one, two worlds of many files that differ in a third."""
    from tests.site.web.one_trial import Story
    from tests.site.web.one_trial import take_in as taken

    before = {f"pkg/m{n // 100}/f{n}.py": b"x = %d\n" % n for n in range(FILES)}
    left = {path: data + b"y = 2\n" for path, data in before.items()}
    right = {path: b"z = 1\n" if n % 3 == 0 else left[path] for n, path in enumerate(left)}
    return (
        taken(folder / "long", Story(steps=[step(n) for n in range(STEPS)]), seed=1),
        taken(folder / "other", Story(steps=[other(n) for n in range(STEPS)]), seed=5),
        taken(folder / "short", Story(steps=[step(n) for n in range(FEW)]), seed=2),
        taken(folder / "left", Story(before=before, after=left), seed=3, definition="many"),
        taken(folder / "right", Story(before=before, after=right), seed=4, definition="many"),
    )


def first_reading(what: str, address: str) -> bool:
    """Open a page as its first reader does: nothing of it is in the cache."""
    from django.test import Client

    from benchsite.readings.shelf import diff_cache

    taken = []
    for _ in range(3):
        shutil.rmtree(str(diff_cache().root), ignore_errors=True)
        began = time.process_time()
        assert Client().get(address).status_code == 200
        taken.append(time.process_time() - began)
    cost = statistics.median(taken)
    print(f"  {what}: {cost * 1000:.0f} ms of {PAGE_BAR * 1000:.0f}")
    return cost <= PAGE_BAR


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="benchsite-perf-") as name:
        set_up(Path(name))
        long, far, short, left, right = take_in(Path(name))
        small = measured(f"/runs/{short.ulid}/t/0/transcript/")[0]
        print(f"transcript of {STEPS:,} steps")
        good = first_reading("first reading", f"/runs/{long.ulid}/t/0/transcript/")
        beside = f"/compare/?of=trial:{long.ulid}/0&of=trial:{far.ulid}/0&what=transcript"
        good &= first_reading("beside another one, first reading", beside)
        good &= first_reading("the next part of it, first reading", f"{beside}&from=60000.60000")
        for what, query in {"page 1": "", "page 400": "?page=400", "one role": "?role=tool&page=90"}.items():
            address = f"/runs/{long.ulid}/t/0/transcript/{query}"
            good &= tell(f"  {what}", address, PAGE_BAR)
            print(f"    {measured(address)[0] / small:.2f} times a transcript of {FEW} steps")
        here = f"/runs/{left.ulid}/t/0"
        pair = f"of=trial:{left.ulid}/0&of=trial:{right.ulid}/0"
        for what, address in {
            "workspace": f"{here}/workspace/",
            "start world": f"{here}/workspace/?at=start",
            "found by name": f"{here}/workspace/?find=f99",
            "changes": f"{here}/changes/",
            "compared": f"/compare/?{pair}",
        }.items():
            good &= tell(f"{what}, {FILES:,} files", address, PAGE_BAR)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
