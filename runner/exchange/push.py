"""Send a run to a site: its upload API is told what the run consists of, and only what it lacks is sent.

A site takes a large run in by a job; a push waits until that has ended.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from runner.blobs import BlobStore
from runner.errors import RunnerError

from .client import Client
from .sources import Source, open_source

FIRST_PAUSE, LONGEST_PAUSE = 0.2, 5.0
"""Seconds between two looks at a run that a site takes in."""
PARALLEL = 4
"""Blobs in flight at one time: most are small, so a push waits on the way there and back, not on bytes."""


@dataclass(frozen=True)
class Progress:
    """Blobs and bytes sent so far, and all that the site lacked."""

    blobs: int
    of: int
    bytes: int
    of_bytes: int


@dataclass(frozen=True)
class Waiting:
    """How far the site is with a run that was sent: queued behind `ahead` others, checking or ingesting."""

    state: str
    ahead: int
    percent: int
    page: str


@dataclass(frozen=True)
class Pushed:
    """What the site answered: the run's address, the curators' verdict, and what had to be sent."""

    run: str
    url: str
    verdict: str
    sent: int
    bytes: int
    held: int = 0
    """Blobs that look as if they held a secret: a curator decides whether they are shown."""


def push(
    run_dir: Path | str,
    site: str,
    token: str,
    *,
    store: BlobStore | None = None,
    on_progress: Callable[[Progress], None] = lambda _: None,
    on_wait: Callable[[Waiting], None] = lambda _: None,
    client: Client | None = None,
) -> Pushed:
    """Send a run that has ended. Safe to repeat: what the site has is not sent again, so a broken upload goes on."""
    client = client or Client(site, token)
    with open_source(Path(run_dir), store) as source:
        if source.result.state == "running":
            raise RunnerError(f"The run {source.run} has not ended: wait for it, or finish it with run --resume.")
        upload, missing = _announce(client, source)
        sent = _send(client, upload, {digest: source.files[digest] for digest in missing}, on_progress)
        answer = client.json("POST", f"uploads/{quote(upload, safe='')}/commit", {})
    if "job" in answer:
        answer = _wait(client, answer, on_wait)
    url, verdict, held = str(answer.get("url", "")), str(answer.get("verdict", "")), answer.get("held")
    return Pushed(source.run, url, verdict, sent.blobs, sent.bytes, held if isinstance(held, int) else 0)


def _wait(client: Client, state: dict[str, Any], on_wait: Callable[[Waiting], None]) -> dict[str, Any]:
    """Ask how far the site is until it is done: often at first, then every few seconds."""
    job, pause = quote(str(state["job"]), safe=""), FIRST_PAUSE
    while state.get("state") not in ("done", "refused"):
        on_wait(_waiting(state))
        client.wait(pause)
        pause = min(LONGEST_PAUSE, 1.5 * pause)
        state = client.get(f"jobs/{job}")
    if state["state"] == "refused":
        raise RunnerError(f"{client.site} did not take the run: {state.get('detail', '')}")
    return state


def _waiting(state: dict[str, Any]) -> Waiting:
    done, total, ahead = (n if isinstance(n := state.get(name), int) else 0 for name in ("done", "total", "ahead"))
    percent = min(100, 100 * done // total) if total > 0 else 0
    return Waiting(str(state.get("state", "")), ahead, percent, str(state.get("page", "")))


def _announce(client: Client, source: Source) -> tuple[str, list[str]]:
    contents = {
        "run": source.run,
        "bench": source.result.manifest.bench,
        "manifest": source.manifest,
        "events": source.events,
        "digests": sorted(source.files),
    }
    answer = client.json("POST", "uploads", contents)
    upload, missing = answer.get("upload"), answer.get("missing")
    if not isinstance(upload, str) or not isinstance(missing, list) or not set(missing) <= source.files.keys():
        raise RunnerError(f"{client.site} did not answer as a Benchsite upload API does.")
    return upload, missing


def _send(client: Client, upload: str, files: dict[str, Path], on_progress: Callable[[Progress], None]) -> Progress:
    sizes = {digest: path.stat().st_size for digest, path in files.items()}
    progress = Progress(0, len(files), 0, sum(sizes.values()))
    lock = threading.Lock()

    def put(digest: str) -> None:
        nonlocal progress
        client.put_file(f"uploads/{quote(upload, safe='')}/blobs/{digest}", files[digest])
        with lock:
            progress = Progress(progress.blobs + 1, progress.of, progress.bytes + sizes[digest], progress.of_bytes)
            on_progress(progress)

    on_progress(progress)
    pool = ThreadPoolExecutor(PARALLEL, thread_name_prefix="push")
    try:
        for _ in pool.map(put, files):
            pass
    finally:
        # After a refusal or Ctrl-C nothing new is begun; what is in flight ends.
        pool.shutdown(wait=True, cancel_futures=True)
    return progress
