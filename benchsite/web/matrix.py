"""The matrix as HTML. Built here and not in a template: thousands of squares cost a template 100 ms and this 30."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from html import escape
from itertools import repeat
from typing import NamedTuple
from urllib.parse import quote, quote_plus

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from benchsite.readings.counts import DEFAULT_POLICY, Counts
from benchsite.readings.matrix import Matrix, Row, Square, Unfolded
from benchsite.readings.question import Question
from benchsite.readings.trials import query_of
from benchsite.readings.words import STATE_WORDS, bounds, count, fixed, percent
from runner.statistics import rate_interval

STEPS = 7
CLASSES = tuple(f"q{step}" for step in range(STEPS))
HATCHED = "g0"


def step(value: float | None, scale: tuple[float, float] = (0.0, 1.0), *, turned: bool = False) -> str:
    """The class of a figure: q0 (worst) to q6 (best) in equal steps; nothing counted is hatched."""
    if value is None:
        return HATCHED
    low, high = scale
    share = (value - low) / (high - low) if high > low else 0.0
    at = int((1 - share if turned else share) * STEPS)
    return CLASSES[0 if at < 0 else at if at < STEPS else -1]  # by hand: a page asks thousands of times


def head(matrix: Matrix) -> SafeString:
    """Grouped axis headers; the deepest level links to the cells."""
    lines = []
    for depth, (axis, spans) in enumerate(matrix.heads):
        deepest = depth == len(matrix.heads) - 1
        groups = _cells_head(matrix, spans) if deepest else _group_head(spans)
        margin = format_html('<th rowspan="{}" scope="col">All cells</th>', len(matrix.heads)) if depth == 0 else ""
        lines.append(
            format_html('<tr><th class="axis-name" scope="row">{}</th>{}{}</tr>', axis or "cell", groups, margin)
        )
    return SafeString("".join(lines))


def _group_head(spans: tuple[tuple[str, int], ...]) -> SafeString:
    rows = ((span, value, value) for value, span in spans)
    return format_html_join("", '<th class="group" colspan="{}" scope="colgroup" title="{}">{}</th>', rows)


def _cells_head(matrix: Matrix, spans: tuple[tuple[str, int], ...]) -> SafeString:
    rows = ((cell.title, cell.key10, value) for cell, (value, _) in zip(matrix.cells, _single(spans), strict=True))
    return format_html_join("", '<th class="group" scope="col" title="{}"><a href="c/{}/">{}</a></th>', rows)


def _single(spans: tuple[tuple[str, int], ...]) -> Iterator[tuple[str, int]]:
    for value, span in spans:
        for _ in range(span):
            yield value, 1


def body(matrix: Matrix, asked: Question) -> SafeString:
    scale, turned = colour_scale(matrix), matrix.measure.objective == "minimize"
    made: list[str] = []
    for row in matrix.rows:
        opened = matrix.open if matrix.open and matrix.open.slug == row.slug else None
        made.append(_row(row, matrix, asked, scale, turned, _name(row, asked, opened)))
        if opened:
            made += [_row(case, matrix, asked, scale, turned, _case_name(case)) for case in opened.rows]
            made.append(_cases_pager(opened, matrix, asked))
    return SafeString("".join(made))


def _name(row: Row, asked: Question, opened: Unfolded | None) -> SafeString:
    """The row's head: its name, and where it has cases the link that unfolds them."""
    link = SafeString(f'<a href="s/{escape(row.slug)}/">{escape(row.name)}</a>{_versus(row)}')
    if row.cases < 2:
        return link
    query = asked.query(open="" if opened else row.slug, case=1)
    words = f"{'Close' if opened else 'Open'} the {row.cases} cases of {row.name}"
    return format_html(
        '<a class="opener" href="{}#row-{}" aria-label="{}" title="{}" aria-expanded="{}">{}</a>{}',
        query, row.slug, words, words, "true" if opened else "false", "▾" if opened else "▸", link,
    )  # fmt: skip


def _versus(row: Row) -> str:
    if not any(map(missed, row.squares)):
        return ""
    title = escape(f"What a solved trial of {row.name} did otherwise than the first unsolved one")
    return f'<a class="vs" href="versus?scenario={escape(row.slug)}" title="{title}">≠</a>'


def _case_name(case: Row) -> SafeString:
    return format_html('<span class="case-name">{}</span>', case.name or "(one case)")


