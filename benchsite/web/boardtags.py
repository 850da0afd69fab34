"""The words of a leaderboard's rows. Built in; a row's numbers are made at once, as tables have dozens of rows."""

from __future__ import annotations

from html import escape

from django import template
from django.utils.safestring import SafeString

from benchsite.readings import words
from benchsite.readings.counts import DEFAULT_POLICY
from benchsite.readings.leaderboard import Board, Place
from benchsite.readings.matrix import Matrix, Square
from benchsite.readings.question import Question

from . import formats, links, matrix

register = template.Library()
NOTHING = f'<span class="none">{words.NONE}</span>'


@register.simple_tag
def counted_url(ulid: str, board: Board, place: Place) -> str:
    """The trials that a row's n counts; empty where no list is just these."""
    measure = board.measure
    if measure.headline:
        return links.trials(ulid, cell=place.cell.key10, counted=board.counted)
    return _observed(ulid, board, place) if board.counted == DEFAULT_POLICY else ""


def _observed(ulid: str, board: Board, place: Place) -> str:
    return links.trials(ulid, cell=place.cell.key10, measure=board.measure.key, seen="observed")


def _link(href: str, shown: str, **more: str) -> str:
    said = "".join(f' {name.rstrip("_")}="{escape(value)}"' for name, value in more.items() if value)
    return f'<a href="{escape(href)}"{said}>{shown}</a>' if href else shown


@register.simple_tag
def place_counted(ulid: str, board: Board, place: Place) -> SafeString:
    """`k/n` of a rate, n of any other measure."""
    if not place.n:
        return SafeString(NOTHING)
    shown = words.ratio(place.k, place.n) if board.measure.rate else f"{place.n:,}"
    few = ' <span class="tag warn">few</span>' if "few trials" in place.few else ""
    return SafeString(_link(counted_url(ulid, board, place), shown) + few)


@register.simple_tag
def place_coverage(ulid: str, board: Board, place: Place) -> SafeString:
    """How many counted of those planned: as numbers where there are errors, else as a share."""
    planned = _link(links.trials(ulid, cell=place.cell.key10), f"{place.planned:,}", title="planned")
    partial = ' <span class="tag warn">partial</span>' if place.partial else ""
    if board.partial and place.three:
        n = place.three["n"]
        scored = _link(_observed(ulid, board, place), f"{n:,}", title="scored") if n else "0"
        return SafeString(f"{scored}/{planned}{partial}")
    share = words.percent(place.n / place.planned) if place.planned else words.NONE
    return SafeString(f"{escape(share)} of {planned}{partial}")


@register.simple_tag
def place_taken(ulid: str, place: Place, name: str) -> SafeString:
    """What a trial took on average, and of how many where not all scored ones tell it."""
    counts = place.counts
    mean, known = (counts.mean_cost, counts.cost_n) if name == "cost" else (counts.mean_seconds, counts.seconds_n)
    shown = escape(formats.TAKEN[name](mean))
    if not known or known >= counts.scored:
        return SafeString(shown)
    href, said = links.trials(ulid, cell=place.cell.key10, known=name), f"{known:,} of {counts.scored:,} scored trials"
    return SafeString(f"{shown} {_link(href, f'n={known:,}', class_='fine muted', title=said + ' tell it')}")


@register.simple_tag
def place_left_out(ulid: str, place: Place) -> SafeString:
    counts, key10, made = place.counts, place.cell.key10, []
    if counts.errors:
        href, said = links.trials(ulid, state="run_error,eval_error", cell=key10), words.count(counts.errors, "error")
        made.append(_link(href, f"{counts.errors:,}&nbsp;!", class_="tone-run_error toned", title=said))
    if counts.excluded:
        href, said = links.trials(ulid, state="excluded", cell=key10), f"{counts.excluded:,} excluded"
        made.append(_link(href, f"{counts.excluded:,}&nbsp;⊘", class_="muted", title=said))
    return SafeString(" ".join(made) or NOTHING)


@register.simple_tag
def square_link(square: Square | None, key10: str, slug: str, of: Matrix, asked: Question) -> SafeString:
    """What a square of the matrix shows, where a panel repeats it."""
    if square is None:
        return SafeString(words.NONE)
    before, after = matrix.rest_of(slug, None, of, asked)[0 if square.n else 1]
    return SafeString(f'<a href="{before}{key10}{after}">{escape(square.text)}</a>')
