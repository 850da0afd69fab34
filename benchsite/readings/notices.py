"""What a reader must know before believing a run: sentences, each with the rows it means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from runner.faults import FAULTS, INTEGRITY_FLAGS
from runner.statistics.words import FEW_TRIALS, FEWEST_CLUSTERS

from .counts import ERRORS
from .leaderboard import Board
from .loaded import Loaded
from .words import STATE_WORDS, count, listed


@dataclass(frozen=True)
class Notice:
    """`query` filters the run's trials; `anchor` is an address on the page or below the run, where no filter fits."""

    level: Literal["info", "warn", "danger"]
    text: str
    query: str = ""
    anchor: str = ""
    link: str = "show"


VERDICTS = {
    "submitted": "This run waits for a curator: until it is accepted, it counts on no leaderboard.",
    "rejected": "A curator rejected this run: it counts on no leaderboard.",
    "withdrawn": "This run was withdrawn: it counts on no leaderboard.",
}


def notices(loaded: Loaded, table: Board | None, reason: str, flags: Mapping[str, int]) -> list[Notice]:
    found = [*_verdict(loaded, reason), *_stopped(loaded), *_left_out(loaded), *_flagged(flags)]
    found += [*_thin(loaded, table), *_bounds(loaded)]
    return sorted(found, key=lambda notice: ("danger", "warn", "info").index(notice.level))


def _verdict(loaded: Loaded, reason: str) -> Iterator[Notice]:
    run = loaded.run
    if run.verdict in VERDICTS:
        level: Literal["warn", "danger"] = "warn" if run.verdict == "submitted" else "danger"
        yield Notice(level, " ".join(filter(None, (VERDICTS[run.verdict], f"Reason: {reason}" if reason else ""))))
    if run.state == "interrupted":
        yield Notice("warn", "The run was interrupted before all its trials ended; it can be resumed.")
    elif run.state == "cancelled":
        yield Notice("warn", "The run was cancelled before all its trials ended.")


def _stopped(loaded: Loaded) -> Iterator[Notice]:
    for cell in loaded.cells:
        if cell.stopped:
            yield Notice("warn", f"{cell.title} was stopped: {cell.stopped}", anchor=f"c/{cell.key10}/", link="cell")


def _left_out(loaded: Loaded) -> Iterator[Notice]:
    counts = loaded.total
    if counts.errors:
        faults = [f"{many} {code}" for code, many in counts.faults.most_common()]
        who = sorted({FAULTS[code].door for code in counts.faults if code in FAULTS})
        where = f" ({listed(faults, 6, 'kinds')}; at the door of the {listed(who, 4)})" if faults else ""
        text = f"{count(counts.errors, 'trial')} ended in an error{where}. Errors are not failures of the subject."
        yield Notice("warn", text, query=f"state={','.join(ERRORS)}")
    if counts.excluded:
        text = f"{count(counts.excluded, 'trial was', 'trials were')} excluded by a guard: the scenario did not hold."
        yield Notice("warn", text, query="state=excluded")
    unrun = [state for state in ("not_run", "skipped", "cancelled", "withdrawn") if counts.states[state]]
    if unrun:
        words = listed([f"{counts.states[state]:,} {STATE_WORDS[state]}" for state in unrun], 4)
        text = f"{count(sum(counts.states[state] for state in unrun), 'trial')} without a result: {words}."
        yield Notice("info", text, query=f"state={','.join(unrun)}")
    if live := counts.states["running"] + counts.states["queued"]:
        yield Notice("info", f"{count(live, 'trial')} still to come.", query="state=queued,running")


def _flagged(flags: Mapping[str, int]) -> Iterator[Notice]:
    for name, many in flags.items():
        text = f"{count(many, 'trial')} flagged {name}: {INTEGRITY_FLAGS[name]} Scores are as they were measured."
        yield Notice("warn", text, query=f"flag={name}")


def _thin(loaded: Loaded, table: Board | None) -> Iterator[Notice]:
    if table is None or not table.places:
        return
    thin = [place for place in table.places if 0 < place.n < FEW_TRIALS]
    if thin:
        text = f"Few trials: {count(len(thin), 'cell has', 'cells have')} under {FEW_TRIALS} counted trials"
        yield Notice("warn", f"{text} (fewest {min(p.n for p in thin)}).", anchor="#leaderboard")
    empty = [place.cell.title for place in table.places if not place.n]
    if empty:
        text = f"{listed(empty)} {'has' if len(empty) == 1 else 'have'} no counted trial."
        yield Notice("warn", text, anchor="#leaderboard")
    clusters = max((place.clusters for place in table.places), default=0)
    if clusters < FEWEST_CLUSTERS and any(place.n for place in table.places):
        text = f"Too few scenarios ({len(loaded.scenarios)}) for an interval of the pooled figure or a rank."
        yield Notice("info", text, anchor="#matrix")


def _bounds(loaded: Loaded) -> Iterator[Notice]:
    if loaded.run.isolation == "none":
        text = "Isolation: none. Nothing but manners kept the agents from the bench's fixtures."
        yield Notice("info", text, anchor="#provenance", link="provenance")
