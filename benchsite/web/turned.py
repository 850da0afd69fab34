"""The matrix turned: a row a cell, a column a scenario."""

from __future__ import annotations

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from benchsite.readings.counts import DEFAULT_POLICY
from benchsite.readings.matrix import Matrix
from benchsite.readings.question import Question
from benchsite.readings.words import fixed, percent

from .matrix import asks, colour_scale, counted_as, margin, rate_text, square_html, versus_of


def head(matrix: Matrix) -> SafeString:
    rows = ((row.name, row.slug, row.name) for row in matrix.rows)
    names = format_html_join("", '<th class="group" scope="col" title="{}"><a href="s/{}/">{}</a></th>', rows)
    return format_html(
        '<tr><th class="axis-name" scope="row">cell</th>{}<th scope="col">All scenarios</th></tr>', names
    )


def body(matrix: Matrix, asked: Question) -> SafeString:
    scale, down = colour_scale(matrix), matrix.measure.objective == "minimize"
    policy = asked.policy if matrix.by_policy else DEFAULT_POLICY if matrix.measure.headline else ""
    queries = [(asks(row), asks(row) + counted_as(policy)) for row in matrix.rows]
    made = []
    for place, cell in enumerate(matrix.cells):
        squares = []
        for row, (plain, told) in zip(matrix.rows, queries, strict=True):
            square = row.squares[place]
            rest, versus = told if square and square.n else plain, versus_of(matrix, plain)
            squares.append(square_html(square, cell.key10, rest, scale, down, versus))
        made.append(
            format_html(
                '<tr><th scope="row" title="{}"><a href="c/{}/">{}</a></th>{}<td class="margin">{}</td></tr>',
                cell.title, cell.key10, cell.title, SafeString("".join(squares)), _cell_margin(matrix, place, asked),
            )
        )  # fmt: skip
    return SafeString("".join(made))


def _cell_margin(matrix: Matrix, place: int, asked: Question) -> SafeString:
    if matrix.by_policy:
        return rate_text(matrix.columns[place], asked.policy)
    value = matrix.sums[place] if matrix.sums else None
    return format_html("{}", percent(value) if matrix.measure.rate else fixed(value, matrix.places))


def foot(matrix: Matrix, asked: Question) -> SafeString:
    cells = format_html_join("", '<td class="sum">{}</td>', ((margin(row, matrix),) for row in matrix.rows))
    total = rate_text(matrix.all, asked.policy) if matrix.by_policy else ""
    return format_html('<tr><th scope="row">All cells</th>{}<td class="margin">{}</td></tr>', cells, total)
