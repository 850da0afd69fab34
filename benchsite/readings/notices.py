"""What a reader must know before believing a run: sentences, each with the rows it means."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from runner.faults import FAULTS, INTEGRITY_FLAGS, STATES
from runner.statistics.words import FEW_TRIALS, FEWEST_CLUSTERS

from .alive import SILENT, silent_since
from .beside import Beside
from .counts import ERRORS
from .coverage import Coverage
from .leaderboard import LOW, Board
from .loaded import Loaded
from .subjects import CellFacts
from .words import STATE_WORDS, count, held, listed, percent

Kind = Literal["Left out", "Flagged", "Not as before", "Thin evidence"]
LEVELS = ("danger", "warn", "info")


@dataclass(frozen=True)
class Notice:
    """`query` filters the run's trials; `anchor` is an address on the page or below the run, where no filter fits.

    `kind` and `short` are what several of one kind are told by in one line, `rows` what then stands behind it."""

    level: Literal["info", "warn", "danger"]
    text: str
    query: str = ""
    anchor: str = ""
    link: str = "show"
    kind: Kind | Literal[""] = ""
    short: str = ""
    rows: tuple[Notice, ...] = ()
    waits: Literal["", "run", "files"] = ""
    """It speaks of what a curator decides about: who may is led there."""


VERDICTS = {
    "submitted": "This run waits for a curator: until it is accepted, it counts on no leaderboard.",
    "rejected": "A curator rejected this run: it counts on no leaderboard.",
    "withdrawn": "This run was withdrawn: it counts on no leaderboard.",
}


@dataclass(frozen=True)
class Asked:
    """What notices are made of, each part read before for something else."""

    loaded: Loaded
    table: Board | None
    coverage: Coverage
    flags: Mapping[str, int]
    far: Mapping[str, int]
    aside: Beside


def notices(asked: Asked) -> list[Notice]:
    loaded = asked.loaded
    found = [
        *_verdict(loaded, asked.aside.reason),
        *_held(asked.aside),
        *_regraded(loaded),
        *_stopped(loaded),
        *_left_out(loaded),
        *_coverage(loaded, asked.coverage),
    ]
    found += [
        *_flagged(asked.flags, loaded.total.planned),
        *_versions(loaded.cells),
        *_changed(loaded),
        *_far(asked.far),
    ]
    found += [*_thin(loaded, asked.table), *_bounds(loaded)]
    return sorted(gathered(found), key=lambda notice: LEVELS.index(notice.level))


def gathered(found: Sequence[Notice]) -> Iterator[Notice]:
    """Give one line for each kind, with its notices behind it; what is alone of its kind stands for itself."""
    kinds: dict[str, list[Notice]] = defaultdict(list)
    for number, notice in enumerate(found):
        kinds[notice.kind or str(number)].append(notice)
    for kind, rows in kinds.items():
        if len(rows) == 1:
            yield rows[0]
            continue
        level = min((row.level for row in rows), key=LEVELS.index)
        words = "; ".join(row.short for row in rows if row.short)
        yield Notice(level, f"{kind}: {words}.", rows=tuple(sorted(rows, key=lambda row: LEVELS.index(row.level))))


def _verdict(loaded: Loaded, reason: str) -> Iterator[Notice]:
    run = loaded.run
    if run.verdict in VERDICTS:
        level: Literal["warn", "danger"] = "warn" if run.verdict == "submitted" else "danger"
        text = " ".join(filter(None, (VERDICTS[run.verdict], f"Reason: {reason}" if reason else "")))
        yield Notice(level, text, waits="run")
    if run.state == "running" and (since := silent_since(run)):
        yield Notice("danger", f"No sign of life since {since.day} {since:%b %Y, %H:%M:%S} UTC: {SILENT}")
    if run.state == "interrupted":
        yield Notice("warn", "The run was interrupted before all its trials ended; it can be resumed.")
    elif run.state == "cancelled":
        yield Notice("warn", "The run was cancelled before all its trials ended.")


def _held(aside: Beside) -> Iterator[Notice]:
    if aside.held:
        struck = (
            " Its journal is one of them: in what stands here of it the find is struck out." if aside.struck else ""
        )
        yield Notice("warn", f"{held(aside.held)}{struck}", waits="files")


def _regraded(loaded: Loaded) -> Iterator[Notice]:
    """Costs and times would be those of the checks; what agents spent stands where they worked, once."""
    run = loaded.run
    if run.regrades:
        label = getattr(run, "parent_label", None)
        where = f"run {label}" if label is not None else f"run {run.parent}, which is not here"
        text = f"Regraded: no agent ran. The scenarios as they are now were asked of what agents did in {where}; "
        text += "what that cost and how long it took stands there."
        yield Notice("info", text, anchor=f"../{run.parent}/" if label is not None else "#provenance", link="show")


def _stopped(loaded: Loaded) -> Iterator[Notice]:
    stopped = [cell for cell in loaded.cells if cell.stopped]
    for cell in stopped:
        short = "" if cell != stopped[0] else f"{count(len(stopped), 'cell was', 'cells were')} stopped"
        text, anchor = f"{cell.title} was stopped: {cell.stopped}", f"c/{cell.key10}/"
        yield Notice("warn", text, anchor=anchor, link="cell", kind="Left out", short=short)


def _left_out(loaded: Loaded) -> Iterator[Notice]:
    counts = loaded.total
    if counts.errors:
        faults = [f"{many} {code}" for code, many in counts.faults.most_common()]
        who = sorted({FAULTS[code].door for code in counts.faults if code in FAULTS})
        where = f" ({listed(faults, 6, 'kinds')}; at the door of the {listed(who, 4)})" if faults else ""
        text = f"{count(counts.errors, 'trial')} ended in an error{where}. Errors are not failures of the subject."
        query, short = f"state={','.join(ERRORS)}", count(counts.errors, "error")
        yield Notice("warn", text, query=query, kind="Left out", short=short)
    if counts.excluded:
        text = f"{count(counts.excluded, 'trial was', 'trials were')} excluded by a guard: the scenario did not hold."
        short = f"{counts.excluded:,} excluded"
        yield Notice("warn", text, query="state=excluded", kind="Left out", short=short)
    unrun = [state for state in ("not_run", "skipped", "cancelled", "withdrawn") if counts.states[state]]
    if unrun:
        words = listed([f"{counts.states[state]:,} {STATE_WORDS[state]}" for state in unrun], 4)
        text = f"{count(sum(counts.states[state] for state in unrun), 'trial')} without a result: {words}."
        yield Notice("info", text, query=f"state={','.join(unrun)}", kind="Left out", short=words)
    if live := counts.states["running"] + counts.states["queued"]:
        yield Notice("info", f"{count(live, 'trial')} still to come.", query="state=queued,running")


def _coverage(loaded: Loaded, cover: Coverage) -> Iterator[Notice]:
    """Say where much of what was planned, or of what was scored, has no figure behind it."""
    counts = loaded.total
    ended = counts.planned - counts.states["queued"] - counts.states["running"]
    if loaded.run.state != "running" and ended and counts.scored < LOW * counts.planned:
        short = f"{percent(counts.scored / counts.planned)} of the planned trials were scored"
        without = [state for state in (*STATES, "withdrawn") if state != "scored" and counts.states[state]]
        many = sum(counts.states[state] for state in without)
        text = f"{count(many, 'trial is', 'trials are')} without a score. Low coverage: {short}."
        yield Notice("warn", text, query=f"state={','.join(without)}", kind="Left out", short=short)
    for row in cover.rows:
        scored = row.observed + row.invalid + row.unobserved
        if scored and row.observed < LOW * scored:
            seen, many = max(("missing", row.unobserved), ("invalid", row.invalid), key=lambda one: one[1])
            short = f"{row.measure.name} observed in {percent(row.observed / scored)}"
            text = f"{many:,} {seen}: {row.measure.name} was observed in {percent(row.observed / scored)} "
            text += f"of the {scored:,} scored trials."
            query = f"measure={row.measure.key}&seen={seen}"
            yield Notice("warn", text, query=query, kind="Left out", short=short)


UNSAFE = "unsafe_submission"


def _flagged(flags: Mapping[str, int], planned: int) -> Iterator[Notice]:
    if many := flags.get(UNSAFE):
        text = f"{many:,} of {count(planned, 'trial')} left the scoring by an unsafe submission: the agent had put a "
        text += "link that leads out, a device or more than the limits at a declared path, or had broken what collects "
        text += "its work, so nothing was graded."
        short = f"{many:,} left the scoring by an unsafe submission"
        yield Notice("warn", text, query=f"flag={UNSAFE}", kind="Flagged", short=short)
    for name, many in flags.items():
        if name in INTEGRITY_FLAGS and name != UNSAFE:
            text = f"{count(many, 'trial')} flagged {name}: {INTEGRITY_FLAGS[name]} Scores are as they were measured."
            yield Notice("warn", text, query=f"flag={name}", kind="Flagged", short=f"{many:,} {name}")
    if late := flags.get("late_guard"):
        text = f"{count(late, 'late guard')}: a guard failed after the agent had acted, so that what it did may be why."
        yield Notice("warn", text, query="flag=late_guard", kind="Flagged", short=count(late, "late guard"))
    rest = {name: many for name, many in flags.items() if name not in INTEGRITY_FLAGS and name != "late_guard"}
    if rest:
        words = listed([f"{many:,} {name}" for name, many in rest.items()], 6, "kinds")
        yield Notice("info", f"Other flags: {words}.", anchor="#failures", kind="Flagged", short=words)


def _versions(cells: Sequence[CellFacts]) -> Iterator[Notice]:
    """One agent in two versions is two agents under one name."""
    versions: dict[str, set[str]] = defaultdict(set)
    for cell in cells:
        versions[dict(cell.axes).get("agent", "")].add(cell.agent_version)
    for agent, seen in versions.items():
        if len(seen) > 1:
            words = listed(sorted(version or "unknown" for version in seen), 5)
            text = f"Mixed versions of {agent or 'the agent'}: {words}."
            yield Notice("warn", text, anchor="?split=version#leaderboard", link="show them")


def _changed(loaded: Loaded) -> Iterator[Notice]:
    before = loaded.before
    if before is None:
        return
    said = f" ({listed(list(before.parts), 6)})" if before.parts else ""
    text = f"The definition changed since run {before.label}{said}: figures before and after are not comparable."
    kind, short = "Not as before", f"the definition changed since run {before.label}"
    yield Notice("warn", text, anchor="#provenance", link="hashes", kind=kind, short=short)
    if before.changed:
        names = listed([name for _, name in before.changed], 4, "scenarios")
        one = len(before.changed) == 1
        anchor = f"s/{before.changed[0][0]}/#source" if one else "#matrix"
        text = f"{names} read{'s' if one else ''} otherwise than in run {before.label}."
        yield Notice("info", text, anchor=anchor, kind=kind, short=f"{count(len(before.changed), 'scenario')} with it")
    for words, names in (("New", [name for _, name in before.new]), ("No longer here", list(before.gone))):
        if names:
            text = f"{words} since run {before.label}: {listed(names, 4, 'scenarios')}."
            short = f"{count(len(names), 'scenario')} {words.lower()}"
            yield Notice("info", text, anchor="#matrix", kind=kind, short=short)


def _far(far: Mapping[str, int]) -> Iterator[Notice]:
    if many := far.get("seconds"):
        text = f"Outlying durations: {count(many, 'trial')} took far longer than the others of the scenario."
        yield Notice("info", text, query="far=seconds", kind="Flagged", short=count(many, "outlying duration"))


def _thin(loaded: Loaded, table: Board | None) -> Iterator[Notice]:
    if table is None or not table.places:
        return
    thin = [place for place in table.places if 0 < place.n < FEW_TRIALS]
    if thin:
        short = f"{count(len(thin), 'cell has', 'cells have')} under {FEW_TRIALS} counted trials"
        text = f"Few trials: {short} (fewest {min(p.n for p in thin)})."
        yield Notice("warn", text, anchor="#leaderboard", kind="Thin evidence", short=short)
    empty = [place.cell.title for place in table.places if not place.n]
    if empty:
        text = f"{listed(empty)} {'has' if len(empty) == 1 else 'have'} no counted trial."
        short = f"{count(len(empty), 'cell has', 'cells have')} none"
        yield Notice("warn", text, anchor="#leaderboard", kind="Thin evidence", short=short)
    clusters = max((place.clusters for place in table.places), default=0)
    if clusters < FEWEST_CLUSTERS and any(place.n for place in table.places):
        many, unit = len({slot.scenario for slot in loaded.slots}), "scenario"
        if many == 1 and clusters > 1:  # then its cases are what is pooled over
            many, unit = clusters, "case"
        text = f"Too few {unit}s ({many}) for an interval of the pooled figure or a rank."
        short = f"{count(many, f'{unit} is', f'{unit}s are')} too few for an interval"
        yield Notice("info", text, anchor="#matrix", kind="Thin evidence", short=short)


def _bounds(loaded: Loaded) -> Iterator[Notice]:
    if loaded.run.isolation == "none":
        text = "Isolation: none. Nothing but manners kept the agents from the bench's fixtures."
        yield Notice("info", text, anchor="#provenance", link="provenance")
