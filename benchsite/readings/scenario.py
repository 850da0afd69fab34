"""One scenario in a run: its cells side by side, its cases, what went wrong in it, and its source."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count

from benchsite.artifacts.store import read_blob
from benchsite.benches.models import Case, ScenarioVersion
from benchsite.runs.models import Observation, Run, Trial
from runner.errors import RunnerError
from runner.faults import FAULTS

from .counts import DEFAULT_POLICY, Counts, by_cell, slots_of, total
from .leaderboard import MeasureFacts
from .loaded import Loaded
from .matrix import Square, square
from .strips import NO_STRIP, Strip, strips
from .subjects import CellFacts
from .trials import Filters
from .words import STATE_WORDS, natural

SOURCE_LIMIT = 512 << 10
CASES = 200
KINDS = 30


@dataclass(frozen=True)
class CellLine:
    cell: CellFacts
    square: Square | None
    lo: float | None
    hi: float | None
    counts: Counts
    strip: Strip


@dataclass(frozen=True)
class CaseLine:
    key: str
    counts: Counts


@dataclass(frozen=True)
class Group:
    """Trials that went wrong in the same way; `query` lists them."""

    status: str
    words: str
    many: int
    query: str


@dataclass(frozen=True)
class ScenarioPage:
    run: Run
    slug: str
    name: str
    version: ScenarioVersion
    source: str
    source_note: str
    measure: MeasureFacts | None
    policy: str
    counts: Counts
    lines: tuple[CellLine, ...]
    scale: tuple[float, float]
    cases: tuple[CaseLine, ...]
    case_total: int
    groups: tuple[Group, ...]
    marked: str


def scenario_page(run: Run, slug: str, policy: str = DEFAULT_POLICY, marked: str = "") -> ScenarioPage | None:
    loaded = Loaded(run)
    versions = ScenarioVersion.objects.filter(version=run.version_id, scenario__slug=slug, scenario__bench=run.bench_id)
    version = versions.select_related("scenario").first()
    if version is None:
        return None
    pk = version.scenario_id
    slots = slots_of(run.slots.filter(scenario=pk))
    trials = Trial.objects.filter(run=run, scenario=pk)
    source, note = _source(version)
    of_cell = by_cell(slots)
    lines = _lines(loaded, slots, of_cell, trials, policy)
    cases, case_total = _cases(pk, slots)
    counts = total(of_cell.values())
    return ScenarioPage(
        run=run,
        slug=slug,
        name=version.scenario.name,
        version=version,
        source=source,
        source_note=note,
        measure=loaded.headline,
        policy=policy,
        counts=counts,
        lines=lines,
        scale=scale_of_squares(loaded.headline, [line.square for line in lines]),
        cases=cases,
        case_total=case_total,
        groups=tuple(_groups(loaded, pk, slug, counts, trials)),
        marked=marked,
    )


def _source(version: ScenarioVersion) -> tuple[str, str]:
    if not version.source:
        return "", "The run brought no source of this scenario."
    try:
        return read_blob(version.source, SOURCE_LIMIT).decode("utf-8", "replace"), ""
    except RunnerError as error:
        return "", str(error)


def _lines(
    loaded: Loaded, slots: Sequence[Any], counts: Mapping[int, Counts], trials: Any, policy: str
) -> tuple[CellLine, ...]:
    headline = loaded.headline
    values = loaded.values_of(headline) if headline and not headline.rate else None
    marks = strips(trials, "cell_id")
    grouped = defaultdict(list)
    for slot in slots:
        grouped[slot.cell].append(slot)
    lines = [
        _line(cell, grouped.get(cell.id, []), counts.get(cell.id, Counts()), policy, values, marks)
        for cell in loaded.cells
    ]
    if headline:
        lines.sort(key=lambda line: headline.badness(line.square.value if line.square else None))
    return tuple(lines)


def _line(
    cell: CellFacts, slots: Sequence[Any], counts: Counts, policy: str, values: Any, marks: dict[int, Strip]
) -> CellLine:
    interval = counts.interval(policy) if values is None else None
    lo, hi = interval or (None, None)
    made = square(slots, policy, values) if slots else None
    return CellLine(cell, made, lo, hi, counts, marks.get(cell.id, NO_STRIP))


def scale_of_squares(measure: MeasureFacts | None, squares: Sequence[Square | None]) -> tuple[float, float]:
    if measure is None or measure.type in ("bool", "category"):
        return (0.0, 1.0)
    values = [square.value for square in squares if square and square.value is not None]
    low, high = min([0.0, *values]), max(values, default=1.0)
    return (low, high if high > low else low + 1)


def _cases(scenario: int, slots: Sequence[Any]) -> tuple[tuple[CaseLine, ...], int]:
    counts: dict[int, Counts] = defaultdict(Counts)
    for slot in slots:
        counts[slot.case].add(slot)
    if len(counts) < 2:
        return (), len(counts)
    keys = dict(Case.objects.filter(scenario=scenario).values_list("pk", "key"))
    lines = sorted((CaseLine(keys.get(pk, ""), of) for pk, of in counts.items()), key=_hardest)
    return tuple(lines[:CASES]), len(lines)


def _hardest(line: CaseLine) -> tuple[bool, float, list[tuple[int, str]]]:
    rate = line.counts.rate()
    return rate is None, rate or 0.0, natural(line.key)


def _groups(loaded: Loaded, scenario: int, slug: str, counts: Counts, trials: Any) -> list[Group]:
    """Errors by fault, exclusions, and unsolved trials by each category the bench observes."""
    of = f"scenario={slug}"
    groups = [_fault(code, many, of) for code, many in counts.faults.most_common()]
    if counts.excluded:
        groups.append(Group("excluded", "excluded by a guard", counts.excluded, f"state=excluded&{of}"))
    if unsolved := counts.states["unsolved"]:
        groups.append(Group("unsolved", STATE_WORDS["unsolved"], unsolved, f"outcome=unsolved&{of}"))
        groups += _kinds(loaded, trials, slug)
    return groups


def _fault(code: str, many: int, of: str) -> Group:
    known = FAULTS.get(code)
    words = f"{code}: {known.sentence}" if known else code
    return Group(known.state if known else "run_error", words, many, f"fault={code}&{of}")


def _kinds(loaded: Loaded, trials: Any, slug: str) -> list[Group]:
    """Part the unsolved trials by each category the bench observes, the most frequent first."""
    named = {measure.id: measure for measure in loaded.measures if measure.type == "category"}
    if not named:
        return []
    missed = trials.filter(outcome="unsolved", withdrawn=False)
    seen = Observation.objects.filter(measure__in=named, valid=True, trial__in=missed).order_by()
    counted = seen.values_list("measure", "text").annotate(many=Count("pk")).order_by("-many", "text")[:KINDS]
    return [_kind(named[pk], text, many, slug) for pk, text, many in counted]


def _kind(measure: MeasureFacts, text: str, many: int, slug: str) -> Group:
    query = Filters(outcome="unsolved", scenario=slug, measure=measure.key, seen="observed", value=text).query()
    return Group("unsolved", f"{measure.name}: {text}", many, query)
