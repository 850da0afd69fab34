"""What workers receive. A task takes what its message says and calls one flow."""

from __future__ import annotations

from typing import Any

from celery import shared_task

from benchsite.flows import incoming, queue, working


@shared_task(name=queue.TRIAL)
def trial(run_dir: str, job: dict[str, Any]) -> bool:
    return working.work(run_dir, job)


@shared_task(name=queue.UPLOADS)
def uploads() -> int:
    return incoming.drain()
