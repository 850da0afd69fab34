"""The only sender of messages to workers: by name, and on commit, so that a worker finds what the message speaks of."""

from __future__ import annotations

from functools import partial
from typing import Any

from celery import current_app
from django.conf import settings
from django.db import transaction

from runner.errors import RunnerError

TRIAL = "benchsite.trial"
UPLOADS = "benchsite.uploads"


def demand_broker() -> None:
    if not settings.BROKER_URL:
        raise RunnerError(
            "There is no broker: set BENCHSITE_BROKER_URL, e.g. to redis://127.0.0.1:6379/0, and start workers with "
            "`celery -A benchsite worker`."
        )


def send(name: str, **payload: Any) -> None:
    transaction.on_commit(partial(current_app.send_task, name, kwargs=payload))
