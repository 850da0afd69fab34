"""What `manage.py check` says about this installation."""

from __future__ import annotations

import os
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register


@register(Tags.files)
def blobs_can_be_written(**_: Any) -> list[CheckMessage]:
    folder = settings.BLOBS
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    if os.access(folder, os.W_OK):
        return []
    return [
        Error(
            f"{settings.BLOBS} cannot be written.", hint="Mend its owner, or set BENCHSITE_BLOBS.", id="benchsite.E001"
        )
    ]


@register(Tags.security, deploy=True)
def sqlite_is_for_one_machine(**_: Any) -> list[CheckMessage]:
    """Workers on other machines cannot share a SQLite file."""
    sqlite = settings.DATABASES["default"]["ENGINE"].endswith("sqlite3")
    if not (sqlite and settings.BROKER_URL and not settings.BROKER_URL.startswith(("filesystem", "memory"))):
        return []
    return [
        Warning(
            "A broker is set but the database is SQLite: all workers must run on this machine.", id="benchsite.W001"
        )
    ]
