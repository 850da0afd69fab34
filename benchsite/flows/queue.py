"""The only sender of messages to workers: by name, and on commit, so that a worker finds what the message speaks of.
It alone asks the broker how long the queue is, and workers whether they are there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from celery import current_app
from django.conf import settings
from django.db import transaction
from kombu.exceptions import OperationalError

from runner.errors import RunnerError

TRIAL = "benchsite.trial"
UPLOADS = "benchsite.uploads"
CONNECT = ANSWER = 1.0
"""Seconds: a page waits for these."""


def demand_broker() -> None:
    if not settings.BROKER_URL:
        raise RunnerError(
            "There is no broker: set BENCHSITE_BROKER_URL, e.g. to redis://127.0.0.1:6379/0, and start workers with "
            "`celery -A benchsite worker`."
        )
    with _broker():
        pass  # one that does not answer says so here, and not in the middle of a run


def kind() -> str:
    """Name the broker's kind: redis, amqp, filesystem; empty where trials run in a local pool."""
    scheme: str = settings.BROKER_URL.partition(":")[0]
    return scheme


def depth() -> int:
    """Count the messages that wait for a worker."""
    with _broker() as connection:
        channel, name = connection.default_channel, current_app.conf.task_default_queue
        try:
            return int(channel.queue_declare(queue=name, passive=True).message_count)
        except connection.channel_errors:  # what holds no message may not be there at all
            return 0


def workers() -> list[str]:
    """Ask all workers to answer within a second; gives their names."""
    with _broker() as connection:
        return sorted(current_app.control.inspect(timeout=ANSWER, connection=connection).ping() or ())


@contextmanager
def _broker() -> Iterator[Any]:
    """Connect once, without patience: a page waits for this."""
    short = {"socket_connect_timeout": CONNECT, "socket_timeout": CONNECT} if kind().startswith("redis") else {}
    options = {"url": settings.BROKER_URL, "connect_timeout": CONNECT, "transport_options": short}
    connection = current_app.connection_for_read(**options)
    try:
        with connection:
            connection.ensure_connection(max_retries=1, interval_start=0, timeout=CONNECT)
            yield connection
    except (OSError, OperationalError, *connection.connection_errors) as error:
        raise RunnerError(
            f"The broker ({kind()}) does not answer: {type(error).__name__}. Trials and large uploads wait until it "
            "does: start it, or correct BENCHSITE_BROKER_URL."
        ) from error


def send(name: str, **payload: Any) -> None:
    transaction.on_commit(partial(current_app.send_task, name, kwargs=payload))
