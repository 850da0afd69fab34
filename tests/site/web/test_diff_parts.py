"""A diff in parts: rows that follow, folds by steps, whole lines, hidden characters, pretty JSON, copies, the tree."""

from __future__ import annotations

import pytest
from bs4 import BeautifulSoup

from benchsite.diffs.files import anchor
from benchsite.diffs.limits import FIRST_ROWS
from tests.site.web.one_trial import Story, take_in
from tests.site.web.test_changes_pages import NEW, OLD, file_url, rows_of, soup_of_part
from tests.site.web.test_trial_pages import soup, trial_url

pytestmark = pytest.mark.django_db


def test_a_long_file_goes_on_where_its_first_rows_end_by_a_link_and_as_a_part(client, tmp_path):
    run = take_in(tmp_path, Story(after={"big.txt": b"x\n" * 401}))
    first = soup(client.get(file_url(run, "big.txt")))
    (wait,) = first.select('[data-lazy="more"]')
    second = soup(client.get(wait.a["href"].split("#")[0]))
    rest = [row[0] for row in rows_of(second)]
    assert rest == [str(n) for n in range(FIRST_ROWS + 1, 402)]
    assert second.find(id=wait.a["href"].split("#")[1])
    assert not second.select('[data-lazy="more"]')
    assert rows_of(soup_of_part(client.get(wait["data-part"]))) == rows_of(second)
    assert rows_of(soup(client.get(second.find("a", string="From the beginning")["href"]))) == rows_of(first)


@pytest.mark.parametrize(("start", "first"), [("R31", "31"), ("L31", "31"), ("R999", None), ("R0", "1"), ("x", "1")])
def test_a_file_begins_where_it_is_asked_to(client, tmp_path, start, first):
    run = take_in(tmp_path, Story(before={"a.txt": OLD}, after={"a.txt": NEW}))
    found = rows_of(soup(client.get(file_url(run, "a.txt", context="all", **{"from": start}))))
    assert [row[0] for row in found[:1]] == ([first] if first else [])


def test_a_fold_gives_twenty_lines_at_either_end(client, tmp_path):
    old = b"".join(b"line %d\n" % n for n in range(120))
    new = old.replace(b"line 0\n", b"nought\n").replace(b"line 100\n", b"hundred\n")
    run = take_in(tmp_path, Story(before={"a.txt": old}, after={"a.txt": new}))
    made = soup(client.get(trial_url(run, "changes/")))
    down, whole, up = made.select("tr.fold")[0].select("a")
    assert (down.text, whole.text, up.text) == ("↓ 20", "93 unchanged lines", "↑ 20")
    for step, numbers, left in ((down, range(5, 25), "73 unchanged lines"), (up, range(78, 98), "73 unchanged lines")):
        url = file_url(run, "a.txt", part="rows", fold=step["data-fold"], show=step["data-show"])
        part = BeautifulSoup(f"<table class=diff>{client.get(url).content.decode()}</table>", "html.parser")
        assert [row.select_one("td").text for row in part.select("tr:not(.fold)")] == [str(n) for n in numbers]
        assert [fold.text for fold in part.select("tr.fold a:not(.step)")] == [left]


def test_a_cut_line_is_given_whole(client, tmp_path):
    run = take_in(tmp_path, Story(after={"a.txt": b"y" * 3000 + b"<b>\n"}))
    links = soup(client.get(file_url(run, "a.txt"))).select("a.cut")
    assert [link.text for link in links] == ["all 3,003 characters"]
    assert client.get(links[0]["data-cut"]).content.decode() == "y" * 3000 + "&lt;b&gt;"
    assert client.get(file_url(run, "a.txt", part="line", **{"from": "R9"})).content == b""
    assert b"".join(client.get(links[0]["href"]).streaming_content).startswith(b"yyy")


def test_lines_with_hidden_characters_are_linked_even_from_behind_a_fold(client, tmp_path):
    old = b"".join(b"line %d\n" % n for n in range(300)).replace(b"line 100\n", "line \u202e100\n".encode())
    run = take_in(tmp_path, Story(before={"a.txt": old}, after={"a.txt": old.replace(b"line 9\n", b"nine\n")}))
    (link,) = soup(client.get(trial_url(run, "changes/"))).select("[data-dangers] a")
    assert link.text == "101"
    page = soup(client.get(link["href"].split("#")[0]))
    assert "RLO" in page.find(id=link["href"].split("#")[1]).parent.text


