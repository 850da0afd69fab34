"""Database, blobs and disks. No large table is counted: the database's own estimates are told as "about"."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import django
from django.conf import settings
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.models import Count

from benchsite.artifacts.models import Blob
from benchsite.benches.models import Bench
from benchsite.jobs.models import Job
from benchsite.readings.words import count, size
from benchsite.runs.models import Observation, Run, Trial
from runner.worlds.places import worlds_root

from .facts import Fact

TABLES = {"benches": Bench, "runs": Run, "trials": Trial, "observations": Observation, "blobs": Blob}
LITTLE, SMALL = 2 << 30, 0.05
"""Less than so many bytes, or less than this part of a disk, is little room."""
ENTRIES, SECONDS, RUNS = 20_000, 0.05, 20
"""So much is looked at of what runs started here have kept: a page may not take as long as `du`."""


def release(version: str) -> Iterator[Fact]:
    yield Fact("release", "Release", version, version)
    python = ".".join(map(str, sys.version_info[:3]))
    yield Fact("python", "Python and Django", [python, django.__version__], f"{python}, {django.__version__}")
    told = "local use (BENCHSITE_DEBUG is on)" if settings.DEBUG else "production"
    yield Fact("debug", "Set up for", settings.DEBUG, told, docs="in-production")


def pending() -> int:
    executor = MigrationExecutor(connection)
    return len(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def database() -> Iterator[Fact]:
    bytes, rows = _sizes()
    yield Fact("database", "Database", connection.vendor, connection.display_name)
    yield Fact("database_bytes", "Its size", bytes, size(bytes))
    behind = pending()
    wrong = (
        f"{count(behind, 'migration')} not applied: run manage.py migrate and start the site anew." if behind else ""
    )
    yield Fact("migrations_pending", "Migrations pending", behind, str(behind), wrong * bool(behind), "in-production")
    for name, many in rows.items():
        yield Fact(f"about_{name}", name.capitalize(), many, f"about {many:,}")


def _sizes() -> tuple[int, dict[str, int]]:
    """The database's size, and about how many rows its large tables have: one query, no table is read."""
    tables = [model._meta.db_table for model in TABLES.values()]
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            estimate = "greatest(0, (SELECT reltuples::bigint FROM pg_class WHERE oid = %s::regclass))"
            cursor.execute(
                f"SELECT pg_database_size(current_database()), {', '.join([estimate] * len(tables))}", tables
            )
        else:
            last = ", ".join(f'(SELECT max(id) FROM "{table}")' for table in tables)
            cursor.execute(f"SELECT 0, {last}")
        bytes, *rows = cursor.fetchone()
    return bytes or _file_size(), dict(zip(TABLES, (int(many or 0) for many in rows), strict=True))


def _file_size() -> int:
    """SQLite's file, and the log of writes beside it."""
    file = str(connection.settings_dict["NAME"])
    return sum(os.path.getsize(path) for path in (file, f"{file}-wal") if os.path.exists(path))  # noqa: PTH202, PTH110


def blobs() -> Iterator[Fact]:
    """Nearly all blobs are present; the few others stand in an index of their own."""
    found = dict(Blob.objects.exclude(state="present").order_by().values_list("state").annotate(many=Count("pk")))
    held = found.get("held", 0)
    wrong = f"{count(held, 'file')} held back until a curator decides." if held else ""
    yield Fact("blobs_held", "Held back", held, f"{held:,}", wrong, "held-back", "/curate/?show=files" if held else "")
    for state in ("redacted", "missing"):
        many = found.get(state, 0)
        yield Fact(f"blobs_{state}", state.capitalize(), many, f"{many:,}")


def disks() -> Iterator[Fact]:
    """Free space where data, blobs and live worlds lie; each says how much its disk has left."""
    folders = {"data": Path(settings.DATA), "blobs": Path(settings.BLOBS), "worlds": worlds_root()}
    for name, folder in folders.items():
        yield _disk(name, folder)


def _disk(name: str, folder: Path) -> Fact:
    there = next((place for place in (folder, *folder.parents) if place.exists()), Path("/"))
    usage = shutil.disk_usage(there)
    value = {"folder": str(folder), "free": usage.free, "total": usage.total}
    shown = f"{size(usage.free)} of {size(usage.total)} free, in {folder}"
    wrong = ""
    if usage.free < LITTLE or usage.free < SMALL * usage.total:
        wrong = f"Only {size(usage.free)} left for {name}: runs and uploads fail when it is gone. "
        wrong += "Make room, or delete runs with manage.py forget and then manage.py sweep."
    title = {"data": "Disk of the data", "blobs": "Disk of the blobs", "worlds": "Disk of live worlds"}[name]
    return Fact(f"disk_{name}", title, value, shown, wrong, "commands")


def kept() -> Fact:
    """What the newest runs started here have kept of workspaces, as far as a quick look goes."""
    jobs = Job.objects.filter(kind="run").order_by("-id").values_list("payload", flat=True)[:RUNS]
    bytes, whole = _measured([Path(job["folder"]) / "workspaces" for job in jobs if job.get("folder")])
    shown = size(bytes) if whole else f"at least {size(bytes)}"
    return Fact("kept_worlds_bytes", f"Kept by the last {RUNS} runs here", bytes, shown)


def _measured(folders: list[Path]) -> tuple[int, bool]:
    """Add up file sizes below some folders; false where that was given up."""
    until, left, total = time.monotonic() + SECONDS, ENTRIES, 0
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    left -= 1
                    if left < 0 or time.monotonic() > until:
                        return total, False
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(Path(entry.path))
                    else:
                        total += entry.stat(follow_symlinks=False).st_size
        except OSError:  # it was cleared away meanwhile, or is another account's
            continue
    return total, True


def every(version: str) -> dict[str, tuple[str, list[Fact]]]:
    made: dict[str, tuple[str, list[Any]]] = {
        "site": ("This site", list(release(version))),
        "database": ("Database", list(database())),
        "disk": ("Disks", [*disks(), kept()]),
        "blobs": ("Blobs", list(blobs())),
    }
    return made
