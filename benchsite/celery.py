"""The Celery application: `celery -A benchsite worker`."""

from __future__ import annotations

import os
from typing import Any

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchsite.settings")


def configuration() -> dict[str, Any]:
    """No result backend: answers travel in files and rows, and no broker is trusted to deliver once."""
    from django.conf import settings

    found: dict[str, Any] = {
        "broker_url": settings.BROKER_URL or "memory://",
        "task_ignore_result": True,
        "task_acks_late": True,
        "task_reject_on_worker_lost": True,
        "worker_prefetch_multiplier": 1,
        "worker_hijack_root_logger": False,
        "broker_connection_retry_on_startup": True,
        "task_default_queue": "benchsite",
    }
    if settings.BROKER_URL.startswith("filesystem"):
        found["broker_transport_options"] = _folders(settings.DATA / "queue")
    return found


def _folders(root: Any) -> dict[str, str]:
    for name in ("messages", "control"):
        (root / name).mkdir(parents=True, exist_ok=True)
    messages = str(root / "messages")
    return {"data_folder_in": messages, "data_folder_out": messages, "control_folder": str(root / "control")}


app = Celery("benchsite")
app.set_default()
app.add_defaults(configuration)
app.autodiscover_tasks(["benchsite"])
