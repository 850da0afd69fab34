"""What large evidence costs: a transcript of 100,000 steps beside one of 300, worlds and changes of 10,000 files.

Warm pages, CPU time of the request in the process, median of seven; the first reading, which makes the index, is told
apart. The bar is that of any page. Ratios are to the small transcript.
"""

from __future__ import annotations

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


def take_in(folder: Path) -> tuple[Any, Any, Any, Any]:
    """Give runs of one trial: a long and a short transcript, and two worlds of many files that differ in a third."""
    from tests.site.web.one_trial import Story
    from tests.site.web.one_trial import take_in as taken

    before = {f"pkg/m{n // 100}/f{n}.py": b"x = %d\n" % n for n in range(FILES)}
    left = {path: data + b"y = 2\n" for path, data in before.items()}
    right = {path: b"z = 1\n" if n % 3 == 0 else left[path] for n, path in enumerate(left)}
    return (
        taken(folder / "long", Story(steps=[step(n) for n in range(STEPS)]), seed=1),
        taken(folder / "short", Story(steps=[step(n) for n in range(FEW)]), seed=2),
        taken(folder / "left", Story(before=before, after=left), seed=3, definition="many"),
        taken(folder / "right", Story(before=before, after=right), seed=4, definition="many"),
    )


def first_reading(run: Any) -> float:
    from django.test import Client

    began = time.process_time()
    Client().get(f"/runs/{run.ulid}/t/0/transcript/")
    return time.process_time() - began


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="benchsite-perf-") as name:
        set_up(Path(name))
        long, short, left, right = take_in(Path(name))
        small = measured(f"/runs/{short.ulid}/t/0/transcript/")[0]
        print(f"transcript of {STEPS:,} steps, first reading {first_reading(long) * 1000:.0f} ms")
        good = True
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