def _cases_pager(opened: Unfolded, matrix: Matrix, asked: Question) -> str:
    if opened.first == 1 and opened.last >= opened.total:
        return ""
    more = []
    if opened.first > 1:
        more.append(("First cases", asked.query(case=1)))
    if opened.last < opened.total:
        more.append(("Next cases", asked.query(case=opened.last + 1)))
    links = format_html_join("", ' <a href="{}#row-{}">{}</a>', ((query, opened.slug, word) for word, query in more))
    return format_html(
        '<tr class="case"><th scope="row">cases {}–{} of {}</th><td colspan="{}" class="pages">{}</td></tr>',
        opened.first, opened.last, f"{opened.total:,}", len(matrix.cells) + 1, links,
    )  # fmt: skip


def colour_scale(matrix: Matrix) -> tuple[float, float]:
    """Rates and shares stand on 0 to 1; other figures between the least and the most that the page shows."""
    if matrix.measure.type in ("bool", "category"):
        return (0.0, 1.0)
    seen = [square.value for row in matrix.rows for square in row.squares if square and square.value is not None]
    return (min(seen, default=0.0), max(seen, default=1.0))


def _row(row: Row, matrix: Matrix, asked: Question, scale: tuple[float, float], turned: bool, name: SafeString) -> str:
    links = rest_of(row.slug, row.key, matrix, asked)
    squares = squares_html(zip(row.squares, [cell.key10 for cell in matrix.cells], repeat(links)), scale, turned=turned)
    kind = ' class="case"' if row.key is not None else f' id="row-{escape(row.slug)}"'
    head = f'<th scope="row" title="{escape(row.name)}">{name}</th>'
    return f'<tr{kind}>{head}{squares}<td class="margin">{margin(row, matrix, asked)}</td></tr>'


class Rest(NamedTuple):
    """The escaped addresses of a row's squares, without the key of the cell: it stands between the parts of a pair.

    `versus` leads to a comparison; in a large matrix rows alone have one, to save a third of it: there a script
    gives a square its own when a reader comes to it, or the reader asks that squares `lead` there.
    """

    counted: tuple[str, str]
    planned: tuple[str, str]
    versus: str
    lead: bool = False


def rest_of(slug: str, case: str | None, matrix: Matrix, asked: Question) -> Rest:
    how = tuple(counted_as(matrix, asked).items())
    plain = f"&amp;scenario={_quoted(slug)}" + (f"&amp;case={_quoted(case)}" if case is not None else "")
    if case is None:  # thousands of squares: the short form, which is counted by default as they are
        implied = (("counted", DEFAULT_POLICY), ("seen", "observed"))
        counted = ("trials?of=", f"/{escape(quote(slug))}{_and(tuple([one for one in how if one not in implied]))}")
    else:
        counted = ("trials?cell=", f"{plain}{_and(how)}")
    lead = matrix.large and asked.lead == "versus"
    return Rest(counted, ("trials?cell=", plain), plain if lead or not matrix.large else "", lead)


def _quoted(value: str) -> str:
    return escape(quote_plus(value))


@lru_cache(maxsize=256)
def _and(said: tuple[tuple[str, str], ...]) -> str:
    """The rows of a page say the same."""
    return escape(f"&{query_of(dict(said))}") if said else ""


def counted_as(matrix: Matrix, asked: Question) -> dict[str, str]:
    """The filters under which a list has the trials that a square counts."""
    if matrix.by_policy:
        return {"counted": asked.policy}
    return {"measure": matrix.measure.key, "seen": "observed"}


def missed(square: Square | None) -> bool:
    return square is not None and square.k is not None and square.k < square.n


def squares_html(
    squares: Iterable[tuple[Square | None, str, Rest]], scale: tuple[float, float], *, turned: bool
) -> str:
    """Squares of a row, each with the key of its cell. Plain strings: a page has thousands."""
    made = []
    for square, key10, rest in squares:
        if square is None:
            made.append('<td class="g0" title="not planned">–</td>')
            continue
        value, text, _, n, planned, errors, excluded = square
        if value is None or errors or excluded or n < planned or rest.versus:
            made.append(_square(square, key10, rest, scale, turned))
        else:  # most squares: as little markup as there can be
            (before, after), colour = rest.counted, step(value, scale, turned=turned)
            made.append(f'<td class="{colour}"><a href="{before}{key10}{after}">{_escaped(text)}</a></td>')
    return "".join(made)


def _square(square: Square, key10: str, rest: Rest, scale: tuple[float, float], turned: bool) -> str:
    """One square: a link to the trials it counts; to all that were planned where none counts."""
    if square.value is None or square.errors or square.excluded or square.n < square.planned:
        colour, title, text, glyph = _looks(square, scale, turned)
    else:
        colour, title, text, glyph = step(square.value, scale, turned=turned), "", _escaped(square.text), ""
    beside, (before, after) = "", rest.counted if square.n else rest.planned
    if rest.versus and missed(square):
        if rest.lead:
            before, after = "versus?cell=", rest.versus
        else:
            beside = f'<a class="vs" href="versus?cell={key10}{rest.versus}">≠</a>'
    return f'<td class="{colour}"><a href="{before}{key10}{after}"{title}>{text}</a>{glyph}{beside}</td>'


