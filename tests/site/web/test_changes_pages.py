"""The diff page: exact rows, folds, lazy files, options in the address, patches that git applies, images and bytes."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest
from bs4 import BeautifulSoup
from django.db import connection
from django.test.utils import CaptureQueriesContext

from benchsite.artifacts.models import Blob
from benchsite.diffs.files import anchor
from benchsite.diffs.limits import FIRST_ROWS
from benchsite.flows.ingest import ingest
from benchsite.readings.address import from_address, to_address
from runner.digests import sha256
from tests.make import make_run
from tests.make_world import PNG, START, World, mode, unsolved
from tests.site.web.one_trial import Story, take_in
from tests.site.web.test_trial_pages import soup, text, trial_url

pytestmark = pytest.mark.django_db
OLD = b"".join(b"line %d\n" % n for n in range(60))
NEW = OLD.replace(b"line 30\n", b"line thirty\n")


def file_url(run, path: str, **query: str) -> str:
    more = "".join(f"&{name}={value}" for name, value in query.items())
    return trial_url(run, f"changes/file/?f={to_address(path)}{more}")


def rows_of(made: BeautifulSoup) -> list[list[str]]:
    return [[cell.get_text() for cell in row.select("td")] for row in made.select(".diff tr")]


@pytest.mark.parametrize("path", ["a.py", "odd \udcff name", "ünï/cödé", "-lead", "a?b&c=d#e", "\u202ex"])
def test_an_address_holds_the_very_bytes_of_a_path(path):
    assert from_address(to_address(path)) == path


@pytest.mark.parametrize("text", ["", "!!", "Li4vYQ", "L2V0Yw", "YQ==", "YQ=", "Yf", "ä"])
def test_an_address_that_is_none_or_leads_out_is_refused(text):
    assert from_address(text) is None


def test_a_changed_line_stands_side_by_side_with_its_numbers_and_signs(client, tmp_path):
    run = take_in(tmp_path, Story(before={"a.txt": OLD}, after={"a.txt": NEW}))
    made = soup(client.get(trial_url(run, "changes/")))
    (changed,) = made.select(".diff tr.r")
    cells = [cell.get_text() for cell in changed.select("td")]
    assert cells == ["31", "−", "line 30", "31", "+", "line thirty"]
    assert [mark.text for mark in changed.select("mark")] == ["30", "thirty"]
    name = f"{anchor('a.txt')}-R31"
    assert changed.select_one(f"td#{name} a")["href"] == f"#{name}"


def test_unified_shows_what_went_above_what_came(client, tmp_path):
    run = take_in(tmp_path, Story(before={"a.txt": b"one\ntwo\n"}, after={"a.txt": b"one\n2\n"}))
    made = soup(client.get(trial_url(run, "changes/?view=unified")))
    assert rows_of(made) == [["1", "1", "", "one"], ["2", "", "−", "two"], ["", "2", "+", "2"]]


def test_the_options_live_in_the_address_and_mark_what_is_on(client, tmp_path):
    run = take_in(tmp_path, Story(before={"a.txt": OLD}, after={"a.txt": NEW}))
    made = soup(client.get(trial_url(run, "changes/?context=all&view=unified")))
    assert len(made.select(".diff tr")) == 61
    assert not made.select("tr.fold")
    on = [link.text for link in made.select(".option [aria-current]")]
    assert on == ["Unified", "Shown", "All", "On", "All"]
    split = next(link for link in made.select(".option a") if link.text == "Split")
    assert split["href"] == "?context=all"


def test_a_fold_opens_without_script_and_as_a_part(client, tmp_path):
    run = take_in(tmp_path, Story(before={"a.txt": OLD}, after={"a.txt": NEW}))
    folds = soup(client.get(trial_url(run, "changes/"))).select("tr.fold a:not(.step)")
    assert [fold.text for fold in folds] == ["27 unchanged lines", "26 unchanged lines"]
    whole = soup(client.get(folds[1]["href"].split("#")[0]))
    assert whole.select_one(f"#{folds[1]['href'].split('#')[1]}")
    part = client.get(file_url(run, "a.txt", part="rows", fold=folds[1]["data-fold"]))
    cells = rows_of(BeautifulSoup(f"<table class=diff>{part.content.decode()}</table>", "html.parser"))
    assert [row[0] for row in cells] == [str(n) for n in range(35, 61)]
    assert cells[0][2] == cells[0][5] == "line 34"


@pytest.mark.parametrize("fold", ["", "1,2", "0,0,5", "999,999,9", "-1,1,1", "1,1,99999999", "a,b,c"])
def test_a_fold_that_is_none_gives_no_row_that_is_not_there(client, tmp_path, fold):
    run = take_in(tmp_path, Story(before={"a.txt": OLD}, after={"a.txt": NEW}))
    response = client.get(file_url(run, "a.txt", part="rows", fold=fold))
    assert response.status_code == 200
    assert response.content.count(b"<tr>") <= 60


def test_files_past_the_first_twenty_are_fetched_by_an_address_of_their_own(client, tmp_path):
    after = {f"f{n:02}.txt": b"%d\n" % n for n in range(25)}
    run = take_in(tmp_path, Story(after=after))
    made = soup(client.get(trial_url(run, "changes/")))
    lazy = made.select('details.file[data-lazy="reveal"]')
    assert len(made.select("details.file")) == 25
    assert len(lazy) == 5
    assert [item.select_one(".plus").text for item in made.select(".diff-files li")] == ["+1"] * 25
    part = soup_of_part(client.get(lazy[0]["data-part"]))
    assert rows_of(part) == [["1", "+", "20"]]
    assert rows_of(soup(client.get(lazy[0].select_one(".file-wait a")["href"]))) == [["1", "+", "20"]]


def soup_of_part(response) -> BeautifulSoup:
    assert response.status_code == 200
    made = BeautifulSoup(response.content, "html.parser")
    assert made.html is None
    return made


def test_a_long_change_waits_for_a_click_and_says_why(client, tmp_path):
    run = take_in(tmp_path, Story(after={"big.txt": b"x\n" * 401, "web/yarn.lock": b"x\n"}))
    made = soup(client.get(trial_url(run, "changes/")))
    assert [tag.text for tag in made.select(".file-head .tag")] == ["401 changed lines", "generated file"]
    assert not made.select(".diff")
    assert len(rows_of(soup(client.get(file_url(run, "big.txt"))))) == FIRST_ROWS


def test_what_evaluation_wrote_stands_apart(client, tmp_path):
    run = ingest(make_run(tmp_path), verdict="accepted")
    trial = run.trials.filter(outcome="unsolved").first()
    mine = text(client.get(trial_url(run, "changes/", trial.index)))
    theirs = text(client.get(trial_url(run, "changes/?stage=evaluation", trial.index)))
    assert ".coverage-report" not in mine
    assert ".coverage-report" in theirs
    assert "src/parser.py" not in theirs


def test_hidden_characters_are_named_in_content_and_in_paths(client, tmp_path):
    run = take_in(tmp_path, Story(after={"a\u202egnp.py": "x = 1  # \u2066\u200b\n".encode()}))
    response = client.get(trial_url(run, "changes/"))
    pills = [pill.text for pill in soup(response).select(".diff .pill")]
    assert pills == ["LRI", "ZWSP"]
    assert "RLO" in soup(response).select_one(".file-path").text
    assert not {"\u202e", "\u2066", "\u200b"} & set(response.content.decode())


def test_a_missing_newline_and_a_change_of_line_ends_are_said(client, tmp_path):
    before = {"a.txt": b"end", "b.txt": b"1\r\n2\r\n"}
    run = take_in(tmp_path, Story(before=before, after={"a.txt": b"end\n", "b.txt": b"1\n2\n"}))
    made = soup(client.get(trial_url(run, "changes/")))
    assert [cell.text for cell in made.select("tr.note td")] == ["no newline at end of file", ""]
    assert "only line ends changed" in [tag.text for tag in made.select(".file-head .tag")]


def test_binary_files_show_sizes_digests_and_bytes_and_images_show_themselves(client, tmp_path):
    other = PNG[:-8] + b"12345678"
    run = take_in(tmp_path, Story(before={"a.png": PNG, "b.bin": b"\0\1"}, after={"a.png": other, "b.bin": b"\0\2"}))
    made = soup(client.get(trial_url(run, "changes/")))
    images = made.select(".images img")
    assert len(images) == 2
    assert [choice["value"] for choice in made.select(".pictures input[type=radio]")] == ["two", "swipe", "difference"]
    assert "2 × 2 px · 77 B" in made.select_one(".pictures dl").text
    shown = client.get(images[1]["src"])
    assert (shown["Content-Type"], b"".join(shown.streaming_content)) == ("image/png", other)
    assert "00 01" in made.select_one(".hex").text
    assert "at byte 1" in made.get_text()


@pytest.mark.parametrize(
    ("data", "media", "disposition"),
    [
        (PNG, "image/png", "inline"),
        (b"<script>alert(1)</script>", "text/plain; charset=utf-8", "inline"),
        (b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>", "text/plain; charset=utf-8", "inline"),
        (b"\0\1\2", "application/octet-stream", "attachment"),
    ],
)
def test_raw_bytes_never_run_in_a_readers_browser(client, tmp_path, data, media, disposition):
    run = take_in(tmp_path, Story(after={"x.svg": data}))
    response = client.get(file_url(run, "x.svg", raw="new"))
    assert response["Content-Type"] == media
    assert response["Content-Disposition"].startswith(disposition)
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Security-Policy"].startswith("sandbox; default-src 'none'")
    assert client.get(file_url(run, "x.svg", raw="old")).status_code == 404
    saved = client.get(file_url(run, "x.svg", raw="new", save="1"))
    assert saved["Content-Disposition"].startswith("attachment")
    assert saved["Content-Type"] == "application/octet-stream"


def lay_out(folder, world: World) -> None:
    for path, data in world.files.items():
        target = os.fsencode(folder) + b"/" + os.fsencode(path)
        os.makedirs(os.path.dirname(target), exist_ok=True)  # noqa: PTH103, PTH120  paths are bytes here
        with open(target, "wb") as file:  # noqa: PTH123
            file.write(data)
        os.chmod(target, int(mode(path)[-3:], 8))  # noqa: PTH101
    for path, link in world.links.items():
        os.symlink(link, folder / path)  # noqa: PTH211


def everything(folder) -> dict[bytes, bytes]:
    found = {}
    for place, folders, names in os.walk(os.fsencode(folder)):
        folders[:] = [name for name in folders if name != b".git"]
        for name in names:
            path = os.path.join(place, name)  # noqa: PTH118
            is_link = os.path.islink(path)  # noqa: PTH114
            with open(path, "rb") if not is_link else open(os.devnull, "rb") as file:  # noqa: PTH123
                found[os.path.relpath(path, os.fsencode(folder))] = os.readlink(path) if is_link else file.read()  # noqa: PTH115
    return found


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed; on Debian: apt install git")
def test_git_apply_takes_the_patch_and_gives_the_agents_world(client, tmp_path):
    import random

    after = World()
    unsolved(after, random.Random(1))
    large = "data/large.txt"
    run = take_in(tmp_path, Story(before=START, after=after.files, links=after.links))
    response = client.get(trial_url(run, "changes/patch/"))
    patch = b"".join(response.streaming_content)
    assert response["Content-Disposition"].startswith("attachment")
    assert b"# left out: data/large.txt" in patch
    place = tmp_path / "apply"
    place.mkdir()
    lay_out(place, World())
    subprocess.run(["git", "init", "-q"], cwd=place, check=True)
    done = subprocess.run(["git", "apply", "-"], cwd=place, input=patch, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    wanted = {os.fsencode(path): data for path, data in after.files.items() if path != large}
    wanted |= {os.fsencode(path): os.fsencode(link) for path, link in after.links.items()}
    assert everything(place) == wanted
    assert os.access(place / "tools/run.sh", os.X_OK)


@pytest.mark.parametrize("state", ["held", "redacted", "missing"])
def test_a_blob_that_may_not_be_shown_is_shown_nowhere(client, tmp_path, state):
    secret = b"the secret key is 12345\n"
    story = Story(
        before={"a.txt": b"old\n"}, after={"a.txt": secret}, attached=[("k", "log", "text/plain", secret)], kept=True
    )
    run = take_in(tmp_path, story)
    seen = client.get(file_url(run, "a.txt"))
    assert b"12345" in seen.content
    Blob.objects.filter(digest=sha256(secret)).update(state=state)
    pages = [trial_url(run, "changes/"), file_url(run, "a.txt"), trial_url(run, "artifacts/k/")]
    pages += [trial_url(run, f"workspace/?f={to_address('a.txt')}"), f"/a/{sha256(secret)}/"]
    for page in pages:
        response = client.get(page, headers={"If-None-Match": seen.get("ETag", "")})
        assert response.status_code == 200, page
        assert b"12345" not in response.content, page
    patch = b"".join(client.get(trial_url(run, "changes/patch/")).streaming_content)
    assert b"12345" not in patch
    assert b"left out: a.txt" in patch
    told = {"held": b"is held back until a curator decides", "redacted": b"was redacted", "missing": b"was never sent"}
    assert told[state] in patch
    raws = [file_url(run, "a.txt", raw="new"), trial_url(run, "artifacts/k/?raw=1"), f"/a/{sha256(secret)}/?raw=1"]
    raws.append(trial_url(run, f"workspace/file/?f={to_address('a.txt')}"))
    assert {client.get(page).status_code for page in raws} == {404}


@pytest.mark.parametrize(
    "record", [b"not json", b"{}", b'{"format": "benchsite/changes/1", "changes": [{"path": "../x"}]}']
)
def test_a_damaged_record_is_one_sentence_not_a_crash(client, tmp_path, record):
    run = take_in(tmp_path, Story(record=record))
    assert "record" in text(client.get(trial_url(run, "changes/")))
    assert client.get(trial_url(run, "changes/patch/")).status_code == 404
    assert client.get(trial_url(run, "workspace/")).status_code == 200


def test_a_part_is_the_same_answer_for_the_same_bytes(client, tmp_path, settings):
    settings.DEBUG = False
    run = take_in(tmp_path, Story(before={"a.txt": OLD}, after={"a.txt": NEW}))
    first = client.get(file_url(run, "a.txt", part="file"))
    again = client.get(file_url(run, "a.txt", part="file"), headers={"If-None-Match": first["ETag"]})
    assert again.status_code == 304
    assert "private" in again["Cache-Control"]
    other = client.get(file_url(run, "a.txt", part="file", view="unified"), headers={"If-None-Match": first["ETag"]})
    assert other.status_code == 200


def test_many_files_cost_no_more_queries(client, tmp_path):
    run = take_in(tmp_path, Story(after={f"d{n % 9}/f{n}.py": b"x = %d\n" % n for n in range(120)}))
    with CaptureQueriesContext(connection) as asked:
        response = client.get(trial_url(run, "changes/"))
    assert len(soup(response).select("details.file")) == 120
    assert len(asked) <= 12


def test_a_file_that_did_not_change_is_absent(client, tmp_path):
    run = take_in(tmp_path, Story(before={"a": b"1\n", "b": b"1\n"}, after={"a": b"2\n", "b": b"1\n"}))
    assert client.get(file_url(run, "a")).status_code == 200
    assert client.get(file_url(run, "b")).status_code == 404
    assert client.get(trial_url(run, "changes/file/?f=Li4vYQ")).status_code == 404


def test_thousands_of_files_stand_on_pages_and_none_is_left_out(client, tmp_path):
    names = {f"f{n:03}.txt": b"%d\n" % n for n in range(305)}
    run = take_in(tmp_path, Story(before={}, after=names))
    first, last = (soup(client.get(trial_url(run, f"changes/?page={page}"))) for page in (1, 9))
    shown = [[link.get_text(strip=True)[1:9] for link in made.select("[data-file-link]")] for made in (first, last)]
    assert [len(files) for files in shown] == [300, 5]
    assert sorted(shown[0] + shown[1]) == sorted(names)
    assert "305 files" in first.select_one(".diff-sum").get_text()
    assert [a["href"] for a in first.select(".pager a[rel=next]")] == ["?page=2", "?page=2"]


def test_only_the_files_that_failures_name_are_shown_where_that_is_asked(client, tmp_path):
    log = b"FAILED tests/test_m.py::test_x - src/m.py:2: boom\ntests/test_fine.py::test_y PASSED\n"
    issue = {"severity": "info", "phase": "execution", "code": "tests_edited", "sentence": "A test was edited."}
    story = Story(
        after=dict.fromkeys(("src/m.py", "tests/test_m.py", "tests/test_fine.py", "odd.py", "guarded.py"), b"x\n"),
        attached=[("suite.log", "log", "text/plain", log), ("request-1.stderr", "log", "text/plain", b"odd.py:1")],
        observed=[{"measure": "resolved", "value": False, "reason": "src/m.py is still wrong"}],
        extra=[
            {"type": "issue", **issue, "detail": 'file "tests/test_m.py", line 1'},
            {"type": "guard", "sentence": "Expected 'x' to be in guarded.py.", "late": False, "where": "b.py:1"},
        ],
    )
    run = take_in(tmp_path, story)
    every = soup(client.get(trial_url(run, "changes/")))
    assert len(every.select("details.file")) == 5
    link = next(link for link in every.select(".option a") if link.text == "Failed")
    with CaptureQueriesContext(connection) as asked:
        made = soup(client.get(trial_url(run, f"changes/{link['href']}")))
    assert len(asked) <= 12
    named = {
        head.select_one(".file-path").text: head.select_one(".tag.warn").text for head in made.select(".file-head")
    }
    assert named == {
        "guarded.py": "named by guard",
        "src/m.py": "named by suite.log, resolved",
        "tests/test_m.py": "named by tests_edited, suite.log",
    }
    assert "2 more are not named." in made.get_text()
    part = client.get(file_url(run, "src/m.py", files="failed", part="file"))
    assert soup_of_part(part).select_one(".tag.warn").text == "named by suite.log, resolved"
    # one that solved it and has no flag has nothing that could name a file
    good = {"outcome": "solved", "headline": 1.0}
    solved = take_in(tmp_path / "s", Story(after={"a.py": b"1\n"}, finished=good), seed=2)
    assert "Failed" not in [link.text for link in soup(client.get(trial_url(solved, "changes/"))).select(".option a")]
    said = text(client.get(trial_url(solved, "changes/?files=failed")))
    assert "No changed file is named by a failure" in said
