"""Runs, cells and trials, and the rollups that pages read. All of it is a projection of journals."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models

from benchsite.benches.models import Bench, Case, Measure, Scenario, Subject, Version

from .querysets import RunQuerySet, TrialQuerySet

UNCHECKED: Any = {"db_constraint": False}
"""The many rows below a run are written and erased whole, by flows alone, and can be rebuilt: having PostgreSQL check
every key of every row took two fifths of an ingest."""
BY_CONSTRAINT: Any = {**UNCHECKED, "db_index": False}
"""As above; a unique constraint that begins with this column finds it: an index of its own would be a second one."""


class Planned(models.Func):
    """How large a run is. Written without parameters: an index is of this very text, on both databases."""

    template = "COALESCE(CAST(%(expressions)s ->> 'planned' AS integer), 0)"
    output_field = models.IntegerField()

    def as_sqlite(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        """Not by the arrow, which SQLite has from 3.38 on only."""
        template = "COALESCE(CAST(JSON_EXTRACT(%(expressions)s, '$.planned') AS integer), 0)"
        return self.as_sql(compiler, connection, template=template, **extra)


class Run(models.Model):
    class State(models.TextChoices):
        RUNNING = "running"
        FINISHED = "finished"
        CANCELLED = "cancelled"
        INTERRUPTED = "interrupted"

    class Verdict(models.TextChoices):
        """Written by `flows.curate` from the decisions, never by hand. Only accepted runs count on a leaderboard."""

        SUBMITTED = "submitted"
        ACCEPTED = "accepted"
        REJECTED = "rejected"
        WITHDRAWN = "withdrawn"

    ulid = models.CharField(max_length=26, unique=True)
    bench = models.ForeignKey(Bench, on_delete=models.CASCADE, related_name="runs")
    version = models.ForeignKey(Version, on_delete=models.CASCADE, related_name="runs")
    cohort = models.CharField(max_length=64, db_index=True)
    state = models.CharField(max_length=12, choices=State, default=State.RUNNING)
    verdict = models.CharField(max_length=10, choices=Verdict, default=Verdict.SUBMITTED)
    origin = models.CharField(max_length=20, default="runner")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    label = models.IntegerField(default=0)
    """"Run 41": counted within the bench; a label, never an address."""
    revision = models.BigIntegerField(default=1)
    counts = models.JSONField(default=dict)
    """Trials by state, and `planned`."""
    manifest = models.CharField(max_length=64)
    """Blob of manifest.json: axes, pins, host and all that pages only show."""
    events = models.CharField(max_length=64, blank=True)
    """Blob of events.jsonl as last ingested."""
    journal_bytes = models.BigIntegerField(default=0)
    journal_seq = models.BigIntegerField(default=0)
    isolation = models.CharField(max_length=12, default="none")
    parent = models.CharField(max_length=26, blank=True)
    """The ULID of the run that this one was made from; that run need not be here."""
    regrades = models.CharField(max_length=26, blank=True)
    """The ULID of the run whose agents did the work, where this one only graded it again."""
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    seen_at = models.DateTimeField(null=True)
    """The last sign of life of a run that goes on: its newest event, or that its runner was there."""
    under_way = models.JSONField(default=list)
    """The attempts that run just now: [trial, attempt, cell's id, when it began]."""
    created_at = models.DateTimeField(auto_now_add=True)

    objects = RunQuerySet.as_manager()

    class Meta:
        indexes = (
            models.Index(fields=("bench", "-id"), name="run_bench_newest"),
            models.Index(fields=("verdict", "-id"), name="run_verdict_newest"),
            models.Index(Planned("counts").desc(), models.F("id").desc(), name="run_largest"),
            models.Index("verdict", Planned("counts").desc(), models.F("id").desc(), name="run_verdict_largest"),
        )

    def __str__(self) -> str:
        return self.ulid


class Cell(models.Model):
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="cells", db_index=False)
    key10 = models.CharField(max_length=10)
    name = models.CharField(max_length=64)
    """The cell's id: its axis values, percent-encoded."""
    subject = models.ForeignKey(Subject, on_delete=models.CASCADE, related_name="cells")
    ordinal = models.IntegerField()
    pin = models.JSONField(default=dict)
    agent_version = models.CharField(max_length=100, blank=True)
    isolation = models.CharField(max_length=12, default="none")
    stopped = models.TextField(blank=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("run", "key10"), name="cell_run_key10"),)
        ordering = ("ordinal",)

    def __str__(self) -> str:
        return self.name


