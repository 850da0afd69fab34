"""Evidence: bytes named by digest, which benches and runs use them, and what trials attached."""

from __future__ import annotations

from django.db import models

from benchsite.benches.models import Bench
from benchsite.runs.models import UNCHECKED, Run, Trial

from .querysets import BlobQuerySet, BlobUseQuerySet


class Blob(models.Model):
    """`held` waits for a curator (a secret was found), `redacted` is gone for good, `missing` was never sent."""

    class State(models.TextChoices):
        PRESENT = "present"
        HELD = "held"
        REDACTED = "redacted"
        MISSING = "missing"

    digest = models.CharField(max_length=64, unique=True)
    size = models.BigIntegerField(default=0)
    state = models.CharField(max_length=8, choices=State, default=State.PRESENT)
    created_at = models.DateTimeField(auto_now_add=True)
    scanned = models.SmallIntegerField(default=0, db_default=0)
    """With which version of `runner.leaks` it was looked through for secrets; 0: not yet."""

    objects = BlobQuerySet.as_manager()

    class Meta:
        # nearly all are present: curators ask for the few that are not
        indexes = (models.Index(fields=("state",), condition=~models.Q(state="present"), name="blob_not_present"),)

    def __str__(self) -> str:
        return self.digest[:8]


class Finding(models.Model):
    """What looks like a secret in a blob: kind, line and its first characters, never the whole."""

    blob = models.ForeignKey(Blob, on_delete=models.CASCADE, related_name="findings")
    kind = models.CharField(max_length=100)
    line = models.BigIntegerField()
    shown = models.CharField(max_length=60)

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return f"line {self.line}: {self.kind} {self.shown}"


class BlobUse(models.Model):
    """Who uses a blob: access, garbage collection and "used by" all ask here."""

    blob = models.ForeignKey(Blob, on_delete=models.CASCADE, related_name="uses")
    bench = models.ForeignKey(Bench, on_delete=models.CASCADE, related_name="+", db_index=False)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+")

    objects = BlobUseQuerySet.as_manager()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("blob", "bench", "run"), name="blob_use"),)

    def __str__(self) -> str:
        return f"{self.blob_id} in {self.run_id}"


class StepIndex(models.Model):
    """Where the steps of a long transcript lie and what each says, as numbers: made on arrival, from its bytes alone.

    `format` is that of `diffs.stepindex`; another one is as good as none. Short transcripts have none.
    """

    blob = models.OneToOneField(Blob, on_delete=models.CASCADE, primary_key=True, related_name="+")
    format = models.SmallIntegerField()
    places = models.JSONField()
    keys = models.BinaryField()

    def __str__(self) -> str:
        return f"steps of {self.blob_id}"


class Artifact(models.Model):
    trial = models.ForeignKey(Trial, on_delete=models.CASCADE, related_name="artifacts", **UNCHECKED)
    attempt = models.SmallIntegerField(default=1)
    name = models.CharField(max_length=200)
    kind = models.CharField(max_length=40)
    media = models.CharField(max_length=100, blank=True)
    digest = models.CharField(max_length=64)
    size = models.BigIntegerField()

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return self.name
