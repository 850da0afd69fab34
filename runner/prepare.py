"""`prepare`: everything that can be known before money is spent, and the manifest of a run that could start now."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ulid import ULID

from . import judges, planning, surroundings
from .blobs import BlobStore
from .define import parse_money
from .definition import ISOLATION, Bench, Capture, Command, Workspace, parse_size
from .digests import canonical
from .dotbench import dot_bench
from .errors import BenchError
from .hashes import definition_hashes
from .host import harness_facts, host_facts
from .image_probe import probing
from .journal import now
from .load import load_bench
from .manifest import Manifest
from .matrix import expand_bench, with_agents
from .pins import Pinned, pin_cells
from .plans import EvaluationRequest, Plan, resolve
from .schema_source import extract
from .sealing import Sealed, seal
from .selection import Selection, used_axes
from .static_check import check_sources
from .stubs import write_stubs
from .suite_probe import try_suite

if TYPE_CHECKING:
    from .environments.base import Environment
    from .scenario.collecting import CollectedCase
    from .standby import Standby

SEED_BITS = 31
LONGEST_TAG = 64


@dataclass(frozen=True)
class Prepared:
    """A run that has everything but its folder. `environment` is the name of the one that was chosen."""

    bench: Bench
    sealed: Sealed
    manifest: Manifest
    environment: str
    warnings: tuple[str, ...] = ()


def prepare(
    folder: Path | str | Bench,
    *,
    trials: int | None = None,
    environment: str | None = None,
    evaluation: str | EvaluationRequest | None = None,
    seed: int | None = None,
    agents: Sequence[str] | None = None,
    select: Selection | None = None,
    tags: Sequence[str] = (),
    retain: str | None = None,
    world: str | None = None,
    probe: bool = True,
    standby: Standby | None = None,
) -> Prepared:
    """Check a bench whole and plan a run of it.

    `agents` replaces the values of the axis `agent`; `select` takes a part of the plan, and only its agents are looked
    for; `tags` are kept in the manifest; `retain` says which worlds are kept, in place of what the bench says;
    `world` is how they are made: auto, copy or overlay. The process that collects the scenarios stays in `standby`, if
    there is one, to serve the run.
    """
    from .environments import choose
    from .scenario.collecting import collect
    from .worlds.backends import choose_world

    bench = _overridden(load_bench(Path(folder)), trials, agents)
    measures = extract(bench.schema, bench.file)
    axes, cells = expand_bench(bench)
    sealed = seal(bench)
    store = dot_bench(bench.root)
    write_stubs(store, measures, axes)
    ids = check_sources(
        sealed.root, measures, [axis.name for axis in axes], shown_root=bench.root, judged=bool(bench.judge)
    )
    collected = collect(sealed.root, bench.tests, bench.root, standby)
    if not collected.cases:
        raise BenchError(f"No scenario found: no file of {bench.tests!r} holds a bench_* function.", file=bench.root)
    blobs = BlobStore(store / "blobs")
    scenarios, firsts = planning.scenarios(bench, sealed, collected.cases, blobs)
    select = select or Selection()
    cells = select.of_cells(cells)
    positions, scenarios = zip(*select.of_scenarios(scenarios), strict=True)
    chosen = choose(environment or bench.environment, bench.isolation, bench.network, bench.image)
    worlds = choose_world(world, sealed.world, sealed.template, chosen.name, _code(bench, sealed))
    plans, numbers = _plans(
        bench, [firsts[position] for position in positions], chosen, EvaluationRequest.of(evaluation)
    )
    room = sealed.template.room if sealed.template else 0
    if small := next(filter(None, (surroundings.too_small_for(room, plan) for plan in plans)), ""):
        raise BenchError(small, file=bench.file)
    if probe and (lack := judges.missing(bench.judge, os.environ)):
        raise BenchError(lack, file=bench.file)
    pinned = pin_cells(bench, cells, chosen.isolation, probe=probe, probing=probing(chosen, plans[0]))
    if refusal := surroundings.unreachable(chosen, plans, pinned.endpoints):
        raise BenchError(refusal, file=bench.file)
    warnings = [
        *_warnings(bench, chosen, pinned, sealed),
        *filter(None, [worlds.warning]),
        *ids,
        *surroundings.warnings(plans),
    ]
    warnings += try_suite(bench, sealed, chosen, plans[0]) if probe else ()
    rows = planning.rows(cells, scenarios, numbers, bench.trials, select)
    seed = secrets.randbits(SEED_BITS) if seed is None else seed
    manifest = Manifest(
        run=str(ULID()),
        created_at=now(),
        bench=bench.name,
        version=bench.version,
        measures=measures,
        axes=used_axes(axes, cells),
        cells=pinned.cells,
        scenarios=scenarios,
        rows=rows,
        hashes=definition_hashes(bench, measures, sealed, surroundings.images(plans)),
        plans=plans,
        title=bench.title,
        readme=_readme(sealed, blobs),
        template=_template(bench, sealed, blobs),
        isolation=chosen.isolation,
        environment=chosen.name,
        network=surroundings.network_row(bench.network),
        evaluation=EvaluationRequest.of(evaluation).mode or bench.evaluation,
        requested=EvaluationRequest.of(evaluation).lists(),
        retain=retain or (bench.workspace.retain if bench.workspace else Workspace().retain),
        trials_per_cell=bench.trials,
        limits=_limits(bench),
        seed=seed,
        order=planning.order(rows, seed),
        harness={**harness_facts(), "environment": f"{chosen.name} {chosen.version()}".strip()},
        host={**host_facts(), "world": worlds.name},
        judge=judges.told(bench.judge, os.environ),
        sealed=sealed.digest,
        tags=_tags(tags),
    )
    return Prepared(bench, sealed, manifest, chosen.name, tuple(warnings))


def _overridden(bench: Bench, trials: int | None, agents: Sequence[str] | None) -> Bench:
    if trials is not None:
        if trials < 1:
            raise BenchError(f"trials={trials} is not a whole number of at least 1.")
        bench = replace(bench, trials=trials)
    return with_agents(bench, agents or ())


def _tags(tags: Sequence[str]) -> tuple[str, ...]:
    for tag in tags:
        if not tag.strip() or not tag.isprintable() or len(tag) > LONGEST_TAG:
            raise BenchError(f"{tag!r} is no tag: it takes 1 to {LONGEST_TAG} characters that can be printed.")
    return tuple(dict.fromkeys(tags))


def _plans(
    bench: Bench, firsts: Sequence[CollectedCase], chosen: Environment, request: EvaluationRequest
) -> tuple[tuple[Plan, ...], list[int]]:
    """Give the distinct plans, and for each scenario the position of its own."""
    plans: dict[bytes, Plan] = {}
    keys = []
    for case in firsts:
        plan = resolve(bench, case, chosen, request)
        plans.setdefault(canonical(plan), plan)
        keys.append(canonical(plan))
    positions = list(plans)
    return tuple(plans.values()), [positions.index(key) for key in keys]


def _code(bench: Bench, sealed: Sealed) -> Iterator[str]:
    """Give what the bench runs on this machine, as text."""
    yield bench.suite
    yield from (spec.template for spec in bench.agents.values() if isinstance(spec, Command))
    for name in sealed.files:
        if name.endswith((".py", ".sh")):
            yield (sealed.root / name).read_text(encoding="utf-8", errors="replace")


def _limits(bench: Bench) -> dict[str, Any]:
    budget = {"trial": parse_money(bench.budget.trial), "total": parse_money(bench.budget.total)}
    capture = bench.workspace.capture if bench.workspace else Capture()
    return {
        "timeouts": asdict(bench.timeouts),
        "budget": budget,
        "retries": bench.retries,
        "max_bytes": parse_size(capture.max_bytes),
    }


def _readme(sealed: Sealed, blobs: BlobStore) -> str | None:
    return blobs.put_file(sealed.root / "README.md") if "README.md" in sealed.files else None


def _template(bench: Bench, sealed: Sealed, blobs: BlobStore) -> str | None:
    """Keep the world's files as blobs: the side before a change can then be shown wherever the run goes."""
    from .worlds.tree import store_tree

    if bench.workspace is None or sealed.world is None:
        return None
    return store_tree(sealed.world, blobs, parse_size(bench.workspace.capture.max_bytes)).store(blobs)


def _warnings(bench: Bench, chosen: Environment, pinned: Pinned, sealed: Sealed) -> list[str]:
    found = []
    if chosen.isolation == ISOLATION[0]:
        hidden = " and fixtures/ are" if sealed.fixtures else " is"
        found.append(f"isolation: none. The environment {chosen.name!r} hides nothing: the bench{hidden} within reach.")
    if lent := [cell.pin["agent"] for cell in pinned.cells if "credentials" in cell.pin]:
        named = " and ".join(dict.fromkeys(lent))
        found.append(f"One trial at a time has the login of {named}, in all runs of this machine together.")
    if parse_money(bench.budget.trial) or parse_money(bench.budget.total):
        unknown = [name for name in pinned.agents if isinstance(bench.agents.get(name), Command)]
        if unknown:
            found.append(f"The budget is not enforced for {', '.join(unknown)}: what a command costs is unknown.")
    return found