class Trial(models.Model):
    """One row per *planned* trial from the moment the manifest arrives; the counted attempt's facts stand on it."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="trials", **BY_CONSTRAINT)
    index = models.IntegerField()
    cell = models.ForeignKey(Cell, on_delete=models.CASCADE, related_name="trials", db_index=False, **UNCHECKED)
    scenario = models.ForeignKey(Scenario, on_delete=models.CASCADE, related_name="trials", db_index=False, **UNCHECKED)
    case = models.ForeignKey(Case, on_delete=models.CASCADE, related_name="trials", db_index=False, **UNCHECKED)
    number = models.IntegerField()
    state = models.CharField(max_length=10, default="queued")
    fault = models.CharField(max_length=20, blank=True)
    outcome = models.CharField(max_length=8, blank=True)
    headline = models.FloatField(null=True)
    seconds = models.FloatField(null=True)
    cost = models.FloatField(null=True)
    tokens = models.BigIntegerField(null=True)
    added = models.IntegerField(null=True)
    modified = models.IntegerField(null=True)
    deleted = models.IntegerField(null=True)
    lines_added = models.IntegerField(null=True)
    lines_deleted = models.IntegerField(null=True)
    changes = models.CharField(max_length=64, blank=True)
    """Blob (benchsite/changes/1) of the agent's frozen record."""
    kept = models.CharField(max_length=64, blank=True)
    """Blob (benchsite/tree/1) of the kept workspace."""
    attempts = models.SmallIntegerField(default=0)
    flags = models.JSONField(default=list)
    reason = models.TextField(blank=True)
    withdrawn = models.BooleanField(default=False)

    objects = TrialQuerySet.as_manager()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("run", "index"), name="trial_run_index"),)
        indexes = (
            models.Index(fields=("run", "state", "fault"), name="trial_run_state"),
            # few trials have flags, and a page asks for those of a run of thousands
            models.Index(fields=("run",), name="trial_run_flagged", condition=~models.Q(flags=[])),
            models.Index(fields=("run", "cell", "case"), name="trial_run_cell_case"),
            models.Index(fields=("scenario", "run"), name="trial_scenario_run"),
        )

    def __str__(self) -> str:
        return f"trial {self.index}"


class Attempt(models.Model):
    """Every physical try is kept. `record` is a blob-free summary: requests, issues, guards, usage (replay's JSON)."""

    trial = models.ForeignKey(Trial, on_delete=models.CASCADE, related_name="tries", **BY_CONSTRAINT)
    number = models.SmallIntegerField()
    state = models.CharField(max_length=10)
    fault = models.CharField(max_length=20, blank=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    phases = models.JSONField(default=dict)
    record = models.JSONField(default=dict)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("trial", "number"), name="attempt_trial_number"),)

    def __str__(self) -> str:
        return f"attempt {self.number}"


class Observation(models.Model):
    """The counted attempt's; the last valid value wins. Booleans are 0 and 1, categories and texts stand in `text`."""

    trial = models.ForeignKey(Trial, on_delete=models.CASCADE, related_name="observations", db_index=False, **UNCHECKED)
    measure = models.ForeignKey(Measure, on_delete=models.CASCADE, related_name="+", db_index=False, **UNCHECKED)
    number = models.FloatField(null=True)
    text = models.TextField(blank=True)
    valid = models.BooleanField(default=True)
    reason = models.CharField(max_length=300, blank=True)
    count = models.IntegerField(default=1)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("trial", "measure"), name="observation_trial_measure"),)

    def __str__(self) -> str:
        return f"{self.measure_id}"


