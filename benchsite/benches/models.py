"""Benches and what their versions declare. All of it is a projection of manifests."""

from __future__ import annotations

from django.contrib.auth.models import Group
from django.db import models

from .querysets import BenchQuerySet


class Bench(models.Model):
    """`owner/name`. The owner is a part of the name; it belongs to a group, whose members may see a private bench."""

    class Visibility(models.TextChoices):
        PUBLIC = "public"
        PRIVATE = "private"

    owner = models.CharField(max_length=63)
    name = models.CharField(max_length=63)
    group = models.ForeignKey(Group, null=True, on_delete=models.SET_NULL)
    visibility = models.CharField(max_length=8, choices=Visibility, default=Visibility.PUBLIC)
    title = models.CharField(max_length=200, blank=True)
    revision = models.BigIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = BenchQuerySet.as_manager()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("owner", "name"), name="bench_owner_name"),)
        ordering = ("owner", "name")
        verbose_name_plural = "benches"

    def __str__(self) -> str:
        return f"{self.owner}/{self.name}"


class Version(models.Model):
    """One definition of a bench: what `definition` hashes. `number` is the author's own version text, last seen."""

    bench = models.ForeignKey(Bench, on_delete=models.CASCADE, related_name="versions")
    definition = models.CharField(max_length=64)
    number = models.CharField(max_length=60)
    schema_hash = models.CharField(max_length=64)
    schema = models.JSONField()
    hashes = models.JSONField(default=dict)
    template = models.CharField(max_length=64, blank=True)
    readme = models.CharField(max_length=64, blank=True)
    protocol = models.CharField(max_length=12)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("bench", "definition"), name="version_bench_definition"),)

    def __str__(self) -> str:
        return f"{self.bench_id} {self.number} {self.definition[:8]}"


class Measure(models.Model):
    version = models.ForeignKey(Version, on_delete=models.CASCADE, related_name="measures")
    key = models.CharField(max_length=100)
    type = models.CharField(max_length=10)
    objective = models.CharField(max_length=40, blank=True)
    reducer = models.CharField(max_length=10)
    headline = models.BooleanField(default=False)
    label = models.CharField(max_length=100, blank=True)
    unit = models.CharField(max_length=40, blank=True)
    description = models.TextField(blank=True)
    worst = models.FloatField(null=True)
    ordinal = models.IntegerField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("version", "key"), name="measure_version_key"),)
        ordering = ("ordinal",)

    def __str__(self) -> str:
        return self.key


class Scenario(models.Model):
    bench = models.ForeignKey(Bench, on_delete=models.CASCADE, related_name="scenarios")
    slug = models.CharField(max_length=100)
    name = models.CharField(max_length=300)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("bench", "slug"), name="scenario_bench_slug"),)
        ordering = ("slug",)

    def __str__(self) -> str:
        return self.name


class ScenarioVersion(models.Model):
    """A scenario as one version has it; pairs are compared by `fingerprint`."""

    scenario = models.ForeignKey(Scenario, on_delete=models.CASCADE, related_name="versions")
    version = models.ForeignKey(Version, on_delete=models.CASCADE, related_name="scenario_versions")
    fingerprint = models.CharField(max_length=64)
    file = models.CharField(max_length=400)
    line = models.IntegerField(default=1)
    function = models.CharField(max_length=200)
    doc = models.TextField(blank=True)
    source = models.CharField(max_length=64, blank=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("scenario", "version"), name="scenario_version"),)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class Case(models.Model):
    scenario = models.ForeignKey(Scenario, on_delete=models.CASCADE, related_name="cases")
    key = models.CharField(max_length=300)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("scenario", "key"), name="case_scenario_key"),)

    def __str__(self) -> str:
        return self.key or "(one case)"


class Subject(models.Model):
    """What a leaderboard row ranks: a combination of axis values, the same in every run of a bench."""

    bench = models.ForeignKey(Bench, on_delete=models.CASCADE, related_name="subjects")
    axes = models.JSONField()
    hash = models.CharField(max_length=64)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("bench", "hash"), name="subject_bench_hash"),)

    def __str__(self) -> str:
        return " · ".join(f"{name}={value}" for name, value in sorted(self.axes.items())) or "default"
