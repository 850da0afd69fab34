"""What pages of a large run cost on a warm site (100 scenarios x 36 cells x 10 trials).

CPU time of the request in the process, median of seven: it is what a loaded machine has to give. Bars: 150 ms, 12
queries a page, 600 kB before compression.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROUNDS = 7
PAGE_BAR, QUERY_BAR, SIZE_BAR = 0.150, 12, 600_000


def set_up(folder: Path) -> None:
    os.environ["BENCHSITE_DATA"] = str(folder / "data")
    os.environ["DJANGO_SETTINGS_MODULE"] = "benchsite.settings"
    os.environ.pop("BENCHSITE_DATABASE_URL", None)
    import django
    from django.conf import settings
    from django.core.management import call_command

    django.setup()
    settings.ALLOWED_HOSTS = ["testserver"]
    call_command("migrate", verbosity=0)


def take_in(folder: Path) -> Any:
    from benchsite.flows.ingest import ingest
    from tests import make

    large = make.make_run(folder / "large", bench="perf/large", cells=36, scenarios=100, trials=10, fates=False)
    return ingest(large, verdict="accepted")


def measured(address: str, before: Any = lambda: None) -> tuple[float, int, int]:
    """Give the median of CPU seconds, the queries and the bytes of a page."""
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    client, spent = Client(), []
    with CaptureQueriesContext(connection) as queries:
        response = client.get(address)
        asked = len(queries)  # at once: the next request empties the log
    if response.status_code != 200:
        raise SystemExit(f"{address} answers {response.status_code}")
    for _ in range(ROUNDS):
        before()
        began = time.process_time()
        client.get(address)
        spent.append(time.process_time() - began)
    return statistics.median(spent), asked, len(response.content)


def tell(name: str, address: str, bar: float, before: Any = lambda: None, most: float = float("inf")) -> bool:
    seconds, queries, size = measured(address, before)
    good = seconds <= bar and queries <= QUERY_BAR and size <= most
    print(
        f"{name:24} {seconds * 1000:6.0f} ms (bar {bar * 1000:.0f})  {queries:2} queries (bar {QUERY_BAR})"
        f"  {size / 1000:6.0f} kB{'' if good else '   OVER THE BAR'}",
        flush=True,
    )
    return good


def pages(run: Any) -> dict[str, str]:
    trial = run.trials.first()
    here = f"/runs/{run.ulid}/"
    return {
        "home": "/",
        "bench": f"/b/{run.bench.owner}/{run.bench.name}/",
        "run": here,
        "run, another measure": f"{here}?measure=score",
        "run, its live part": f"{here}?part=live",
        "scenario across runs": f"/b/{run.bench.owner}/{run.bench.name}/s/{trial.scenario.slug}/",
        "trials of the run": f"{here}trials",
        "scenario": f"{here}s/{trial.scenario.slug}/",
        "cell": f"{here}c/{trial.cell.key10}/",
        "trial": f"{here}t/{trial.index}/",
        "transcript": f"{here}t/{trial.index}/transcript/",
        "workspace": f"{here}t/{trial.index}/workspace/",
    }


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="benchsite-perf-") as name:
        folder = Path(name)
        set_up(folder)
        large = take_in(folder)
        print(f"a run of {large.trials.count():,} trials; median CPU of {ROUNDS} requests")
        good = [tell(what, address, PAGE_BAR, most=SIZE_BAR) for what, address in pages(large).items()]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
