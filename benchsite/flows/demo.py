"""Run the benches that ship, and take their runs in as an operator would."""

from __future__ import annotations

import secrets
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.models import Count

from benchsite.accounts.models import User
from benchsite.runs.models import Run
from runner.errors import AgentMissing, EnvironmentRefused
from runner.faults import OUTCOMES
from runner.hashes import definition_hashes
from runner.load import load_bench
from runner.schema_source import extract
from runner.sealing import seal

from .ingest import ingest
from .launch import launch

MODEL = "with_mock_model.py"
"""A bench with this program beside its bench.py runs through it: the program starts the model its agents talk to."""
LEFT_OUT = 4
Say = Callable[[str], None]
Watch = Callable[[], AbstractContextManager[dict[str, Any]]]
"""Gives the listeners of one launch: on_prepared, on_event, cancel."""


def demo(examples: Path, say: Say, watch: Watch) -> list[Run]:
    """Run every bench below `examples` that was not run as it is now; gives the runs there are."""
    files = sorted(examples.glob("*/bench.py"))
    runs = []
    for number, file in enumerate(files, 1):
        say(f"Bench {number} of {len(files)}: {file.parent.name}")
        run = _known(file.parent)
        if run is not None:
            say("  was run already, as it is now")
        else:
            run = _run(file.parent, say, watch)
        if run is not None:
            runs.append(run)
    say("")
    for run in runs:
        say(told(run))
    return runs


def told(run: Run) -> str:
    """Say in one line what became of a run."""
    outcomes = dict(run.trials.order_by().values_list("outcome").annotate(Count("id")))
    states = [f"{count} {name}" for name, count in run.counts.items() if name != "planned"]
    listed = ", ".join([*states, *(f"{outcomes[name]} {name}" for name in OUTCOMES if name in outcomes)])
    planned = run.counts["planned"]
    trials = f"{planned} {'trial' if planned == 1 else 'trials'}"
    return f"{run.bench}: run {run.ulid} {run.state}, {trials}: {listed}."


def _known(folder: Path) -> Run | None:
    """Find a finished run of exactly this definition, so that a demo made twice starts at once."""
    bench = load_bench(folder)
    definition = definition_hashes(bench, extract(bench.schema, bench.file), seal(bench))["definition"]
    owner, _, name = bench.name.partition("/")
    found = Run.objects.counted().filter(bench__owner=owner, bench__name=name, version__definition=definition)
    return found.filter(state=Run.State.FINISHED).select_related("bench").newest().first()


def _run(folder: Path, say: Say, watch: Watch) -> Run | None:
    try:
        if (folder / MODEL).exists():
            return _with_model(folder, say)
        with watch() as listeners:
            return launch(folder, **listeners)
    except (AgentMissing, EnvironmentRefused) as refusal:
        say(f"{folder.name} is left out: {refusal}")
        return None


def _with_model(folder: Path, say: Say) -> Run | None:
    """The program speaks for itself; what it ran is the newest run of the bench."""
    runs = folder / ".bench" / "runs"
    before = set(runs.glob("*/manifest.json"))
    sys.stdout.flush()
    done = subprocess.run([sys.executable, str(folder / MODEL)], cwd=settings.BASE_DIR, check=False)
    made = sorted(set(runs.glob("*/manifest.json")) - before)
    if not made:
        if done.returncode != LEFT_OUT:
            say(f"{folder.name} is left out: {MODEL} ended with exit code {done.returncode}.")
        return None
    return ingest(made[-1].parent, verdict=Run.Verdict.ACCEPTED)


def curator(name: str = "curator") -> str:
    """Make an account that may decide; gives its password, "" when it was there."""
    if User.objects.filter(username=name).exists():
        return ""
    password = secrets.token_urlsafe(9)
    User.objects.create_superuser(name, password=password)
    return password