_escaped = lru_cache(maxsize=4096)(escape)


@lru_cache(maxsize=4096)
def _looks(square: Square, scale: tuple[float, float], turned: bool) -> tuple[str, str, str, str]:
    """Colour, title, text and glyphs: of a page's thousands of squares, most look like one of a few dozen."""
    colour, text, marks = step(square.value, scale, turned=turned), escape(square.text), glyphs(square)
    if not marks:  # most squares: as little markup as there can be
        return colour, "", text, ""
    return colour, f' title="{escape(told(square))}"', text, f'<span class="glyph" aria-hidden="true">{marks}</span>'


def glyphs(square: Square) -> str:
    """`!` errors, `⊘` exclusions, `·` fewer trials than planned for another reason."""
    marks = "!" * bool(square.errors) + "⊘" * bool(square.excluded)
    return marks or "·" * (square.n < square.planned)


def told(square: Square) -> str:
    said = [f"{square.text} of {square.planned} planned"]
    if square.errors:
        said.append(count(square.errors, "error"))
    if square.excluded:
        said.append(f"{square.excluded} {STATE_WORDS['excluded']}")
    return ", ".join(said)


def margin(row: Row, matrix: Matrix, asked: Question) -> SafeString:
    n = sum([square.n for square in row.squares if square])
    case = {} if row.key is None else {"case": row.key}
    if matrix.by_policy:
        return _behind(rate_of(row.k, n), n, matrix, asked, scenario=row.slug, **case)
    rate = matrix.measure.rate or matrix.measure.type == "category"
    shown = SafeString(escape(percent(row.value) if rate else fixed(row.value, matrix.places)))
    return _behind(shown, n, matrix, asked, scenario=row.slug, **case)


def _behind(shown: SafeString, n: int, matrix: Matrix, asked: Question, **of: str) -> SafeString:
    """Link a figure over several squares to the trials it is made of; their number stands in the title."""
    if not n:
        return shown
    cells = {} if not asked.where or "cell" in of else {"cell": ",".join(cell.key10 for cell in matrix.cells)}
    query, said = escape(query_of({**cells, **of, **counted_as(matrix, asked)})), count(n, "trial")
    return SafeString(f'<a href="trials?{query}" title="{said}">{shown}</a>')


def rate_text(counts: Counts, policy: str) -> SafeString:
    return rate_of(counts.k, counts.n(policy))


def all_rate(matrix: Matrix, asked: Question) -> SafeString:
    return _behind(rate_text(matrix.all, asked.policy), matrix.all.n(asked.policy), matrix, asked)


def column_rate(matrix: Matrix, place: int, asked: Question, *, interval: bool = False) -> SafeString:
    """A cell's figure over all scenarios, where squares follow the counting policy."""
    of, policy = matrix.columns[place], asked.policy
    shown = rate_text(of, policy) if interval else SafeString(escape(percent(of.rate(policy))))
    return _behind(shown, of.n(policy), matrix, asked, cell=matrix.cells[place].key10)


def rate_of(k: int, n: int) -> SafeString:
    interval = rate_interval(k, n)
    rate, shown = escape(percent(k / n if n else None)), bounds(*interval) if interval else ""
    return SafeString(f'<span class="rate">{rate}</span> <span class="interval">{shown}</span>')


def foot(matrix: Matrix, asked: Question) -> SafeString:
    """The columns' margins: rates of a boolean headline, the pooled figures of any other measure with numbers."""
    if not (matrix.by_policy or matrix.sums):
        return SafeString("")
    figure = column_rate if matrix.by_policy else column_figure
    shown = ((figure(matrix, place, asked),) for place in range(len(matrix.cells)))
    cells = format_html_join("", '<td class="sum">{}</td>', shown)
    total = all_rate(matrix, asked) if matrix.by_policy else ""
    return format_html('<tr><th scope="row">All scenarios</th>{}<td class="margin">{}</td></tr>', cells, total)


def column_figure(matrix: Matrix, place: int, asked: Question) -> SafeString:
    """A cell's pooled figure; a category has none."""
    value = matrix.sums[place] if matrix.sums else None
    shown = format_html("{}", percent(value) if matrix.measure.rate else fixed(value, matrix.places))
    if not matrix.totals:
        return shown
    return _behind(shown, matrix.totals[place], matrix, asked, cell=matrix.cells[place].key10)
