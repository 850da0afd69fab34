"""The words of a leaderboard's rows. Built in; a row's numbers are made at once, as tables have dozens of rows."""

from __future__ import annotations

from html import escape

from django import template
from django.utils.safestring import SafeString

from benchsite.readings import words
from benchsite.readings.counts import DEFAULT_POLICY
from benchsite.readings.leaderboard import Board, Place

from . import formats, links, marks

register = template.Library()
NOTHING = f'<span class="none">{words.NONE}</span>'


@register.simple_tag
def counted_url(ulid: str, board: Board, place: Place) -> str:
    """The trials that a row's n counts; empty where no list is just these."""
    measure = board.measure
    if measure.headline:
        return links.trials(ulid, cell=place.cell.key10, counted=board.counted)
    return _observed(ulid, board, place) if board.counted == DEFAULT_POLICY else ""


@register.simple_tag
def board_row(board: Board, place: Place, ulid: str | None, split: str) -> SafeString:
    """A whole row, as a template takes three times as long. Without `ulid` each place names its own run."""
    of, cell, taken = ulid or place.run, place.cell, ("cost", "seconds")
    row = [f'<td class="num tight">{words.ranks(place.rank_lo, place.rank_hi)}</td>'] if board.ranked else []
    href = escape(links.address("run_cell", of, cell.key10))
    row.append(f'<th scope="row" class="subject"><a href="{href}">{formats.axes(cell)}</a></th>')
    if split:
        row.append(f"<td>{escape(cell.agent_version or 'unknown')}</td>")
    rate, interval = f"rate{' none' if place.macro is None else ''}", escape(board.bounds(place))
    figure = escape(board.figure(place))
    row.append(f'<td class="num"><span class="{rate}">{figure}</span> <span class="interval">{interval}</span></td>')
    if board.partial:
        row.append(f'<td class="num other">{escape(board.other(place))}</td>')
    row.append(f'<td class="plot">{_whisker(board, place)}</td><td class="num kn">{_counted(of, board, place)}</td>')
    row.append(f'<td class="num of">{_coverage(of, board, place)}</td>')
    row += [f'<td class="num">{_taken(of, place, name)}</td>' for name in taken]
    row.append(f'<td class="num">{_left_out(of, place)}</td>')
    if not ulid and not board.one_run:
        run = escape(links.address("run", place.run))
        row.append(f'<td class="nowrap"><a href="{run}">Run {place.label}</a></td>')
    return SafeString(f"<tr>{''.join(row)}</tr>\n")


def _whisker(board: Board, place: Place) -> SafeString:
    kind = board.measure.type
    interval = words.bounds(place.lo, place.hi, rate=board.measure.rate)
    name = f"{place.cell.title} {words.figure(place.macro, kind)} {interval}".strip()
    return marks.whisker(place.macro, place.lo, place.hi, board.scale, hollow=place.n < 10, name=name)


def _observed(ulid: str, board: Board, place: Place) -> str:
    return links.trials(ulid, cell=place.cell.key10, measure=board.measure.key, seen="observed")


def _link(href: str, shown: str, **more: str) -> str:
    said = "".join(f' {name.rstrip("_")}="{escape(value)}"' for name, value in more.items() if value)
    return f'<a href="{escape(href)}"{said}>{shown}</a>' if href else shown


def _counted(ulid: str, board: Board, place: Place) -> SafeString:
    """`k/n` of a rate, n of any other measure."""
    if not place.n:
        return SafeString(NOTHING)
    shown = words.ratio(place.k, place.n) if board.measure.rate else f"{place.n:,}"
    few = ' <span class="tag warn">few</span>' if "few trials" in place.few else ""
    return SafeString(_link(counted_url(ulid, board, place), shown) + few)


def _coverage(ulid: str, board: Board, place: Place) -> SafeString:
    """How many counted of those planned: as numbers where there are errors, else as a share."""
    planned = _link(links.trials(ulid, cell=place.cell.key10), f"{place.planned:,}", title="planned")
    partial = ' <span class="tag warn">partial</span>' if place.partial else ""
    if board.partial and place.three:
        n = place.three["n"]
        scored = _link(_observed(ulid, board, place), f"{n:,}", title="scored") if n else "0"
        return SafeString(f"{scored}/{planned}{partial}")
    share = words.percent(place.n / place.planned) if place.planned else words.NONE
    return SafeString(f"{escape(share)} of {planned}{partial}")


def _taken(ulid: str, place: Place, name: str) -> SafeString:
    """What a trial took on average, and of how many where not all scored ones tell it."""
    counts = place.counts
    mean, known = (counts.mean_cost, counts.cost_n) if name == "cost" else (counts.mean_seconds, counts.seconds_n)
    shown = escape(formats.TAKEN[name](mean))
    if not known or known >= counts.scored:
        return SafeString(shown)
    href, said = links.trials(ulid, cell=place.cell.key10, known=name), f"{known:,} of {counts.scored:,} scored trials"
    return SafeString(f"{shown} {_link(href, f'n={known:,}', class_='fine muted', title=said + ' tell it')}")


def _left_out(ulid: str, place: Place) -> SafeString:
    counts, key10, made = place.counts, place.cell.key10, []
    if counts.errors:
        href, said = links.trials(ulid, state="run_error,eval_error", cell=key10), words.count(counts.errors, "error")
        made.append(_link(href, f"{counts.errors:,}&nbsp;!", class_="tone-run_error toned", title=said))
    if counts.excluded:
        href, said = links.trials(ulid, state="excluded", cell=key10), f"{counts.excluded:,} excluded"
        made.append(_link(href, f"{counts.excluded:,}&nbsp;⊘", class_="muted", title=said))
    return SafeString(" ".join(made) or NOTHING)
