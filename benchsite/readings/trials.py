"""The filtered list that every number links to: its count is the number."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from itertools import islice
from typing import Any
from urllib.parse import quote_plus

from django.db.models import Q

from benchsite.curation.models import Tag
from benchsite.runs.models import Observation, Run, Trial
from runner.faults import FAULTS, OUTCOMES, STATES
from runner.statistics import POLICIES

from .counts import counted
from .coverage import SEEN, seen_in, was_seen
from .far import far_trials
from .flagged import has_flag
from .leaderboard import MeasureFacts
from .loaded import Loaded
from .question import SPENT
from .reasons import worded
from .subjects import CellFacts
from .words import NONE, SPENT_WORDS, STATE_WORDS, listed, number

LIMIT = 200
FEW = 20
"""Under this part of the planned trials, a list is sought from the cases that have any of them."""
FLAG = re.compile(r"[a-z0-9_.-]{1,40}")
"""What a flag may look like: a run of another release may bring some that this one does not know."""
WITHDRAWN = "withdrawn"


@dataclass(frozen=True)
class Filters:
    """What the address asks, in the order an address has it. `state` and `cell` may list several, parted by commas."""

    state: str = ""
    outcome: str = ""
    fault: str = ""
    cell: str = ""
    scenario: str = ""
    case: str | None = None
    counted: str = ""
    flag: str = ""
    measure: str = ""
    seen: str = ""
    value: str = ""
    known: str = ""
    far: str = ""
    tag: str = ""
    why: str | None = None
    after: int = -1

    def query(self, **changed: Any) -> str:
        """The canonical address of these filters: fixed order, nothing empty."""
        return query_of({**vars(self), **changed})

    @property
    def any(self) -> bool:
        return bool(self.query(after=-1))

    @property
    def carried(self) -> list[tuple[str, str]]:
        """The filters that no choice on the page sets: a form carries them along."""
        names = ("case", "counted", "measure", "seen", "value", "known", "far", "tag", "why")
        held = ((name, getattr(self, name)) for name in names)
        return [(name, value) for name, value in held if _says(name, value)]

    @property
    def cells(self) -> tuple[str, ...]:
        return tuple(self.cell.split(","))

    @property
    def states(self) -> tuple[str, ...]:
        return tuple(filter(None, self.state.split(",")))

    def unknown(self) -> str:
        """Name the first value that no trial can have: an odd address is a 404, not an empty table."""
        bad = [state for state in self.states if state not in (*STATES, WITHDRAWN)]
        if self.outcome and self.outcome not in OUTCOMES:
            bad.append(self.outcome)
        if self.fault and self.fault not in FAULTS:
            bad.append(self.fault)
        if self.counted and self.counted not in POLICIES:
            bad.append(self.counted)
        if self.flag and not FLAG.fullmatch(self.flag):
            bad.append(self.flag)
        if bool(self.measure) != bool(self.seen) or self.seen not in ("", *SEEN):
            bad.append(self.seen or self.measure)
        if self.value and self.seen != "observed":
            bad.append(self.value)
        if self.known and self.known not in SPENT:
            bad.append(self.known)
        return bad[0] if bad else ""


_PLACES = {field.name: place for place, field in enumerate(fields(Filters))}


def query_of(filters: Mapping[str, Any]) -> str:
    """The canonical query of some filters, without the others: pages have hundreds of such links."""
    said = [(name, filters[name]) for name in sorted(filters, key=_PLACES.__getitem__)]
    return "&".join([f"{name}={_quoted(str(value))}" for name, value in said if _says(name, value)])


@lru_cache(maxsize=4096)
def _quoted(value: str) -> str:
    """Quote once what most links of a page share."""
    return quote_plus(value, safe=",/")


def _says(name: str, value: Any) -> bool:
    """Whether a value is a filter: an empty case or reason is one."""
    return value not in ("", None, -1) or (name in ("case", "why") and value == "")


@dataclass(frozen=True)
class TrialRow:
    index: int
    state: str
    outcome: str
    fault: str
    reason: str
    cell: CellFacts
    slug: str
    scenario: str
    case: str
    number: int
    headline: str
    value: float | None
    seconds: float | None
    cost: float | None
    tokens: int | None
    files: int | None
    lines_added: int | None
    lines_deleted: int | None
    attempts: int
    kept: bool
    flags: tuple[str, ...]
    withdrawn: bool

    @property
    def status(self) -> str:
        return WITHDRAWN if self.withdrawn else self.outcome or self.state


@dataclass(frozen=True)
class TrialsPage:
    run: Run
    filters: Filters
    count: int
    planned: int
    rows: tuple[TrialRow, ...]
    next: int | None
    headline: MeasureFacts | None
    cells: tuple[CellFacts, ...]
    scenarios: tuple[tuple[str, str], ...]
    words: tuple[tuple[str, str], ...]
    limit: int = LIMIT

    @property
    def first(self) -> str:
        return self.filters.query(after=-1)

    @property
    def onward(self) -> str:
        return self.filters.query(after=self.next)


def trials_page(run: Run, filters: Filters) -> TrialsPage | None:
    """Answer a list, or None where the address names what the run does not have."""
    loaded = Loaded(run)
    condition = where(loaded, filters)
    if condition is None:
        return None
    found, planned = Trial.objects.filter(condition, run=run), run.counts.get("planned", 0)
    alone = filters.measure and not filters.query(measure="", seen="", value="", after=-1)
    rolled_up = seen_in(run, loaded.measures, filters.measure, filters.seen, filters.value) if alone else None
    count, narrow = rolled_up or (found.count(), Q())
    sought = found.filter(narrow) if count * FEW < planned else found
    rows = list(sought.filter(index__gt=filters.after).select_related("case").order_by("index")[: LIMIT + 1])
    return TrialsPage(
        run=run,
        filters=filters,
        count=count,
        planned=planned,
        rows=trial_rows(loaded, rows[:LIMIT]),
        next=rows[LIMIT - 1].index if len(rows) > LIMIT else None,
        headline=loaded.headline,
        cells=tuple(loaded.cells),
        scenarios=tuple(loaded.scenarios.values()),
        words=tuple(_words(loaded, filters)),
    )


def first_trial(run: Run, filters: Filters) -> int | None:
    """Give the index of the first trial under the filters: -1 where there is none, None for an odd address."""
    condition = where(Loaded(run), filters)
    if condition is None:
        return None
    found = Trial.objects.filter(condition, run=run).order_by("index").values_list("index", flat=True).first()
    return -1 if found is None else int(found)


def every_trial(run: Run, filters: Filters) -> Iterator[TrialRow] | None:
    """All trials under the filters, page by page, for the list's twins."""
    loaded = Loaded(run)
    condition = where(loaded, filters)
    if condition is None:
        return None
    rows = Trial.objects.filter(condition, run=run).select_related("case").order_by("index")
    return (made for chunk in batched(rows.iterator(chunk_size=2000), 2000) for made in trial_rows(loaded, chunk))


