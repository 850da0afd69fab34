"""Steps of transcripts as HTML, built in Python: hundreds of them make a page. All they say is hostile, numbers too."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from django.utils.safestring import SafeString

from benchsite.readings.compare.talk import Beside
from benchsite.readings.steptext import Argument, Shown
from benchsite.readings.words import count

from .marks import pills, stretches


def items(steps: Iterable[Shown], place: str, *, many: bool) -> SafeString:
    """Write a list of steps. `place`: the address of the whole list where this is a part; `many`: several requests."""
    return SafeString(
        "\n".join(f'<li {_kind(one)} id="{escape(one.anchor)}">{_step(one, place, many)}</li>' for one in steps)
    )


def beside(rows: Iterable[Beside], shown: str, places: tuple[str, str]) -> SafeString:
    """Write rows of two steps each; `shown` is the page without folds, `places` are those of both transcripts."""
    return SafeString("\n".join(_row(row, shown, places) for row in rows))


def _row(row: Beside, shown: str, places: tuple[str, str]) -> str:
    mark = '<div class="talk-mark" id="divergence" role="row"><div role="cell">First divergence</div></div>'
    before = mark if row.begins else ""
    if row.fold:
        where = " at the beginning" if row.first else ""
        link = f'<a href="{escape(shown)}">{count(row.fold, "step")} alike{where}</a>'
        return f'{before}<div class="talk-row talk-fold" role="row"><div role="cell">{link}</div></div>'
    cells = "".join(_cell(one, place) for one, place in zip((row.a, row.b), places, strict=True))
    return f'{before}<div class="talk-row is-{row.kind}" role="row">{cells}</div>'


def _cell(one: Shown | None, place: str) -> str:
    if one is None:
        return '<div class="talk-cell none" role="cell"></div>'
    return f'<div class="talk-cell" role="cell"><div {_kind(one)}>{_step(one, place, True)}</div></div>'


def _kind(one: Shown) -> str:
    return f'class="step role-{escape(one.step.role)} kind-{escape(one.step.kind)}"'


def _step(one: Shown, place: str, many: bool) -> str:
    text = _text(one)
    if one.folded:
        peek = f'<bdi class="peek">{pills(one.peek)}</bdi> <span class="muted">{one.folded}</span>'
        text = f"<details{' open' if one.found else ''}><summary>{peek}</summary>{text}</details>"
    body = f"{_arguments(one.arguments)}{text}{_left_out(one)}"
    return f'<div class="step-head">{_head(one, place, many)}</div><div class="step-body">{body}</div>'


def _head(one: Shown, place: str, many: bool) -> str:
    number = escape(f"{one.request}.{one.step.n}" if many else str(one.step.n))
    href, title = (f"{place}at={one.at}", ' title="Show in its place"') if place else ("", "")
    failed = f'<span class="tag warn">exit {one.step.exit_code}</span>' if one.failed else ""
    usage = f'<span class="muted">{escape(one.usage)}</span>' if one.usage else ""
    to = escape(f"{href}#{one.anchor}")
    link = f'<a class="step-n" href="{to}"{title}>{number}</a>'
    return f'{link} <span class="step-role">{_role(one)}</span> {failed}{usage}'


def _role(one: Shown) -> str:
    if one.step.kind == "tool_call":
        return pills(one.tool)
    return {"observation": "result", "reasoning": "reasoning"}.get(one.step.kind) or escape(one.step.role)


def _arguments(given: Iterable[Argument]) -> str:
    written = "".join(_argument(one) for one in given)
    return f'<dl class="call">{written}</dl>' if written else ""


def _argument(one: Argument) -> str:
    name = f"<dt>{pills(one.label)}</dt>" if one.name else ""
    box = '<div class="long">' if one.long else "<div>"
    return f"{box}{name}<dd>{stretches(one.value)}</dd></div>"


def _text(one: Shown) -> str:
    if not one.text:
        return ""
    name, css = ("pre", "plain-text") if one.block else ("div", "said")
    return f'<{name} class="{css}">{stretches(one.text)}</{name}>'


def _left_out(one: Shown) -> str:
    said = []
    if one.cut:
        said.append(f"Cut here: the whole text has {one.cut:,} characters; download the steps to read it.")
    if one.dropped:
        said.append(f"{count(one.dropped, 'terminal escape')} left out.")
    return "".join(f'<p class="muted small">{sentence}</p>' for sentence in said)
