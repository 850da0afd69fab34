"""Long work, uploads on their way in, and leases on trials that workers hold."""

from __future__ import annotations

import secrets

from django.conf import settings
from django.db import models

from .querysets import LeaseQuerySet


def new_key() -> str:
    return secrets.token_urlsafe(12)


class Job(models.Model):
    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"

    key = models.CharField(max_length=24, unique=True, default=new_key)
    kind = models.CharField(max_length=20)
    state = models.CharField(max_length=8, choices=State, default=State.QUEUED)
    payload = models.JSONField(default=dict)
    done = models.IntegerField(default=0)
    total = models.IntegerField(default=0)
    message = models.TextField(blank=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"


class Upload(models.Model):
    """A bundle being sent: its manifest is here, the digests it still lacks are asked for one by one."""

    class State(models.TextChoices):
        OPEN = "open"
        TAKING = "taking"
        """Its run is being made; who was killed at it leaves a part of the run, and the next one goes on."""
        COMMITTED = "committed"
        FAILED = "failed"

    key = models.CharField(max_length=24, unique=True, default=new_key)
    run = models.CharField(max_length=26, db_index=True)
    bench = models.CharField(max_length=127)
    state = models.CharField(max_length=10, choices=State, default=State.OPEN)
    digests = models.JSONField(default=list)
    manifest = models.CharField(max_length=64)
    events = models.CharField(max_length=64)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    message = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.key


class Sent(models.Model):
    """A digest this account has really sent: naming a digest must neither prove nor grant possession."""

    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    digest = models.CharField(max_length=64)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("by", "digest"), name="sent_once"),)

    def __str__(self) -> str:
        return self.digest[:8]


class Lease(models.Model):
    """A worker's hold on one attempt of one trial. An answer under an old lease is kept as evidence, not counted."""

    run = models.CharField(max_length=26)
    index = models.IntegerField()
    attempt = models.SmallIntegerField(default=1)
    holder = models.CharField(max_length=40, blank=True)
    until = models.DateTimeField()
    sends = models.SmallIntegerField(default=1)
    done = models.BooleanField(default=False)

    objects = LeaseQuerySet.as_manager()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("run", "index", "attempt"), name="lease_once"),)
        # sweeps and the status page ask for the open ones, among all that ever were
        indexes = (models.Index(fields=("until",), condition=models.Q(done=False), name="lease_open"),)

    def __str__(self) -> str:
        return f"{self.run} {self.index}.{self.attempt}"
