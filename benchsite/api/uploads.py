"""Sending a run: announce it, send the blobs that are missing, commit. Every step may be repeated."""

from __future__ import annotations

from typing import Any, cast

from django.http import HttpRequest
from django.urls import reverse
from ninja import Router, Schema, Status
from pydantic import Field

from benchsite.flows import upload as uploads
from benchsite.flows.leaks import held_of

from .auth import Bearer

router = Router(tags=["uploads"], auth=Bearer("upload"))
BYTES = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
RAW = {"requestBody": {"required": True, "content": BYTES}}


class Announcement(Schema):
    run: str = Field(max_length=26)
    bench: str = Field(max_length=127)
    manifest: str = Field(max_length=64)
    events: str = Field(max_length=64)
    digests: list[str]


class Announced(Schema):
    upload: str
    missing: list[str]


class Committed(Schema):
    run: str
    url: str
    verdict: str
    held: int = Field(description="Blobs that look like they hold a secret: nobody opens them until a curator decides.")


class Refusal(Schema):
    detail: str


REFUSALS = {401: Refusal, 404: Refusal, 409: Refusal, 413: Refusal, 422: Refusal}


@router.post("", response={201: Announced, **REFUSALS}, summary="Announce a run")
def announce(request: HttpRequest, body: Announcement) -> Any:
    """Say what the run consists of; the answer names the blobs that have to be sent."""
    upload, missing = uploads.announce(request.user, **body.dict())
    return Status(201, Announced(upload=upload.key, missing=missing))


@router.put("/{key}/blobs/{sha256}", response={204: None, **REFUSALS}, openapi_extra=RAW, summary="Send a blob")
def blob(request: HttpRequest, key: str, sha256: str) -> Any:
    """The body is the blob's bytes; they are read and hashed in full and refused when the digest is another."""
    uploads.receive(uploads.open_upload(key, request.user), sha256, cast(Any, request))
    return Status(204, None)


@router.post("/{key}/commit", response={200: Committed, **REFUSALS}, summary="Commit a run")
def commit(request: HttpRequest, key: str) -> Any:
    """Make the run of a complete upload. It is submitted until a curator accepts or rejects it."""
    run = uploads.commit(uploads.open_upload(key, request.user))
    url = request.build_absolute_uri(reverse("run", kwargs={"ulid": run.ulid}))
    return Committed(run=run.ulid, url=url, verdict=run.verdict, held=held_of(run))
