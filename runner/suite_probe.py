"""Run a bench's suite once on the untouched world: it must be able to start, passing is the bench's affair."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ulid import ULID

from .definition import Bench
from .errors import BenchError
from .load import fault_of
from .matrix import expand_bench, real_axes
from .sealing import Sealed
from .surroundings import needs_of, settings

if TYPE_CHECKING:
    from .environments.base import Environment
    from .worlds.places import Place
    from .worlds.suite import SuiteRun


def try_suite(
    bench: Bench, sealed: Sealed, environment: Environment, plan: Mapping[str, Any] | None = None
) -> list[str]:
    """Refuse a place where worlds cannot live, whatever the bench has of its own, and a suite that cannot start; give a
    warning for one that does not end. `plan` is that of a scenario, which may name the image."""
    from .worlds.copying import copy_world
    from .worlds.places import drop_place, make_place

    place = make_place(f"prepare-{ULID()}", 0, 1)
    try:
        if not bench.suite or sealed.world is None:
            return []
        copy_world(sealed.world, place.world)
        run_setup(bench, place.world)
        done = _run(bench, environment, place, plan or settings(bench, None))
        if not done.could_start:
            raise BenchError(
                f"The suite {bench.suite!r} cannot start on the untouched world: {_tail(done.output)}", file=bench.file
            )
    finally:
        drop_place(place)
    return [f"The suite ran longer than {bench.timeouts.suite:g} s on the untouched world."] if done.timed_out else []


def run_setup(bench: Bench, world: Path) -> None:
    """Set the world up as in the first cell; a setup that fails here would fail every trial."""
    if bench.setup is None:
        return
    cell = expand_bench(bench)[1][0]
    try:
        bench.setup(world, real_axes(bench, cell.id))
    except Exception as error:
        raise fault_of(error, bench.file) from error


def _run(bench: Bench, environment: Environment, place: Place, plan: Mapping[str, Any]) -> SuiteRun:
    from .agents.base import interpreter
    from .environments.base import Needs
    from .worlds.suite import run_suite

    needs = needs_of(Needs(programs=interpreter()), plan, "evaluation")
    session = environment.open(place, needs)
    try:
        out, limit = place.out / "suite", bench.timeouts.suite
        return run_suite(session, bench.suite, sys.executable, out, limit, untouched=True)
    finally:
        session.close()


def _tail(output: Path, limit: int = 1000) -> str:
    try:
        text = output.read_bytes()[-limit:].decode("utf-8", "replace").strip()
    except OSError:
        text = ""
    return text or "it printed nothing."
