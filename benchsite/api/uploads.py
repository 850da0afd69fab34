"""Sending a run: announce it, send the blobs that are missing, commit, and wait for it where it is large.

Every step may be repeated.
"""

from __future__ import annotations

from typing import Any, cast

from django.http import HttpRequest
from django.urls import reverse
from ninja import Router, Schema, Status
from pydantic import Field

from benchsite.flows import upload as uploads
from benchsite.flows.incoming import ahead_of, take_upload, wake_if_idle
from benchsite.flows.leaks import held_of
from benchsite.jobs.models import Job
from benchsite.readings.job import JobPage, job_page

from .auth import Bearer, Refusal

router = Router(tags=["uploads"], auth=Bearer("upload"))
jobs = Router(tags=["uploads"], auth=Bearer("upload"))
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


class JobState(Schema):
    job: str
    state: str = Field(description="queued, checking, ingesting, done or refused")
    detail: str = Field(description="What is being done, or why the run was refused.")
    done: int = Field(description="Bytes of the journal taken in so far, of `total`; 0 of 0 is not known yet.")
    total: int
    ahead: int = Field(description="Runs that are taken in before this one.")
    page: str = Field(description="The page that shows the same.")
    run: str | None = Field(
        None, description="The run, once it is here; so are its url, verdict and what is held back."
    )
    url: str | None = None
    verdict: str | None = None
    held: int | None = None


REFUSALS = {401: Refusal, 404: Refusal, 409: Refusal, 413: Refusal, 422: Refusal, 507: Refusal}


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


@router.post("/{key}/commit", response={200: Committed, 202: JobState, **REFUSALS}, summary="Commit a run")
def commit(request: HttpRequest, key: str) -> Any:
    """Make the run of a complete upload. It is submitted until a curator accepts or rejects it.

    A small run is there with the answer. A larger one is taken in by a job: the answer is 202 and its state, which
    `GET /jobs/{job}` tells from then on. Asked again, it answers the same.
    """
    made = take_upload(uploads.open_upload(key, request.user))
    if isinstance(made, Job):
        return Status(202, _state(request, JobPage(made, ahead_of(made))))
    return Status(
        200, Committed(run=made.ulid, url=_address(request, made.ulid), verdict=made.verdict, held=held_of(made))
    )


@jobs.get("/{key}", response={200: JobState, 401: Refusal, 404: Refusal}, summary="Ask how far a job is")
def job(request: HttpRequest, key: str) -> Any:
    """Tell the state of a run that is being taken in, to who sent it and to curators."""
    page = job_page(request.user, key)
    if page is None:
        raise uploads.NotThere("There is no such job of this account.")
    if page.going:
        wake_if_idle()
    return _state(request, page)


def _state(request: HttpRequest, page: JobPage) -> JobState:
    job = page.job
    state = JobState(
        job=job.key,
        state=page.state,
        detail=job.message,
        done=job.done,
        total=job.total,
        ahead=page.ahead,
        page=request.build_absolute_uri(reverse("job", kwargs={"key": job.key})),
    )
    if page.run:
        state.run, state.url = page.run, _address(request, page.run)
        state.verdict, state.held = page.verdict, job.payload.get("held", 0)
    return state


def _address(request: HttpRequest, run: str) -> str:
    return request.build_absolute_uri(reverse("run", kwargs={"ulid": run}))
