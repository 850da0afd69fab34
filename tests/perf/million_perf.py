"""What pages cost in a database of a million trials on PostgreSQL.

Wall time of a request in the process, median of seven, warm; it takes some minutes to make the database. Bars: 150 ms
and 12 queries a page.
"""

from __future__ import annotations

import importlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests import servers

ROUNDS, PAGE_BAR, QUERY_BAR = 7, 0.150, 12


def pages(found: dict[str, Any]) -> dict[str, str]:
    large, small, cases = found["large"], found["small"], found["cases"]
    trial = large.trials.order_by("index").first()
    cells = list(large.cells.order_by("ordinal")[:6])
    here, bench = f"/runs/{large.ulid}/", f"/b/{small.bench.owner}/{small.bench.name}/"
    several = "&".join(f"of=cell:{large.ulid}/{cell.key10}" for cell in cells)
    slug = cases.trials.select_related("scenario").first().scenario.slug
    return {
        "home": "/",
        "benches": "/b/",
        "runs": "/runs/",
        "runs, filtered": "/runs/?state=finished&verdict=accepted",
        "bench of 500 runs": bench,
        "its scenario across runs": f"{bench}s/fix_bug/",
        "run of 36,000 trials": here,
        "run, another measure": f"{here}?measure=collateral&sort=spread",
        "trials of the run": f"{here}trials",
        "trials, filtered": f"{here}trials?state=scored&outcome=unsolved",
        "scenario in the run": f"{here}s/{trial.scenario.slug}/",
        "scenario of 500 cases": f"/runs/{cases.ulid}/s/{slug}/",
        "cell": f"{here}c/{cells[0].key10}/",
        "trial": f"{here}t/{trial.index}/",
        "changes": f"{here}t/{trial.index}/changes/",
        "artifacts": f"{here}t/{trial.index}/artifacts/",
        "compare two cells": f"/compare/?of=cell:{large.ulid}/{cells[0].key10}&of=cell:{large.ulid}/{cells[1].key10}",
        "compare six cells": f"/compare/?{several}",
        "compare two trials": f"/compare/?of=trial:{large.ulid}/{trial.index}&of=trial:{large.ulid}/{trial.index + 1}",
        "search a name": "/search?q=small7",
        "search a run": f"/search?q={small.ulid[:14]}",
        "search a common word": "/search?q=fix",
        "artifact in all trials": f"/a/{trial.artifacts.first().digest}/",
    }


def measured(address: str) -> tuple[float, int, int]:
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    client, spent = Client(), []
    with CaptureQueriesContext(connection) as queries:
        response = client.get(address)
        asked = len(queries)
    if response.status_code != 200:
        raise SystemExit(f"{address} answers {response.status_code}")
    for _ in range(ROUNDS):
        began = time.perf_counter()
        client.get(address)
        spent.append(time.perf_counter() - began)
    return statistics.median(spent), asked, len(response.content)


def look(folder: Path) -> int:
    import django
    from django.conf import settings
    from django.core.management import call_command

    django.setup()
    settings.ALLOWED_HOSTS = ["testserver"]
    call_command("migrate", verbosity=0)
    from benchsite.runs.models import Run, Trial

    from .million import fill

    began = time.perf_counter()
    found = fill(folder)
    print(
        f"{Trial.objects.count():,} trials of {Run.objects.count():,} runs, made in {time.perf_counter() - began:.0f} s"
    )
    importlib.import_module("benchsite.wsgi")  # which makes a process as a server's is
    worst = 0
    for name, address in pages(found).items():
        seconds, asked, size = measured(address)
        good = seconds <= PAGE_BAR and asked <= QUERY_BAR
        worst |= not good
        print(
            f"{name:26} {seconds * 1000:6.0f} ms (bar {PAGE_BAR * 1000:.0f})  {asked:2} queries  {size / 1000:6.0f} kB"
            f"{'' if good else '   OVER THE BAR'}",
            flush=True,
        )
    return worst


def main() -> int:
    if sys.argv[1:2] == ["--one"]:
        return look(Path(sys.argv[2]))
    if servers.find_program("initdb") is None:
        print("not measured: PostgreSQL is not installed (on Debian: apt install postgresql)")
        return 0
    with servers.postgres() as url, tempfile.TemporaryDirectory(prefix="benchsite-perf-") as folder:
        settings = {"BENCHSITE_DATA": f"{folder}/data", "BENCHSITE_DATABASE_URL": url}
        env = {**os.environ, **settings, "DJANGO_SETTINGS_MODULE": "benchsite.settings"}
        argv = [sys.executable, "-m", "tests.perf.million_perf", "--one", folder]
        return subprocess.run(argv, env=env, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
