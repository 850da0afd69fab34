"""From collected cases to planned trials: scenario ids, cases, rows and the order they are started in."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .blobs import BlobStore
from .definition import Bench
from .digests import digest
from .errors import BenchError
from .hashes import scenario_hash
from .manifest import Case, Cell, Scenario
from .sealing import Sealed
from .selection import Selection

if TYPE_CHECKING:
    from .scenario.collecting import CollectedCase

Row = tuple[int, int, int, int, int]


def scenarios(
    bench: Bench, sealed: Sealed, cases: Sequence[CollectedCase], blobs: BlobStore
) -> tuple[tuple[Scenario, ...], tuple[CollectedCase, ...]]:
    """Give the scenarios in order of file and line, and beside each its first collected case."""
    grouped: dict[tuple[str, str], list[CollectedCase]] = {}
    for case in sorted(cases, key=lambda case: (case.file, case.line)):
        grouped.setdefault((case.file, case.function), []).append(case)
    files = Counter(file for file, _ in grouped)
    found = {key: _scenario(sealed, rows, files[key[0]] > 1, blobs) for key, rows in grouped.items()}
    _check_unique(bench, list(found.values()))
    return tuple(found.values()), tuple(rows[0] for rows in grouped.values())


def scenario_id(case: CollectedCase, crowded: bool) -> str:
    """Name a scenario by its file, and by its function where the file holds more than one; a pin goes before."""
    if case.pin:
        return case.pin
    path = Path(case.file)
    name = path.with_name(path.stem.removeprefix("bench_")).as_posix().removeprefix("tests/")
    return f"{name}::{case.function.removeprefix('bench_')}" if crowded else name


def _scenario(sealed: Sealed, rows: list[CollectedCase], crowded: bool, blobs: BlobStore) -> Scenario:
    first = rows[0]
    return Scenario(
        id=scenario_id(first, crowded),
        file=first.file,
        line=first.line,
        function=first.function,
        doc=first.doc,
        hash=scenario_hash(sealed, first.file, first.function),
        source=blobs.put_file(sealed.root / first.file),
        evaluation=first.evaluation,
        cases=tuple(Case(row.case, row.params, digest(row.params)) for row in rows),
    )


def _check_unique(bench: Bench, found: list[Scenario]) -> None:
    seen: dict[str, Scenario] = {}
    for scenario in found:
        if (other := seen.setdefault(scenario.id, scenario)) is not scenario:
            raise BenchError(
                f"The scenario id {scenario.id!r} is taken by {other.file}:{other.line}; rename one or pin another id "
                "with @pytest.mark.scenario(id=...).",
                file=bench.root / scenario.file,
                line=scenario.line,
            )
        keys = Counter(case.key for case in scenario.cases)
        if twice := [key for key, times in keys.items() if times > 1]:
            raise BenchError(
                f"{scenario.function} has two cases with the id {twice[0]!r}; each needs its own.",
                file=bench.root / scenario.file,
                line=scenario.line,
            )


def rows(
    cells: Sequence[Cell], found: Sequence[Scenario], plans: Sequence[int], trials: int, select: Selection
) -> tuple[Row, ...]:
    """Give every planned trial as (cell, scenario, case, number, plan); its position is its index."""
    made = tuple(
        (column, position, place, number, plans[position])
        for position, scenario in enumerate(found)
        for place, case in enumerate(scenario.cases)
        for column, cell in enumerate(cells)
        for number in range(1, trials + 1)
        if select.wants_trial(scenario.id, case.key, cell.id, number)
    )
    if not made:
        raise BenchError("The selection leaves no trial: the bench has changed, or --trials is too small for it.")
    return made


def order(planned: Sequence[Row], seed: int) -> tuple[int, ...]:
    """Shuffle within each round of trials and interleave the cells, so that time of day is no cell effect."""
    chance = random.Random(seed)
    blocks: dict[tuple[int, int, int], list[int]] = {}
    for index, (_, scenario, case, number, _) in enumerate(planned):
        blocks.setdefault((number, scenario, case), []).append(index)
    return tuple(index for block in _shuffled(blocks, chance) for index in block)


def _shuffled(blocks: dict[tuple[int, int, int], list[int]], chance: random.Random) -> Iterator[list[int]]:
    """Blocks hold one trial of each cell; all first trials come before any second one."""
    for number in sorted({key[0] for key in blocks}):
        keys = [key for key in blocks if key[0] == number]
        chance.shuffle(keys)
        for key in keys:
            yield chance.sample(blocks[key], len(blocks[key]))
