"""Health: `/healthz` says the process lives, `/readyz` that it can serve."""

from __future__ import annotations

import os

from django.conf import settings
from django.db import DatabaseError
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe

from benchsite.readings.status.stored import pending


@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"status": "ok"}, headers={"Cache-Control": "no-store"})


@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    problems = {name: problem for name, check in CHECKS.items() if (problem := check())}
    body = {"status": "unready" if problems else "ok", **problems}
    return JsonResponse(body, status=503 if problems else 200, headers={"Cache-Control": "no-store"})


def _database() -> str:
    try:
        behind = pending()
    except DatabaseError:
        return "The database does not answer."
    return f"{behind} migrations are not applied; run manage.py migrate." if behind else ""


def _blobs() -> str:
    try:
        settings.BLOBS.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        return f"The folder of blobs cannot be made: {error.strerror}."
    return "" if os.access(settings.BLOBS, os.W_OK) else "The folder of blobs cannot be written."


CHECKS = {"database": _database, "blobs": _blobs}
