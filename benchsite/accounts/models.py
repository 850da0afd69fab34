"""Who may do what: people, groups that own benches, and tokens for programs."""

from __future__ import annotations

from django.contrib.auth.models import AbstractUser
from django.db import models

from .tokens import TokenQuerySet


class User(AbstractUser):
    """A person. `is_superuser` and members of the group `curators` decide what counts."""


class Token(models.Model):
    """A program's key. Only its hash is kept; the key itself is shown once, when it is made."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=80)
    hash = models.CharField(max_length=64, unique=True)
    hint = models.CharField(max_length=12)
    scopes = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)

    objects = TokenQuerySet.as_manager()

    class Meta:
        ordering = ("-created_at",)

    def __str__(self) -> str:
        return f"{self.name} ({self.hint}…)"
