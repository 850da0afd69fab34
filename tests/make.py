"""Plain factories: a whole run directory, a user, a token. `python -m tests.make FOLDER` writes a run to look at."""

from __future__ import annotations

import argparse
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from ulid import ULID

from runner.blobs import BlobStore
from runner.digests import cell_id, digest
from runner.journal import MANIFEST, Journal
from runner.manifest import Axis, Case, Cell, Manifest, Scenario
from runner.schema import MeasureSpec, schema_hash

from . import make_world as worlds
from .make_trials import FATES, SOLVED, UNRUN, UNSOLVED, Fate, Teller

MEASURES = (
    MeasureSpec("resolved", "bool", "Has the agent resolved the bug?", "maximize", aggregate="rate", headline=True),
    MeasureSpec(
        "collateral", "int", "Files edited beyond the target.", "minimize", "files", aggregate="mean", worst=10
    ),
    MeasureSpec("score", "float", "Share of hidden tests that pass.", "maximize", aggregate="mean"),
    MeasureSpec(
        "approach", "category", "Strategy taken.", aggregate="counts", categories=("refactor", "patch", "rewrite")
    ),
    MeasureSpec("note", "text", "What a reader should know."),
)
AGENTS = ("careful", "hasty", "meddler", "lost", "looper", "crasher", "flaky", "oracle", "noop")
SKILL = {agent: 0.95 - 0.11 * place for place, agent in enumerate(AGENTS)}
SOURCE = '''"""Fixes the parser."""

from runner import bench, expect, observe


def bench_fix_{n}(workspace, agent):
    """Ask for a fix, then run the suite."""
    expect(workspace).to_have_file("src/parser.py")
    agent.request("Fix the failing test in src/parser.py")
    observe("resolved", workspace.tests.passed())
    bench.attach("diff", workspace.diff())
'''
START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


def make_run(
    folder: Path,
    *,
    bench: str = "acme/demo",
    cells: int = 3,
    scenarios: int = 3,
    cases: int = 1,
    trials: int = 3,
    seed: int = 1,
    fates: bool = True,
    state: str = "finished",
    retain: str = "unsolved",
    definition: str = "one",
    run: str = "",
) -> Path:
    """Write a run directory below the bench folder `folder`, as the runner would have left it.

    The first trials meet every fate once (`fates=False`: all are scored); the rest follow each agent's skill.
    `state="running"` leaves the last trials open, without an end.
    """
    rng = random.Random(seed)
    blobs = BlobStore(folder / ".bench" / "blobs")
    manifest = make_manifest(
        blobs, rng, bench, cells, scenarios, cases, trials, seed=seed, definition=definition, run=run, retain=retain
    )
    run_dir = folder / ".bench" / "runs" / manifest.run
    run_dir.mkdir(parents=True)
    manifest.write(run_dir / MANIFEST)
    write_events(run_dir, manifest, blobs, rng, fates=fates, state=state, retain=retain)
    return run_dir


def make_manifest(
    blobs: BlobStore,
    rng: random.Random,
    bench: str,
    cells: int,
    scenarios: int,
    cases: int,
    trials: int,
    *,
    seed: int,
    definition: str = "one",
    run: str = "",
    retain: str = "unsolved",
) -> Manifest:
    template, _, _ = worlds.tree_blob(worlds.World(), blobs)
    rows = [
        (cell, scenario, case, number, 0)
        for scenario in range(scenarios)
        for case in range(cases)
        for cell in range(cells)
        for number in range(1, trials + 1)
    ]
    order = list(range(len(rows)))
    rng.shuffle(order)
    return Manifest(
        run=run or str(ULID.from_datetime(START + timedelta(hours=seed))),
        created_at=_at(seed * 3600),
        bench=bench,
        version="1.0.0",
        measures=MEASURES,
        axes=_axes(cells),
        cells=tuple(_cell(n) for n in range(cells)),
        scenarios=tuple(_scenario(n, cases, blobs, definition) for n in range(scenarios)),
        rows=tuple(rows),
        hashes=_hashes(definition),
        plans=({"mode": "reuse", "source": "bench", "timeouts": {"request": 1800, "trial": 3600}},),
        title="Demo: fix the parser",
        readme=blobs.put(b"# Demo\n\nMeasures *repairs* of a small parser.\n\n<script>alert(1)</script>\n"),
        template=template,
        isolation="none",
        environment="local",
        network={"execution": "open", "evaluation": "none"},
        retain=retain,
        trials_per_cell=trials,
        seed=seed,
        order=tuple(order),
        harness={"name": "benchsite", "version": "0.1.0", "python": "3.11"},
        host={"system": "Linux", "cpus": 2},
    )


