"""Numbers as the site writes them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from benchsite.readings import words
from benchsite.web import formats, marks
from benchsite.web.markdown import markdown
from benchsite.web.source import coloured


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        (0.72, "72 %"),
        (0.0, "0 %"),
        (1.0, "100 %"),
        (None, "–"),
        (0.001, "<1 %"),
        (0.999, ">99 %"),
        (0.125, "13 %"),
        (float("inf"), "–"),
        (0.005, "1 %"),
    ],
)
def test_a_rate_never_reads_as_none_or_all_unless_it_is(share: float | None, shown: str) -> None:
    assert words.percent(share) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "–"),
        (0, "0"),
        (3, "3"),
        (0.4567, "0.457"),
        (12.345, "12.3"),
        (1234.5, "1,234"),
        (84112, "84,112"),
        (1e300, "1e+300"),
        (float("inf"), "–"),
        (-0.5, "-0.5"),
    ],
)
def test_a_number_has_three_significant_digits_at_most(value: float | None, shown: str) -> None:
    assert words.number(value) == shown


@pytest.mark.parametrize(
    ("dollars", "shown"), [(None, "–"), (0, "$0.00"), (0.41, "$0.41"), (0.00423, "$0.00423"), (1234.5, "$1,234.50")]
)
def test_a_missing_cost_is_a_dash_and_a_small_one_is_not_lost(dollars: float | None, shown: str) -> None:
    assert words.cost(dollars) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (None, "–"),
        (0.012, "12 ms"),
        (0.84, "0.8 s"),
        (9.96, "10 s"),
        (59.6, "1 m 00 s"),
        (210, "3 m 30 s"),
        (3840, "1 h 04 m"),
        (3599.7, "1 h 00 m"),
        (71 * 3600, "71 h 00 m"),
        (26_954_040, "311 d 23 h"),
    ],
)
def test_times_read_as_people_say_them(seconds: float | None, shown: str) -> None:
    assert words.duration(seconds) == shown


@pytest.mark.parametrize(
    ("count", "shown"), [(None, "–"), (0, "0 B"), (999, "999 B"), (14_200, "14.2 kB"), (31_000_000, "31.0 MB")]
)
def test_sizes(count: int | None, shown: str) -> None:
    assert words.size(count) == shown


def test_an_interval_that_is_not_there_leaves_nothing() -> None:
    assert words.bounds(0.64, 0.79) == "[64–79]"
    assert words.bounds(None, None) == ""
    assert words.bounds(0.5, 1.25, rate=False, places=2) == "[0.50–1.25]"


def test_nothing_counted_is_a_dash_and_zero_of_some_is_zero() -> None:
    assert words.ratio(0, 0) == "–"
    assert words.ratio(0, 7) == "0/7"


def test_a_column_shares_its_decimals() -> None:
    assert words.decimals([1, 2, None]) == 0
    assert words.decimals([0.5, 12.25]) == 1
    assert words.decimals([0.5, 4.67]) == 2
    assert words.decimals([]) == 0


def test_lists_say_what_they_leave_out() -> None:
    assert words.listed([]) == ""
    assert words.listed(["a"]) == "a"
    assert words.listed(["a", "b", "c"]) == "a, b and c"
    assert words.listed(["a", "b", "c", "d", "e"]) == "a, b, c and 2 more"


def test_names_sort_as_people_count() -> None:
    assert sorted(["task_10", "task_9", "fix"], key=words.natural) == ["fix", "task_9", "task_10"]
    assert sorted(["²", "2", "a"], key=words.natural)


def test_a_digest_shows_eight_and_copies_all() -> None:
    shown = formats.digest("ab" * 32)
    assert ">abababab<" in shown
    assert f'data-copy="{"ab" * 32}"' in shown


def test_a_moment_is_absolute_in_the_page() -> None:
    shown = formats.moment(datetime(2026, 1, 5, 9, 7, tzinfo=UTC))
    assert 'datetime="2026-01-05T09:07:00Z"' in shown
    assert ">5 Jan 2026, 09:07<" in shown
    assert formats.moment(None) == "–"


def test_each_status_has_a_word_and_a_shape_of_its_own() -> None:
    shapes = {status: str(marks.SHAPES[status]) for status in words.STATE_WORDS if status != "scored"}
    assert len(set(shapes.values())) == len(shapes)
    assert all(words.STATE_WORDS[status] in marks.chip(status) for status in shapes)


def test_names_from_outside_are_escaped_in_figures() -> None:
    drawn = marks.whisker(0.5, 0.4, 0.6, (0.0, 1.0), hollow=False, name='<script>"')
    assert "<script>" not in drawn
    assert "&lt;script&gt;&quot;" in drawn


def test_no_figure_draws_no_dot() -> None:
    assert "circle" not in marks.whisker(None, None, None, (0.0, 1.0), hollow=True, name="none")


def test_readmes_bring_no_html_no_image_and_no_script_link() -> None:
    made = markdown("# T\n<script>alert(1)</script>\n\n![x](http://evil/x.png) [a](javascript:alert(1)) *b*")
    assert "<script" not in made
    assert "<img" not in made
    assert 'href="javascript' not in made
    assert "<em>b</em>" in made


def test_source_keeps_its_lines() -> None:
    text = 'a = """x\ny\n"""\n\nb = 1\n'
    lines = ["".join(part for _, part in line) for line in coloured(text)]
    assert lines == ['a = """x', "y", '"""', "", "b = 1"]


@pytest.mark.parametrize(
    ("place", "said"),
    [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (13, "13th"), (21, "21st"), (112, "112th")],
)
def test_places_are_said_as_people_say_them(place: int, said: str) -> None:
    assert words.ordinal(place) == said


def test_foreign_text_cannot_turn_the_text_around_it() -> None:
    shown = formats.foreign("a\u202ebc<b>")
    assert shown.startswith("<bdi>") and shown.endswith("</bdi>")
    assert "\u202e" not in shown
    assert "RLO" in shown and "&lt;b&gt;" in shown
    assert formats.plainly("x\u202ey") == "\u2068x[RLO]y\u2069"
    assert formats.foreign("abcdef", 4) == "<bdi>abc…</bdi>"
