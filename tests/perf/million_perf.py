"""What pages cost in a database of a million trials on PostgreSQL.

Wall time of a request in the process, median of five: of a first look at these runs, which the bar is for, and of
another; it takes some minutes to make the database. Bars: 150 ms and 12 queries a page; files to take home are only
told.
"""

from __future__ import annotations

import importlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests import servers
from tests.forgetting import forget

from . import million_pages

ROUNDS, PAGE_BAR, QUERY_BAR = 5, 0.150, 12


def readers(found: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Every page with who reads it: a stranger, or a curator where only one may, or may do more."""
    from django.test import Client

    from benchsite.accounts.models import User

    stranger, curator = Client(), Client()
    curator.force_login(User.objects.get(username="curator"))
    yield from ((name, address, stranger) for name, address in million_pages.pages(found).items())
    yield from ((name, address, curator) for name, address in million_pages.of_curator(found).items())


def measured(address: str, client: Any, rounds: int) -> tuple[float, float, int, int]:
    """Give seconds of a first look and of another, queries and bytes."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    first, again = [], []
    forget()
    with CaptureQueriesContext(connection) as queries:
        response = client.get(address)
        size = _whole(response)
        asked = len(queries)
    if response.status_code not in (200, 302):
        raise SystemExit(f"{address} answers {response.status_code}")
    for _ in range(rounds):
        forget()
        first.append(_took(address, client))
        again.append(_took(address, client))
    return statistics.median(first), statistics.median(again), asked, size


def _took(address: str, client: Any) -> float:
    began = time.perf_counter()
    _whole(client.get(address))
    return time.perf_counter() - began


def _whole(response: Any) -> int:
    """Read all that is answered, also what is sent while it is made; give its size."""
    return sum(map(len, response.streaming_content)) if response.streaming else len(response.content)


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
    for name, address, client in readers(found):
        told_only = million_pages.a_file(name)
        first, again, asked, size = measured(address, client, 1 if told_only else ROUNDS)
        good = told_only or (first <= PAGE_BAR and asked <= QUERY_BAR)
        worst |= not good
        print(
            f"{name:29} {first * 1000:6.0f} ms (bar {PAGE_BAR * 1000:.0f})  again {again * 1000:4.0f} ms"
            f"  {asked:2} queries  {size / 1000:6.0f} kB"
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
