"""Markdown for a pull request: a run's table, or a comparison with its verdict, its cells and the cases that moved."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from runner.statistics.between import Between
from runner.statistics.paired import Paired
from runner.statistics.pairing import WHY, Pair
from runner.statistics.telling import signed, span

from .figures import number

NONE = "\N{EN DASH}"
MOST = 50
"""Cases that a summary lists; the rest are counted."""
_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~&@$])")


def text(value: object) -> str:
    """Write any text so that it is nothing but text: no markup, no table cell's end, no mention of anybody."""
    one_line = " ".join(str(value).split())
    plain = "".join(char if char.isprintable() else f"U+{ord(char):04X}" for char in one_line)
    return _SPECIAL.sub(lambda found: f"&#{ord(found[0])};" if found[0] in "<>&@|#" else f"\\{found[0]}", plain)


def table(head: Sequence[str], rows: Iterable[Sequence[str]], right: int) -> list[str]:
    """Write a table; columns from `right` on hold numbers. Cells are Markdown already."""
    marks = ["---" if place < right else "---:" for place in range(len(head))]
    return [_row(head), _row(marks), *(_row(row) for row in rows)]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def of_run(made: dict[str, Any], figures: Iterable[tuple[dict[str, Any], Sequence[str]]], notes: Iterable[str]) -> str:
    """Write a run: `figures` gives, for each cell of a summary, its texts by measure; `notes` stand below."""
    head = ["cell", *(text(measure["label"] or measure["key"]) for measure in made["measures"]), "scored"]
    rows = [
        [text(cell["cell"]), *map(text, texts), f"{cell['states'].get('scored', 0)}/{cell['planned']}"]
        for cell, texts in figures
    ]
    title = f"### {text(made['bench'])} {text(made['version'])}: run `{made['run']}`"
    counts = ", ".join(f"{many:,} {text(state)}" for state, many in made["counts"].items())
    lines = [title, "", f"{made['planned']:,} trials: {counts}", "", *table(head, rows, 1), ""]
    return "\n".join([*lines, *(f"- {text(note)}" for note in notes), ""])


def of_comparison(
    title: str, passed: bool | None, sentences: Iterable[str], found: Between, runs: tuple[str, str]
) -> str:
    """Write a comparison of two runs; `sentences` come first, each a checked rule or what was found."""
    lines = [f"### {'✅' if passed else '❌'} {text(title)}", "", *(f"- {text(one)}" for one in sentences), ""]
    lines += _cells(found)
    lines += [f"> ⚠️ {text(warning)}" for warning in found.warnings] + [""] * bool(found.warnings)
    lines += _moved(found)
    lines.append(f"<sub>baseline `{runs[0]}`, run `{runs[1]}`, policy {text(found.policy)}</sub>")
    return "\n".join([*lines, ""])


def _cells(found: Between) -> list[str]:
    rate, objective = found.measure.type == "bool", found.measure.objective
    names = ("better", "worse") if objective else ("higher", "lower")
    head = ["cell", "baseline", "now", "difference", *names, "same", "not comparable", "verdict"]
    rows = [_made(cell, made, rate) for cell, made in found.made_by_cell.items()]
    if len(rows) > 1:
        rows.append(_made("all", found.made, rate))
    return [f"**{text(found.measure.label or found.measure.key)}**", "", *table(head, rows, 1), ""]


def _made(cell: str, made: Paired, rate: bool) -> list[str]:
    if made.difference is None:
        return [text(cell), NONE, NONE, NONE, "0", "0", "0", str(made.apart), "nothing in common"]
    size = f"{signed(made.difference, rate=rate).removesuffix(' points')} {span(made.lo, made.hi, rate=rate)}".strip()
    counts = [str(made.wins), str(made.losses), str(made.ties), str(made.apart)]
    told = made.words or f"**{made.verdict}**"
    return [text(cell), figure(made.base, rate), figure(made.other, rate), size.replace("[", "\\["), *counts, told]


def figure(value: float | None, rate: bool) -> str:
    if value is None:
        return NONE
    return f"{value * 100:.0f} %" if rate else number(value)


def _moved(found: Between) -> list[str]:
    """List the cases that differ, the largest change first, and count what could not be compared by its reason."""
    rate = found.measure.type == "bool"
    moved = [(pair, pair.other.figure - pair.base.figure) for pair in found.pairs
             if pair.comparable and pair.base and pair.other and pair.base.figure != pair.other.figure]  # fmt: skip
    moved.sort(key=lambda row: -abs(row[1]))
    rows = [_case(pair, change, rate) for pair, change in moved[:MOST]]
    if not rows and not any(pair.why for pair in found.pairs):
        return []
    lines = [f"<details><summary>{len(moved)} {'case differs' if len(moved) == 1 else 'cases differ'}</summary>", ""]
    lines += table(["case", "baseline", "now", "change"], rows, 1) if rows else []
    left = [f"{len(moved) - MOST} more differ"] if len(moved) > MOST else []
    reasons = {why: sum(pair.why == why for pair in found.pairs) for why in WHY}
    left += [f"{many} not comparable: {WHY[why]}" for why, many in reasons.items() if many]
    return [*lines, "", *(f"- {one}" for one in left), "", "</details>", ""]


def _case(pair: Pair, change: float, rate: bool) -> list[str]:
    name = f"{pair.scenario}[{pair.case}]" if pair.case else pair.scenario
    ends = [figure(side.figure if side else None, rate) for side in (pair.base, pair.other)]
    return [text(name), *ends, signed(change, rate=rate).removesuffix(" points")]
