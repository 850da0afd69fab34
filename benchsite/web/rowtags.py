"""Rows of a run's tables, all of a table at once: a page has hundreds, and a template takes longer. Built in."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from html import escape

from django import template
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from benchsite.readings import words
from benchsite.readings.bench import BenchPage
from benchsite.readings.breakdown import Breakdown
from benchsite.readings.breakdown import Panel as Scenario
from benchsite.readings.cell import CellPage, ScenarioLine
from benchsite.readings.counts import DEFAULT_POLICY
from benchsite.readings.distributions import Panel
from benchsite.readings.frontier import Frontier
from benchsite.readings.leaderboard import MeasureFacts
from benchsite.readings.matrix import Matrix
from benchsite.readings.question import Question
from benchsite.readings.scenario import CellLine, ScenarioPage
from benchsite.readings.trials import query_of
from benchsite.readings.words import NONE, bounds

from . import boxes, formats, links, matrix, tags

register = template.Library()


@register.simple_tag
def panels(parts: Breakdown, of: Matrix, asked: Question) -> SafeString:
    """Each scenario's cells: name, whisker, and what the square of the matrix shows with its link."""
    made = [_panel(panel, parts.scale, matrix.rest_of(panel.slug, None, of, asked)) for panel in parts.panels]
    return SafeString("".join(made))


def _panel(panel: Scenario, scale: tuple[float, float], rest: matrix.Rest) -> str:
    name, slug, said = escape(panel.name), escape(panel.slug), ""
    if panel.sure:
        said = '<b class="lost-mark">the leader loses here</b> · '
    elif panel.lost:
        said = "<b>the leader is behind here</b>, which may be chance · "
    return (
        f'<article class="panel{" lost" * panel.lost}{" sure" * panel.sure}">'
        f'<h3><a href="s/{slug}/" title="{name}">{name}</a></h3><p class="fine muted">{said}{escape(panel.words)}</p>\n'
        f'<table><caption class="visually-hidden">{name}</caption><tbody>{"".join(_panel_rows(panel, scale, rest))}'
        "</tbody></table></article>"
    )


def _panel_rows(panel: Scenario, scale: tuple[float, float], rest: matrix.Rest) -> Iterator[str]:
    for line in panel.lines:
        square, title = line.square, line.cell.title
        shown = NONE
        if square:
            before, after = rest.counted if square.n else rest.planned
            shown = f'<a href="{before}{line.cell.key10}{after}">{escape(square.text)}</a>'
        drawn = tags.line_whisker(line, scale, title, line.best)
        yield f'{_head(title)}<td>{drawn}</td><td class="num">{shown}</td></tr>'


@register.simple_tag
def box_rows(ulid: str, panel: Panel) -> SafeString:
    """A quantity's cells: name, box, median, and how many values it is of."""
    return SafeString("".join(_box_rows(ulid, panel)))


def _box_rows(ulid: str, panel: Panel) -> Iterator[str]:
    base, rest = escape(links.trials(ulid)), escape(f"&{query_of(panel.filters)}")
    for line in panel.boxes:
        of, title = line.figures, line.cell.title
        drawn = boxes.box(of, panel.scale, boxes.box_name(line, panel))
        href = f"{base}?cell={line.cell.key10}{rest}"
        yield (
            f'{_head(title)}<td>{drawn}</td><td class="num">{escape(formats.quantity(of.median, panel.kind))}</td>'
            f'<td class="num few"><a href="{href}" title="trials with a value">{of.n:,}</a></td></tr>'
        )


@register.simple_tag
def frontier_rows(front: Frontier, measure: MeasureFacts) -> SafeString:
    """A frontier's cells: name, what each takes and gives with the intervals, and where that places it."""
    return SafeString("".join(_frontier_rows(front, measure.type)))


def _frontier_rows(front: Frontier, kind: str) -> Iterator[str]:
    for spot in front.spots:
        taken, given = formats.quantity(spot.x, front.x), formats.figure(spot.y, kind)
        around, of_given = (
            formats.span(spot.x_lo, spot.x_hi, front.x),
            bounds(spot.y_lo, spot.y_hi, rate=kind == "bool"),
        )
        by, more = ", ".join(spot.by[:2]), len(spot.by) - 2
        beaten = f' <span class="muted">by {escape(by)}{f" and {more} more" if more > 0 else ""}</span>' if by else ""
        yield (
            f'<tr><th scope="row" class="nowrap"><a href="c/{spot.cell.key10}/">{formats.axes(spot.cell)}</a></th>'
            f'<td class="num">{escape(taken)} <span class="interval">{escape(around)}</span></td>'
            f'<td class="num"><span class="rate">{escape(given)}</span> <span class="interval">{of_given}</span></td>'
            f'<td class="wide">{spot.told}{beaten}</td></tr>'
        )


