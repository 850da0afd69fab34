"""Reports: one file that opens from disk, asks nothing of a network, and says what the page says."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from django.core.management import CommandError, call_command
from django.test import Client

from benchsite.readings.report import style
from benchsite.readings.still import still
from benchsite.runs.models import Run


@pytest.fixture
def two(made: Callable[..., Run]) -> tuple[Run, Run]:
    return made("one", scenarios=6, trials=3), made("two", scenarios=6, trials=3, seed=2)


def alone(text: str) -> BeautifulSoup:
    """Prove that nothing in a file would be fetched or run, and give it read."""
    soup = BeautifulSoup(text, "html.parser")
    assert not soup.select("script, link, img, iframe, form, button, input, object, embed, base")
    assert not [tag for tag in soup.find_all(True) for name in tag.attrs if name.startswith(("on", "hx-", "src"))]
    assert "url(" not in text and "@import" not in text
    policy = soup.select_one("meta[http-equiv=Content-Security-Policy]")
    assert policy and "default-src 'none'" in str(policy["content"])
    for link in soup.select("a[href]"):
        assert str(link["href"]).startswith(("#", "http://testserver/", "https://bench.example.org/")), link
    return soup


def numbers(soup: BeautifulSoup) -> list[str]:
    """The figures of the tables, in order, without what only the page has beside them."""
    return [re.sub(r"\s+", "", cell.get_text()) for cell in soup.select("table td.num, table.matrix td")]


def test_a_run_report_stands_alone_and_has_the_figures_of_the_page(two: tuple[Run, Run], client: Client) -> None:
    run = two[0]
    response = client.get(f"/runs/{run.ulid}/report.html")
    assert response["Content-Disposition"] == f'attachment; filename="run-{run.ulid}.html"'
    report = alone(response.content.decode())
    page = BeautifulSoup(client.get(f"/runs/{run.ulid}/", {"panels": "all"}).content, "html.parser")
    assert numbers(report) == numbers(page) and len(numbers(report)) > 60
    assert report.select_one("h1").get_text() == page.select_one("h1").get_text()  # type: ignore[union-attr]
    assert report.find(string=re.compile("errors-fail/1")) is None
    failing = alone(client.get(f"/runs/{run.ulid}/report.html", {"policy": "errors-fail/1"}).content.decode())
    assert failing.find(string=re.compile("Policy errors-fail/1"))


def test_a_comparison_report_has_the_sentence_the_figures_and_every_case(two: tuple[Run, Run], client: Client) -> None:
    asked = {"of": [f"run:{run.ulid}" for run in two], "show": "all"}
    report = alone(client.get("/compare/report.html", asked).content.decode())
    page = BeautifulSoup(client.get("/compare/", asked).content, "html.parser")
    assert report.select_one(".verdict").get_text() == page.select_one(".verdict").get_text()  # type: ignore[union-attr]
    assert numbers(report) == numbers(page)
    assert [row.th.get_text() for row in report.select(".cases tbody tr") if row.th] == [
        row.th.get_text() for row in page.select(".cases tbody tr") if row.th
    ]
    assert client.get("/compare/report.html", {"of": asked["of"][:1]}).status_code == 404


def test_the_command_writes_both_and_refuses_in_a_sentence(two: tuple[Run, Run], tmp_path: Path) -> None:
    file = tmp_path / "r.html"
    call_command("report", two[0].ulid, output=file)
    soup = alone(file.read_text())
    assert not soup.select("a[href^=http]")
    call_command("report", *(f"run:{run.ulid}" for run in two), output=file, site="https://bench.example.org/")
    assert alone(file.read_text()).select("a[href^='https://bench.example.org/compare/?of=run:']")
    for what, told in (
        (["01KE6SJT80MDVJ7W9JR3Y3JWD9"], "There is no run '01KE6SJT80MDVJ7W9JR3Y3JWD9'"),
        ([two[0].ulid, "01KE6SJT80MDVJ7W9JR3Y3JWD9"], "Not all of"),
        ([f"trial:{two[0].ulid}/1"], "A report is of a run"),
        (["loaf:1"], "names nothing that can be compared"),
    ):
        with pytest.raises(CommandError, match=told):
            call_command("report", *what, output=tmp_path / "no.html")
    with pytest.raises(CommandError, match="no such axis, value, scenario or measure"):
        call_command("report", two[0].ulid, output=tmp_path / "no.html", measure="luck")
    with pytest.raises(CommandError, match="The baseline has no measure 'luck'"):
        call_command("report", *(run.ulid for run in two), output=tmp_path / "no.html", measure="luck")
    assert not (tmp_path / "no.html").exists()
    with pytest.raises(CommandError, match=r"no/no\.html cannot be written: No such file"):
        call_command("report", two[0].ulid, output=tmp_path / "no" / "no.html")


def test_a_still_page_keeps_what_is_read_and_drops_what_only_works_on_the_site() -> None:
    page = (
        '<p onclick="x()" style="a" hx-get="/b">a &lt; b&nbsp;<a href="/c?d=1&amp;e">c</a> <a href="#f">f</a></p>'
        '<a class="opener" href="?open=s" aria-expanded="false">gone</a>'
        '<form><input><b>gone</b></form><script>gone()</script><span class="segmented"><a href="/x">off</a>'
        '<a href="/y" aria-current="true">on</a></span><img src="/z"><a href="javascript:x()">j</a>'
        '<svg viewBox="0 0 1 1"><use href="#i"/></svg>'
    )
    assert still(page, "https://s/r/") == (
        '<p>a &lt; b&nbsp;<a href="https://s/c?d=1&amp;e">c</a> <a href="#f">f</a></p>'
        '<span class="segmented"><a aria-current="true">on</a></span><img><a>j</a>'
        '<svg viewbox="0 0 1 1"><use href="#i"/></svg>'
    )
    assert still('<a href="/c">c</a>') == "<a>c</a>"


def test_the_style_of_a_report_is_all_there_and_fetches_nothing() -> None:
    assert "@media print" in style() and ".matrix" in style() and "url(" not in style()