class Slot(models.Model):
    """Rollup: what became of a case in a cell. Rollups are rebuildable and never read by ingest."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="slots", **BY_CONSTRAINT)
    cell = models.ForeignKey(Cell, on_delete=models.CASCADE, related_name="+", db_index=False, **UNCHECKED)
    scenario = models.ForeignKey(Scenario, on_delete=models.CASCADE, related_name="+", **UNCHECKED)
    case = models.ForeignKey(Case, on_delete=models.CASCADE, related_name="+", db_index=False, **UNCHECKED)
    planned = models.IntegerField()
    states = models.JSONField(default=dict)
    """Trials by state and, for scored ones, by outcome: {"scored": 3, "solved": 2, "unsolved": 1, ...}; no zeros."""
    faults = models.JSONField(default=dict)
    cost = models.FloatField(null=True)
    seconds = models.FloatField(null=True)
    tokens = models.BigIntegerField(null=True)
    cost_n = models.IntegerField(default=0)
    """So many trials the sum is of; the others' cost is unknown, which is not nothing."""
    seconds_n = models.IntegerField(default=0)
    tokens_n = models.IntegerField(default=0)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("run", "cell", "case"), name="slot_run_cell_case"),)

    def __str__(self) -> str:
        return f"{self.cell_id} {self.case_id}"


GAPS = models.Q(invalid__gt=0) | models.Q(missing__gt=0)
"""Most measures of most cases have none, and a run's page asks for those that do."""


class Tally(models.Model):
    """Rollup: one measure over the scored trials of a case in a cell."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="tallies", **BY_CONSTRAINT)
    cell = models.ForeignKey(Cell, on_delete=models.CASCADE, related_name="+", db_index=False, **UNCHECKED)
    case = models.ForeignKey(Case, on_delete=models.CASCADE, related_name="+", db_index=False, **UNCHECKED)
    measure = models.ForeignKey(Measure, on_delete=models.CASCADE, related_name="+", db_index=False, **UNCHECKED)
    n = models.IntegerField()
    invalid = models.IntegerField(default=0)
    missing = models.IntegerField(default=0)
    sum = models.FloatField(null=True)
    sumsq = models.FloatField(null=True)
    min = models.FloatField(null=True)
    q1 = models.FloatField(null=True)
    median = models.FloatField(null=True)
    q3 = models.FloatField(null=True)
    max = models.FloatField(null=True)
    shares = models.JSONField(default=dict)
    """Categories: how many trials had each value."""

    class Meta:
        constraints = (models.UniqueConstraint(fields=("run", "cell", "case", "measure"), name="tally_slot_measure"),)
        indexes = (models.Index(fields=("run",), name="tally_run_gaps", condition=GAPS),)

    def __str__(self) -> str:
        return f"{self.cell_id} {self.case_id} {self.measure_id}"


class Standing(models.Model):
    """Rollup: a cell's pooled figure under one counting policy, with its interval and rank range."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="standings", **BY_CONSTRAINT)
    cell = models.ForeignKey(Cell, on_delete=models.CASCADE, related_name="+", db_index=False, **UNCHECKED)
    policy = models.CharField(max_length=20)
    measure = models.ForeignKey(Measure, on_delete=models.CASCADE, related_name="+", db_index=False, **UNCHECKED)
    macro = models.FloatField(null=True)
    lo = models.FloatField(null=True)
    hi = models.FloatField(null=True)
    clusters = models.IntegerField(default=0)
    rank_lo = models.IntegerField(null=True)
    rank_hi = models.IntegerField(null=True)
    k = models.FloatField(null=True)
    n = models.IntegerField()
    planned = models.IntegerField()
    cost = models.FloatField(null=True)
    seconds = models.FloatField(null=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("run", "cell", "policy", "measure"), name="standing_run_cell_policy"),
        )

    def __str__(self) -> str:
        return f"{self.cell_id} {self.policy}"


class Spread(models.Model):
    """Rollup: how a quantity (a numeric measure, or seconds, cost, tokens) is spread over a cell's trials."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="spreads", **BY_CONSTRAINT)
    cell = models.ForeignKey(Cell, on_delete=models.CASCADE, related_name="+", db_index=False, **UNCHECKED)
    key = models.CharField(max_length=100)
    n = models.IntegerField()
    mean = models.FloatField()
    sd = models.FloatField(null=True)
    min = models.FloatField()
    q1 = models.FloatField()
    median = models.FloatField()
    q3 = models.FloatField()
    max = models.FloatField()
    median_lo = models.FloatField(null=True)
    median_hi = models.FloatField(null=True)
    far = models.IntegerField(default=0)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("run", "cell", "key"), name="spread_run_cell_key"),)

    def __str__(self) -> str:
        return f"{self.cell_id} {self.key}"
