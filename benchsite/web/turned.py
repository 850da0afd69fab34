"""The matrix turned: a row a cell, a column a scenario."""

from __future__ import annotations

from itertools import repeat

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from benchsite.readings.matrix import Matrix
from benchsite.readings.question import Question

from .matrix import all_rate, colour_scale, column_figure, column_rate, margin, rest_of, squares_html


def head(matrix: Matrix) -> SafeString:
    rows = ((row.name, row.slug, row.name) for row in matrix.rows)
    names = format_html_join("", '<th class="group" scope="col" title="{}"><a href="s/{}/">{}</a></th>', rows)
    return format_html(
        '<tr><th class="axis-name" scope="row">cell</th>{}<th scope="col">All scenarios</th></tr>', names
    )


def body(matrix: Matrix, asked: Question) -> SafeString:
    scale, down = colour_scale(matrix), matrix.measure.objective == "minimize"
    rests = [rest_of(row.slug, row.key, matrix, asked) for row in matrix.rows]
    made = []
    for place, cell in enumerate(matrix.cells):
        column = zip([row.squares[place] for row in matrix.rows], repeat(cell.key10), rests)
        squares = squares_html(column, scale, turned=down)
        made.append(
            format_html(
                '<tr><th scope="row" title="{}"><a href="c/{}/">{}</a></th>{}<td class="margin">{}</td></tr>',
                cell.title, cell.key10, cell.title, SafeString(squares), _cell_margin(matrix, place, asked),
            )
        )  # fmt: skip
    return SafeString("".join(made))


def _cell_margin(matrix: Matrix, place: int, asked: Question) -> SafeString:
    return column_rate(matrix, place, asked, interval=True) if matrix.by_policy else column_figure(matrix, place, asked)


def foot(matrix: Matrix, asked: Question) -> SafeString:
    cells = format_html_join("", '<td class="sum">{}</td>', ((margin(row, matrix, asked),) for row in matrix.rows))
    total = all_rate(matrix, asked) if matrix.by_policy else ""
    return format_html('<tr><th scope="row">All cells</th>{}<td class="margin">{}</td></tr>', cells, total)