@register.simple_tag
def tried_cells(page: CellPage | ScenarioPage, line: ScenarioLine | CellLine, title: str, **of: str) -> SafeString:
    """What the trials `of` a cell on a scenario gave: figure, whisker, k/n (or n) and each trial as a mark."""
    measure, square, ulid = page.measure, line.square, page.run.ulid
    rate, kind = bool(measure and measure.rate), measure.type if measure else ""
    text = (square.text if kind == "category" else formats.figure(square.value, kind)) if square else NONE
    counted = f'<span class="none">{NONE}</span>'
    if square and square.n:
        shown = words.ratio(square.k, square.n) if rate else f"{square.n}"
        counted = f'<a href="{escape(links.trials(ulid, counted=page.policy, **of))}">{shown}</a>'
    drawn = tags.line_whisker(line, page.scale, title)
    return SafeString(
        f'<td class="num"><span class="rate">{escape(text)}</span> '
        f'<span class="interval">{bounds(line.lo, line.hi)}</span></td><td class="plot narrow">{drawn}</td>'
        f'<td class="num kn">{counted}</td><td>{tags.trial_strip(ulid, line.strip, links.trials(ulid, **of))}</td>'
    )


@register.simple_tag
def bench_scenario_rows(page: BenchPage) -> SafeString:
    """A bench's scenarios: name, what it asks, and where a run counts the rate over all its cells with k/n."""
    return SafeString("".join(_bench_scenario_rows(page)))


def _bench_scenario_rows(page: BenchPage) -> Iterator[str]:
    owner, name, latest = page.bench.owner, page.bench.name, page.latest
    for line in page.scenarios:
        href, doc = links.address("bench_scenario", owner, name, line.slug), Truncator(line.doc).chars(160)
        row = f'<tr><th scope="row" class="nowrap"><a href="{escape(href)}">{escape(line.name)}</a></th>'
        row += f'<td class="wide muted">{escape(doc) or NONE}</td>'
        if latest:
            n, shown = line.counts.n(), NONE
            if n:
                counted = links.trials(latest.ulid, scenario=line.slug, counted=DEFAULT_POLICY)
                shown = f'<a href="{escape(counted)}">{words.ratio(line.counts.k, n)}</a>'
            row += f'<td class="num">{matrix.rate_text(line.counts, DEFAULT_POLICY)}</td><td class="num">{shown}</td>'
        yield f"{row}</tr>"


@register.simple_tag
def case_rows(ulid: str, page: ScenarioPage) -> SafeString:
    """A scenario's cases: key, rate and whisker where there is one, and how many trials were scored and planned."""
    return SafeString("".join(_case_rows(ulid, page)))


def _case_rows(ulid: str, page: ScenarioPage) -> Iterator[str]:
    rate, policy = bool(page.measure and page.measure.rate), page.policy
    for line in page.cases:
        counts, of = line.counts, {"scenario": page.slug, "case": line.key}
        solved = ""
        if rate:
            drawn = tags.rate_whisker(counts, policy)
            solved = f'<td class="num">{matrix.rate_text(counts, policy)}</td><td class="plot narrow">{drawn}</td>'
        scored = _link(links.trials(ulid, state="scored", **of), counts.scored) if counts.scored else "0"
        planned = _link(links.trials(ulid, **of), counts.planned)
        name = escape(line.key or "(one case)")
        yield f'<tr><th scope="row">{name}</th>{solved}<td class="num">{scored}</td><td class="num">{planned}</td></tr>'


def _link(href: str, many: int) -> str:
    return f'<a href="{escape(href)}">{many:,}</a>'


@lru_cache(maxsize=1024)
def _head(title: str) -> str:
    """The same few cells head the rows of all panels."""
    shown = escape(title)
    return f'<tr><th scope="row" title="{shown}">{shown}</th>'
