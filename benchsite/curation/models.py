"""What people decided and wrote. This is truth: it names runs by ULID and trials by index, and is append-only."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class Decision(models.Model):
    """One verdict on a run, or (with `trial`) the withdrawal of a trial. The newest of its kind holds."""

    class Verdict(models.TextChoices):
        ACCEPT = "accept"
        REJECT = "reject"
        WITHDRAW = "withdraw"
        RESTORE = "restore"
        REOPEN = "reopen"
        """The run waits again, as it did before it was accepted or rejected."""

    run = models.CharField(max_length=26, db_index=True)
    trial = models.IntegerField(null=True)
    verdict = models.CharField(max_length=8, choices=Verdict)
    reason = models.TextField(blank=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return f"{self.verdict} {self.run}"


class BlobDecision(models.Model):
    """What a curator decided about bytes that were held back: shown after all, held back again, or gone for good.
    The newest holds."""

    class Verdict(models.TextChoices):
        RELEASE = "release"
        HOLD = "hold"
        REDACT = "redact"

    digest = models.CharField(max_length=64, db_index=True)
    verdict = models.CharField(max_length=8, choices=Verdict)
    reason = models.TextField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return f"{self.verdict} {self.digest[:8]}"


class Note(models.Model):
    run = models.CharField(max_length=26, db_index=True)
    trial = models.IntegerField(null=True)
    text = models.TextField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return self.text[:40]


class Tag(models.Model):
    run = models.CharField(max_length=26, db_index=True)
    trial = models.IntegerField(null=True)
    name = models.CharField(max_length=60)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        # two, because SQLite takes every empty `trial` for another one
        constraints = (
            models.UniqueConstraint(fields=("run", "trial", "name"), name="tag_once"),
            models.UniqueConstraint(fields=("run", "name"), condition=models.Q(trial=None), name="run_tag_once"),
        )

    def __str__(self) -> str:
        return self.name


class Snapshot(models.Model):
    """A reading frozen for citation: a URL and the revisions of the runs behind it."""

    slug = models.CharField(max_length=40, unique=True)
    url = models.TextField()
    runs = models.JSONField(default=dict)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.slug


class RunLabel(models.Model):
    """The number a run is called by within its bench; kept so that a rebuild gives the same one."""

    run = models.CharField(max_length=26, unique=True)
    bench = models.CharField(max_length=127)
    number = models.IntegerField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("bench", "number"), name="run_label"),)

    def __str__(self) -> str:
        return f"run {self.number}"
