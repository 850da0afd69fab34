"""Runs that take longer than a request should: kept as they came, taken in one after the other, told about meanwhile.

A bundle is one file, a run that was sent by the API lies in the store already.

One process at a time works through them: who finds the lock taken goes home, for its holder looks again before it ends.
What a killed process left half-way is found by the next one and begun anew; taking a bundle in twice changes nothing.
"""

from __future__ import annotations

import fcntl
import logging
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from benchsite.artifacts.store import store
from benchsite.jobs.models import Job, Upload
from benchsite.runs.models import Run
from runner.errors import RunnerError

from . import clean, queue
from .ingest import with_room
from .leaks import held_of
from .upload import TooLarge, Unfit, accept_file, alike, check, commit, committed, look_into, save

log = logging.getLogger(__name__)
KIND = "upload"
WAITING = (Job.State.QUEUED, Job.State.RUNNING)
TRIES = 3
EACH = 3
"""Bundles of one account that may wait at a time."""
OFTEN = 1.0
"""Seconds between two notes of how far it is."""
AGAIN = 10.0
"""Seconds in which nobody is woken twice by whoever looks at a job."""


def take_bundle(file: Any, user: Any) -> Run | Job:
    """Take a bundle from a form: a small one at once, a larger one as a job. What is no bundle is refused now."""
    settings.MEDIA_ROOT.mkdir(parents=True, exist_ok=True)
    job = Job(kind=KIND, by=user, payload={"name": clean.text(getattr(file, "name", ""), 100)})
    path = path_of(job)
    try:
        with with_room():
            size = save(file, path)
            if look_into(path, user) <= settings.UPLOAD_AT_ONCE:
                return accept_file(path, user)
        if Job.objects.filter(kind=KIND, by=user, state__in=WAITING).count() >= EACH:
            raise TooLarge(f"{EACH} bundles of yours are being taken in already; send this one when they are done.")
        job.payload["size"] = size
        job.save()
    finally:
        if job.pk is None:
            path.unlink(missing_ok=True)
    transaction.on_commit(wake)
    return job


def take_upload(upload: Upload) -> Run | Job:
    """Commit what the API was sent: a small run at once, a larger one as a job. Asked again, it answers the same."""
    with transaction.atomic():
        held = Upload.objects.select_for_update(of=("self",)).select_related("by").get(pk=upload.pk)
        keys = list(alike(held).values_list("key", flat=True))
        job = Job.objects.filter(kind=KIND, state__in=WAITING, payload__upload__in=keys).first()
        found = job or committed(held)
        if found is not None:
            return found
        check(held)
        size = sum(store().size(digest) for digest in held.digests)
        if size > settings.UPLOAD_TOTAL:
            raise TooLarge(f"The upload is larger than the {settings.UPLOAD_TOTAL} bytes this site takes.")
        if size > settings.UPLOAD_AT_ONCE:
            payload = {"upload": held.key, "name": f"run {held.run}", "size": size}
            job = Job.objects.create(kind=KIND, by=held.by, payload=payload)
            transaction.on_commit(wake)
    return job or commit(held)


def wake() -> None:
    """Have somebody work: a worker where there is a broker, else a process of its own."""
    _woken().touch()
    if settings.BROKER_URL:
        queue.send(queue.UPLOADS)
        return
    command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "uploads"]
    with (settings.MEDIA_ROOT / "uploads.log").open("ab") as out:
        subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True)


def wake_if_waiting() -> bool:
    waiting = Job.objects.filter(kind=KIND, state__in=WAITING).exists()
    if waiting:
        wake()
    return waiting


def wake_if_idle() -> None:
    """Have what waits gone on with where nobody is at it: whoever was may have been killed. Asked at each look."""
    stamp = _woken()
    pause = float(settings.LEASE_SECONDS) if settings.BROKER_URL else AGAIN  # a worker elsewhere holds no lock here
    with suppress(FileNotFoundError):
        if 0 <= time.time() - stamp.stat().st_mtime < pause:
            return
    with _alone() as idle:
        pass
    if idle:
        stamp.touch()
        transaction.on_commit(wake)


def _woken() -> Path:
    settings.MEDIA_ROOT.mkdir(parents=True, exist_ok=True)
    return Path(settings.MEDIA_ROOT) / "uploads.woken"


def drain() -> int:
    """Take in what waits until nothing does; gives how many. Returns at once where another process is at it."""
    done = 0
    while job := _next():
        with _alone() as alone:
            if not alone:
                return done
            while job:
                _work(job)
                done, job = done + 1, _next()
    return done


def path_of(job: Job) -> Path:
    return Path(settings.MEDIA_ROOT) / f"job-{job.key}.zip"


def ahead_of(job: Job) -> int:
    """Count the runs that are taken in before this one."""
    return Job.objects.filter(kind=KIND, state__in=WAITING, pk__lt=job.pk).count()


def _next() -> Job | None:
    return Job.objects.filter(kind=KIND, state__in=WAITING).order_by("pk").first()


@contextmanager
def _alone() -> Iterator[bool]:
    settings.MEDIA_ROOT.mkdir(parents=True, exist_ok=True)
    with (settings.MEDIA_ROOT / "uploads.lock").open("wb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True


def _work(job: Job) -> None:
    """Take one bundle in. A bundle that has ended its process several times is given up."""
    tries = job.payload.get("tries", 0) + 1
    job.payload["tries"] = tries
    _note(job, state=Job.State.RUNNING, payload=job.payload, done=0, total=0)
    path = path_of(job)
    try:
        if tries > TRIES:
            raise Unfit(f"Taking it in was begun {TRIES} times, and each time it was cut off.")
        with with_room():
            run = _taken(job, path)
        _end(job, Job.State.DONE, "", run=run.ulid, held=held_of(run))
    except RunnerError as error:
        _end(job, Job.State.FAILED, str(error))
    except Exception as error:  # whatever it is, the others that wait must not wait for ever
        log.exception("The bundle of job %s could not be taken in", job.key)
        _end(job, Job.State.FAILED, f"It could not be taken in ({type(error).__name__}); the site's log says more.")
    path.unlink(missing_ok=True)


def _taken(job: Job, path: Path) -> Run:
    tell = partial(_tell, job, [0.0])
    if key := job.payload.get("upload"):
        upload = Upload.objects.filter(key=key).first()
        if upload is None:
            raise Unfit("The upload is not there any more; send it again.")
        return commit(upload, tell)
    if not path.is_file():
        raise Unfit("The bundle is not there any more; send it again.")
    return accept_file(path, job.by, tell)


def _tell(job: Job, last: list[float], stage: str, done: int, total: int) -> None:
    now = time.monotonic()
    if now - last[0] >= OFTEN:
        last[0] = now
        _note(job, done=done, total=total, message=stage)


def _end(job: Job, state: str, message: str, **more: Any) -> None:
    payload = {**job.payload, **more}
    _note(job, state=state, message=clean.text(message, 1000), finished_at=timezone.now(), payload=payload)


def _note(job: Job, **columns: Any) -> None:
    Job.objects.filter(pk=job.pk).update(**columns)