def batched(rows: Iterable[Any], size: int) -> Iterator[list[Any]]:
    source = iter(rows)
    while chunk := list(islice(source, size)):
        yield chunk


def where(loaded: Loaded, filters: Filters) -> Q | None:
    if filters.unknown():
        return None
    condition = Q()
    if filters.cell:
        cells = [loaded.cell(key10) for key10 in filters.cells]
        if None in cells:
            return None
        condition &= Q(cell__in=[cell.id for cell in cells if cell])
    if filters.scenario:
        scenario = next((pk for pk, (slug, _) in loaded.scenarios.items() if slug == filters.scenario), None)
        if scenario is None:
            return None
        condition &= Q(scenario=scenario)
    if filters.case is not None:
        condition &= Q(case__key=filters.case)
    if filters.measure:
        measure = next((one for one in loaded.measures if one.key == filters.measure), None)
        if measure is None:
            return None
        condition &= was_seen(measure.id, filters.seen, filters.value)
    if filters.tag:
        tagged = Tag.objects.filter(run=loaded.run.ulid, name=filters.tag).exclude(trial=None)
        condition &= Q(index__in=tagged.values("trial"))
    if filters.far:
        far = far_trials(loaded.run, loaded.measures, filters.far)
        if far is None:
            return None
        condition &= far
    condition &= _state(filters)
    if filters.why is not None:
        condition &= worded(Trial.objects.filter(condition, run=loaded.run), filters.why) & Q(withdrawn=False)
    return condition


