"""Rows of lists of trials. Built in; a page has two hundred, and a template takes three times as long to write them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from html import escape

from django import template
from django.utils.safestring import SafeString

from benchsite.readings.compare.pooled import PooledRow
from benchsite.readings.subjects import CellFacts
from benchsite.readings.trials import TrialRow, TrialsPage
from benchsite.readings.words import NONE, cost, duration, whole

from . import formats, links, marks

register = template.Library()


@register.simple_tag
def trial_rows(page: TrialsPage, integrity: Collection[str]) -> SafeString:
    """The trials of a run: a box to tick, result, scenario, cell, what it took and changed, and remarks."""
    return SafeString("".join(_trial_rows(page, integrity)))


def _trial_rows(page: TrialsPage, integrity: Collection[str]) -> Iterator[str]:
    ulid, query, headline = escape(page.run.ulid), page.filters.query(), page.headline
    further = escape(f"?{query}&" if page.filters.any else "?")
    valued = headline is not None and not headline.rate
    for row in page.rows:
        index, fault = f"{row.index:d}", ""
        if row.fault:
            code, why = escape(row.fault), escape(formats.plainly(row.reason))
            fault = f' <a class="muted" href="{further}fault={code}" title="{why}">{code}</a>'
        yield (
            f'<tr>\n<td class="tight"><input type="checkbox" name="of" value="trial:{ulid}/{index}" '
            f'aria-label="Tick trial {index} to compare it"></td>\n'
            f'<th scope="row" class="num tight"><a href="t/{index}/">{index}</a></th>\n'
            f'<td class="nowrap"><a class="plain" href="t/{index}/">{marks.chip(row.status)}</a>{fault}</td>\n'
            f"{_value(row) if valued else ''}\n"
            f'<td><a class="plain" href="s/{escape(row.slug)}/">{escape(row.scenario)}</a>{_case(row.case)}</td>\n'
            f"{_cell(row.cell)}\n{_taken(row)}\n{_changed(row, index)}\n"
            f'<td class="remarks">{_remarks(row, index, integrity)}</td>\n</tr>'
        )


def _value(row: TrialRow) -> str:
    return f'<td class="num">{escape(row.headline)}</td>'


def _case(case: str) -> str:
    return f' <span class="muted">{formats.foreign(case)}</span>' if case else ""


@lru_cache(maxsize=1024)
def _cell(cell: CellFacts) -> str:
    return f'<td class="nowrap"><a class="plain" href="c/{escape(cell.key10)}/">{formats.axes(cell)}</a></td>'


def _taken(row: TrialRow | PooledRow) -> str:
    """Number, time, cost and tokens: of what these write nothing needs escaping."""
    return (
        f'<td class="num">{row.number:d}</td><td class="num">{duration(row.seconds)}</td>'
        f'<td class="num">{cost(row.cost)}</td><td class="num">{whole(row.tokens)}</td>'
    )


def _changed(row: TrialRow, index: str) -> str:
    files, lines = NONE if row.files is None else "0", NONE
    if row.files:
        files = f'<a href="t/{index}/changes/">{row.files:d}</a>'
    if row.lines_added is not None:
        added, deleted = whole(row.lines_added), whole(row.lines_deleted)
        lines = f'<span class="ins">+{added}</span> <span class="del">−{deleted}</span>'
    return f'<td class="num">{files}</td>\n<td class="num nowrap">{lines}</td>'


def _remarks(row: TrialRow, index: str, integrity: Collection[str]) -> str:
    said = [f'<span class="tag">{row.attempts:d} attempts</span> '] if row.attempts > 1 else []
    for flag in row.flags:
        name = escape(flag)
        said.append(f'<a class="tag{" warn" * (flag in integrity)}" href="?flag={name}">{name}</a> ')
    if row.kept:
        said.append(f'<a class="tag" href="t/{index}/workspace/">workspace kept</a>')
    if row.reason and not row.fault:
        why = escape(formats.plainly(row.reason))
        said.append(f'<span class="muted" title="{why}">{formats.foreign(row.reason, 60)}</span>')
    return "".join(said)


@register.simple_tag
def pooled_rows(rows: Iterable[PooledRow]) -> SafeString:
    """Trials of several runs: each names its own."""
    return SafeString("".join(map(_pooled_row, rows)))


def _pooled_row(row: PooledRow) -> str:
    run, index, fault = escape(links.run(row.ulid)), f"{row.index:d}", ""
    if row.fault:
        fault = f' <span class="muted" title="{escape(formats.plainly(row.reason))}">{escape(row.fault)}</span>'
    return (
        f'<tr>\n<td class="nowrap"><a href="{run}">Run {row.label:d}</a></td>\n'
        f'<th scope="row" class="num tight"><a href="{run}t/{index}/">{index}</a></th>\n'
        f'<td class="nowrap"><a class="plain" href="{run}t/{index}/">{marks.chip(row.status)}</a>{fault}</td>\n'
        f'<td><a class="plain" href="{run}s/{escape(row.slug)}/">{escape(row.scenario)}</a>{_case(row.case)}</td>\n'
        f'<td class="wide"><a class="plain" href="{run}c/{escape(row.key10)}/">{escape(row.cell)}</a></td>\n'
        f"{_taken(row)}\n</tr>"
    )