def test_json_is_compared_in_its_canonical_form_when_asked(client, tmp_path):
    before, after = b'{"b": 1, "a": [1,2]}', b'{\n "a": [1, 2], "b": 2}\n'
    run = take_in(tmp_path, Story(before={"a.json": before}, after={"a.json": after, "b.txt": b"{}\n"}))
    kept = soup(client.get(trial_url(run, "changes/")))
    pretty = next(link for link in kept.select(".option a") if link.text == "Pretty")
    made = soup(client.get(trial_url(run, "changes/") + pretty["href"]))
    assert [row[2] + row[5] for row in rows_of(made) if row[1:2] == ["−"]] == [' "b": 1 "b": 2']
    assert "pretty JSON with sorted keys" in made.select_one(".facts-list").text
    only = soup(client.get(file_url(run, "b.txt")))
    assert "JSON" not in [option.text for option in only.select(".option .muted")]


def test_what_is_no_json_is_shown_as_written_and_says_so(client, tmp_path):
    run = take_in(tmp_path, Story(before={"a.json": b"{}\n"}, after={"a.json": b"{broken\n"}))
    made = soup(client.get(trial_url(run, "changes/?json=pretty")))
    assert "Not shown as pretty JSON" in made.select_one(".facts-list").text
    assert rows_of(made) == [["1", "−", "{}", "1", "+", "{broken"]]


def test_bytes_are_shown_around_the_first_that_differs(client, tmp_path):
    before = {"far.bin": b"\0" * 3000, "near.bin": b"\0" * 300}
    after = {"far.bin": b"\0" * 1000 + b"!" + b"\0" * 1999, "near.bin": b"\0" * 20 + b"!" + b"\0" * 279}
    made = soup(client.get(trial_url(take_in(tmp_path, Story(before=before, after=after)), "changes/")))
    far, _, near, _ = (box.pre.text.splitlines() for box in made.select(".hex"))
    assert (far[0][:8], near[0][:8], len(far), len(near)) == ("000003c0", "00000000", 16, 16)
    assert [mark.text[:8] for mark in made.select(".hex mark")] == ["000003e0"] * 2 + ["00000010"] * 2


def test_a_copied_file_names_its_source_in_the_start_world(client, tmp_path):
    run = take_in(tmp_path, Story(before={"lib/a.txt": OLD}, after={"lib/a.txt": OLD, "lib/b.txt": OLD}))
    made = soup(client.get(trial_url(run, "changes/")))
    assert made.select_one(".file-path").text == "lib/a.txt → lib/b.txt"
    assert made.select_one(".file-head .letter")["title"] == "copied"
    assert "Copied, unchanged." in made.select_one(".facts-list").text


def test_the_list_of_files_sums_its_folders(client, tmp_path):
    after = {"src/deep/er/a.txt": b"1\n2\n", "src/deep/er/b.txt": b"1\n", "src/c.txt": b"1\n", "top.txt": b"1\n"}
    run = take_in(tmp_path, Story(after=after))
    items = soup(client.get(trial_url(run, "changes/"))).select(".tree li")
    assert [(item["class"][-1], item.text.strip().lstrip("A")) for item in items] == [
        ("d0", "src/+4"),
        ("d1", "c.txt+1"),
        ("d1", "deep/er/+3"),
        ("d2", "a.txt+2"),
        ("d2", "b.txt+1"),
        ("d0", "top.txt+1"),
    ]


def test_moved_lines_name_their_other_end_on_the_page_alone_and_can_be_plain(client, tmp_path):
    helper = b"def helper(value):\n    total = value + 1\n    return total * 2\n"
    before = {"src/a.py": b"x = 1\n" + helper, "src/b.py": b"y = 2\n"}
    run = take_in(tmp_path, Story(before=before, after={"src/a.py": b"x = 1\n", "src/b.py": b"y = 2\n\n" + helper}))
    page = soup(client.get(trial_url(run, "changes/")))
    went, came = page.select("a.moved-end")
    assert [went.get_text(), came.get_text()] == ["→ to src/b.py:3", "← from src/a.py:2"]
    assert len(page.select("td.t.moved")) == 6
    assert went["href"].endswith(f"#{anchor('src/b.py')}-R3")
    # alone, its other end leads to the other file's own page, where the line stands
    (alone,) = soup(client.get(file_url(run, "src/a.py"))).select("a.moved-end")
    there = soup(client.get(alone["href"].split("#")[0]))
    assert "def helper" in there.select_one(f"#{alone['href'].split('#')[1]}").find_next("td", class_="t").get_text()
    unified = soup(client.get(trial_url(run, "changes/?view=unified")))
    assert len(unified.select("td.t.moved")) == 6
    plain = soup(client.get(trial_url(run, "changes/?moved=off")))
    assert not plain.select(".moved, .moved-end")
    switch = {link.text: link["href"] for link in plain.select('.option a[data-option="moved"]')}
    assert switch == {"On": "?", "Off": "?moved=off"}
    # a change without moved lines has no switch for them
    other = take_in(tmp_path / "o", Story(after={"a.py": b"1\n"}), seed=2)
    assert not soup(client.get(trial_url(other, "changes/"))).select('.option a[data-option="moved"]')