def _state(filters: Filters) -> Q:
    condition = Q()
    if filters.states:
        plain = [state for state in filters.states if state != WITHDRAWN]
        of_state = Q(state__in=plain, withdrawn=False)
        condition &= of_state | Q(withdrawn=True) if WITHDRAWN in filters.states else of_state
    if filters.outcome:
        condition &= Q(state="scored", outcome=filters.outcome, withdrawn=False)
    if filters.fault:
        condition &= Q(fault=filters.fault, withdrawn=False)
    if filters.counted:
        condition &= counted(filters.counted) & Q(withdrawn=False)
    if filters.flag:
        condition &= has_flag(filters.flag)
    if filters.known:
        condition &= Q(**{f"{filters.known}__isnull": False}, withdrawn=False)
    return condition


def trial_rows(loaded: Loaded, rows: list[Any]) -> tuple[TrialRow, ...]:
    values = _headlines(loaded.headline, rows)
    return tuple(_row(loaded, row, values) for row in rows)


def _headlines(headline: MeasureFacts | None, rows: list[Any]) -> dict[int, str]:
    """The headline as text; categories are not on the trial's row and are asked for."""
    if headline is None or headline.rate:
        return {}
    if headline.pooled:
        return {row.pk: number(row.headline) for row in rows}
    seen = Observation.objects.filter(measure=headline.id, trial__in=rows, valid=True)
    return dict(seen.values_list("trial_id", "text"))


def _row(loaded: Loaded, row: Any, values: dict[int, str]) -> TrialRow:
    slug, name = loaded.scenarios.get(row.scenario_id, ("", NONE))
    touched = [part for part in (row.added, row.modified, row.deleted) if part is not None]
    same = ("index", "state", "outcome", "fault", "reason", "number", "seconds", "cost", "tokens", "lines_added")
    return TrialRow(
        **{field: getattr(row, field) for field in same},
        lines_deleted=row.lines_deleted,
        attempts=row.attempts,
        withdrawn=row.withdrawn,
        cell=loaded.cell_by_id[row.cell_id],
        slug=slug,
        scenario=name,
        case=row.case.key,
        headline=values.get(row.pk, NONE),
        value=row.headline,
        files=sum(touched) if touched else None,
        kept=bool(row.kept),
        flags=tuple(row.flags),
    )


def _words(loaded: Loaded, filters: Filters) -> Iterator[tuple[str, str]]:
    """The filters as (words, address without this filter)."""
    if filters.state:
        words = " or ".join(STATE_WORDS.get(state, state) for state in filters.states)
        yield f"state: {words}", filters.query(state="", after=-1)
    if filters.outcome:
        yield f"outcome: {filters.outcome}", filters.query(outcome="", after=-1)
    if filters.fault:
        yield f"fault: {filters.fault}", filters.query(fault="", after=-1)
    if filters.cell:
        titles = [cell.title for key10 in filters.cells if (cell := loaded.cell(key10))]
        yield f"cell: {listed(titles, 6)}", filters.query(cell="", after=-1)
    if filters.scenario:
        name = dict(loaded.scenarios.values())[filters.scenario]
        yield f"scenario: {name}", filters.query(scenario="", after=-1)
    if filters.case is not None:
        yield f"case: {filters.case or '(one case)'}", filters.query(case=None, after=-1)
    if filters.counted:
        yield f"counted under {filters.counted}", filters.query(counted="", after=-1)
    if filters.flag:
        yield f"flag: {filters.flag}", filters.query(flag="", after=-1)
    if filters.measure:
        seen = "scored, but not observed" if filters.seen == "missing" else filters.seen
        said = f"{seen} as {filters.value}" if filters.value else seen
        yield f"{filters.measure}: {said}", filters.query(measure="", seen="", value="", after=-1)
    if filters.known:
        yield f"{SPENT_WORDS[filters.known]} known", filters.query(known="", after=-1)
    if filters.far:
        words = SPENT_WORDS.get(filters.far, filters.far)
        yield f"{words} far above the rest of its scenario", filters.query(far="", after=-1)
    if filters.tag:
        yield f"tag: {filters.tag}", filters.query(tag="", after=-1)
    if filters.why is not None:
        yield f"reason: {filters.why or '(none given)'}", filters.query(why=None, after=-1)
