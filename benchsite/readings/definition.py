"""One definition of a bench: what it measures, the world that trials start with, and its scenarios."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchsite.benches.models import Measure, ScenarioVersion, Version
from benchsite.diffs.dangers import Pill, split_name
from benchsite.runs.models import Run
from runner.worlds.tree import Entry

from .address import to_address
from .leaderboard import MeasureFacts, measures_of
from .provenance import Fact, hashes_of
from .shelf import Shelf
from .worlds import record_of_world

ROWS = 200
"""Files of the start world that are listed; the rest is counted."""
RUNS = 50


@dataclass(frozen=True)
class StartFile:
    """`address` leads to it in the start world of a trial."""

    entry: Entry
    address: str

    @property
    def name(self) -> list[str | Pill]:
        return split_name(self.entry.path)

    @property
    def target(self) -> list[str | Pill]:
        return split_name(self.entry.target or "")


@dataclass(frozen=True)
class DefinitionPage:
    """`runs` are the newest that the reader may see, of `run_total`; `trial` is the index of one of the first's."""

    version: Version
    runs: tuple[Run, ...]
    run_total: int
    trial: int | None
    hashes: tuple[Fact, ...]
    measures: tuple[MeasureFacts, ...]
    scenarios: tuple[ScenarioVersion, ...]
    files: tuple[StartFile, ...]
    total: int
    size: int
    refused: str

    @property
    def left_out(self) -> int:
        return self.total - len(self.files)


def definition_page(version: Version, runs: Any) -> DefinitionPage:
    """`runs`: those of this version that the reader may see, one at least."""
    shown = tuple(runs.order_by("-id")[:RUNS])
    shelf = Shelf([version.template], version.bench_id)
    worldless = not version.template and not version.hashes.get("template")
    tree, refused = (None, "") if worldless else record_of_world(shelf, version.template)
    held = [entry for entry in tree.entries if entry.type != "dir"] if tree else []
    scenarios = ScenarioVersion.objects.filter(version=version).select_related("scenario").order_by("scenario__slug")
    return DefinitionPage(
        version=version,
        runs=shown,
        run_total=runs.count(),
        trial=shown[0].trials.order_by("index").values_list("index", flat=True).first(),
        hashes=tuple(hashes_of(version.hashes)),
        measures=tuple(measures_of(list(Measure.objects.filter(version=version)))),
        scenarios=tuple(scenarios),
        files=tuple(StartFile(entry, to_address(entry.path)) for entry in held[:ROWS]),
        total=len(held),
        size=sum(entry.size or 0 for entry in held),
        refused=refused,
    )