def write_events(
    run_dir: Path, manifest: Manifest, blobs: BlobStore, rng: random.Random, *, fates: bool, state: str, retain: str
) -> None:
    teller = Teller(blobs, worlds.World(), rng, retain)
    clock = manifest.seed * 3600.0
    with Journal.open(run_dir) as journal:
        journal.append("run.started", workers=2, load=0.5, at=_at(clock))
        for place, index in enumerate(manifest.order):
            fate = _fate(manifest, index, place, rng, fates)
            if state == "running" and place >= len(manifest.order) - 2:
                journal.append("trial.started", trial=index, attempt=1, seed=1, worker=0, at=_at(clock))
                continue
            if fate.state in UNRUN and not fates:
                continue
            events = list(teller.trial(index, fate, "Fix the failing test in src/parser.py"))
            for event in events:
                clock += 0.5
                journal.extend([{**event, "at": _at(clock)}])
        if state != "running":
            journal.append("run.finished", state=state, at=_at(clock))


def _fate(manifest: Manifest, index: int, place: int, rng: random.Random, fates: bool) -> Fate:
    agent = manifest.cells[manifest.trials[index].cell].axes["agent"]
    if fates and place < len(FATES):
        return FATES[place]
    return SOLVED if rng.random() < SKILL[agent] else UNSOLVED


def _at(seconds: float) -> str:
    return (START + timedelta(seconds=seconds)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _axes(cells: int) -> tuple[Axis, ...]:
    agents = tuple(AGENTS[n] for n in range(min(cells, len(AGENTS))))
    models = tuple(dict.fromkeys(_axis_values(n)["model"] for n in range(cells)))
    return Axis("agent", agents), Axis("model", models, constant=len(models) == 1)


def _axis_values(n: int) -> dict[str, str]:
    return {"agent": AGENTS[n % len(AGENTS)], "model": f"m/{'small' if n < len(AGENTS) else n // len(AGENTS)}"}


def _cell(n: int) -> Cell:
    axes = _axis_values(n)
    pin = {"adapter": "scripted", "version": "1.4.0", "model": axes["model"]}
    return Cell(cell_id(axes), axes, pin, "none")


def _scenario(n: int, cases: int, blobs: BlobStore, definition: str) -> Scenario:
    name = ("fix_bug", "add_feature", "refactor")[n] if n < 3 else f"area/task_{n}"
    source = blobs.put(SOURCE.format(n=n).encode())
    listed = tuple(
        Case("" if cases == 1 else f"case-{c}", {"n": str(c)}, digest([definition, n, c])) for c in range(cases)
    )
    return Scenario(
        id=name,
        file=f"tests/bench_{name}.py",
        line=6,
        function=f"bench_fix_{n}",
        doc="Ask for a fix, then run the suite.",
        hash=digest([definition, n]),
        source=source,
        cases=listed,
    )


def _hashes(definition: str) -> dict[str, str]:
    parts = {part: digest([part, definition]) for part in ("template", "suite", "code", "fixtures")}
    parts["schema"] = schema_hash(MEASURES)
    return {**parts, "definition": digest(parts)}


def make_user(name: str = "ada", *, groups: tuple[str, ...] = (), **fields: Any) -> Any:
    """Make an account that is in `groups`; they are made where they are missing."""
    from django.contrib.auth.models import Group

    from benchsite.accounts.models import User

    user = User.objects.create_user(name, password=fields.pop("password", "a long password"), **fields)
    user.groups.set([Group.objects.get_or_create(name=group)[0] for group in groups])
    return user


def make_curator(name: str = "curie", **fields: Any) -> Any:
    return make_user(name, groups=("curators",), is_staff=True, **fields)


def make_token(user: Any, *scopes: str, days: int = 30) -> str:
    """Give a token's key."""
    from django.utils import timezone

    from benchsite.accounts.models import Token

    expires = timezone.now() + timedelta(days=days)
    return str(Token.objects.issue(user, "test", list(scopes or ("read", "upload")), expires)[1])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.make", description=__doc__)
    parser.add_argument("folder", type=Path)
    for name, default in (("cells", 3), ("scenarios", 3), ("cases", 1), ("trials", 3), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--bench", default="acme/demo")
    parser.add_argument("--definition", default="one")
    print(make_run(**vars(parser.parse_args())))


if __name__ == "__main__":
    main()
