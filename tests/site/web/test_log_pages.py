"""Logs that a trial attached: pages of lines, colours over page ends, finding, and what a terminal would not show."""

from __future__ import annotations

import pytest

from benchsite.readings import logview
from tests.site.web.one_trial import Story, take_in
from tests.site.web.test_trial_pages import soup, text, trial_url

pytestmark = pytest.mark.django_db
LOG = b"".join(
    b"\x1b[31mred from here\n" if n == 999 else b"\x1b[0m\x1b[2Kplain again\n" if n == 1_501 else b"line %d <b>\n" % n
    for n in range(1, 2_501)
)
ODD = b" 10 %\r 50 %\rdone\nbad \xff byte\n" + b"x" * 70_000 + b" end\nlast \xe2\x80\xae"


@pytest.fixture
def run(tmp_path):
    attached = [("suite.log", "log", "text/plain", LOG), ("odd.log", "output", "", ODD), ("none.log", "log", "", b"")]
    return take_in(tmp_path, Story(attached=attached))


def at(run, query: str = "", name: str = "suite.log") -> str:
    return trial_url(run, f"artifacts/{name}/{query}")


def test_a_log_is_read_in_pages_whose_lines_have_addresses(client, run):
    made = soup(client.get(at(run, "?page=3")))
    assert [row["id"] for row in made.select(".log-lines tr")] == [f"L{n}" for n in range(2_001, 2_501)]
    assert made.select_one("#L2001 a")["href"] == "#L2001"
    assert "Lines 2,001–2,500 of 2,500" in made.get_text()
    assert "line 2001 <b>" in made.select_one("#L2001").get_text()
    assert soup(client.get(at(run, "?page=99"))).select_one("#L2500")


def test_a_colour_lasts_over_the_end_of_a_page_and_other_escapes_are_counted(client, run):
    assert soup(client.get(at(run))).select_one("#L1000 .t-fg-red")
    second = soup(client.get(at(run, "?page=2")))
    assert second.select_one("#L1001 .t-fg-red").get_text() == "line 1001 <b>"
    assert not second.select("#L1501 .t-fg-red")
    assert "1 terminal escape left out" in second.get_text()
    assert b"\x1b" not in client.get(at(run, "?page=2")).content


def test_words_are_found_in_the_whole_log_and_lead_to_their_line(client, run, monkeypatch):
    made = soup(client.get(at(run, "?find=PLAIN+again")))
    (row,) = made.select(".log-lines tr")
    assert row.a["href"] == "?attempt=1&page=2#L1501"
    assert row.mark.get_text() == "plain again"
    assert "1 line with “PLAIN again”" in made.get_text()
    assert "0 lines with “<script>”" in text(client.get(at(run, "?find=<script>")))
    monkeypatch.setattr(logview, "FIND_LINES", 3)
    assert "Only the first 3 lines found are listed." in text(client.get(at(run, "?find=line")))
    monkeypatch.setattr(logview, "FIND_BYTES", 500)
    assert "Only the first 500 bytes were searched." in text(client.get(at(run, "?find=plain")))


def test_odd_lines_are_shown_as_far_as_they_can_be_and_say_so(client, run):
    rows = soup(client.get(at(run, name="odd.log"))).select(".log-lines tr td:last-child")
    assert rows[0].get_text() == "done"
    assert rows[1].get_text() == "bad \ufffd byte"
    assert rows[2].get_text().endswith("… cut here: the whole line has 70,005 bytes")
    assert rows[3].select_one(".pill").get_text() == "RLO"
    assert "1 line rewrote itself" in text(client.get(at(run, name="odd.log")))
    assert "The file is empty." in text(client.get(at(run, name="none.log")))


def test_the_whole_log_downloads_as_it_is(client, run):
    response = client.get(at(run, "?raw=1&save=1", name="odd.log"))
    assert b"".join(response.streaming_content) == ODD
