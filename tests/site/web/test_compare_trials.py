"""Two trials beside each other: what each left, who touched what, and what may be compared at all."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from benchsite.artifacts.models import Blob
from benchsite.flows.ingest import ingest
from benchsite.readings.address import to_address
from benchsite.runs.models import Run
from runner.digests import sha256
from tests.make import make_run
from tests.site.web.one_trial import Story, take_in
from tests.site.web.test_trial_pages import soup, text

pytestmark = pytest.mark.django_db
START = {"a.py": b"x = 1\n", "b.py": b"y = 1\n", "c.py": b"z = 1\n", "d.py": b"w = 1\n"}
LEFT = {**START, "a.py": b"x = 2\n", "c.py": b"z = 3\n", "d.py": b"w = 5\n"}
RIGHT = {**START, "b.py": b"y = 9\n", "c.py": b"z = 4\n", "d.py": b"w = 5\n", "new\udcff.txt": b"odd\n"}
SOLVED = {"outcome": "solved", "headline": 1.0}


def address(*trials: str, **query: str) -> str:
    return "/compare/?" + "&".join([f"of={trial}" for trial in trials] + [f"{k}={v}" for k, v in query.items()])


def of(run: Run, index: int = 0) -> str:
    return f"trial:{run.ulid}/{index}"


@pytest.fixture
def two(tmp_path):
    """One trial that missed and one of another run that solved the same."""
    seen = [{"measure": "resolved", "value": False}, {"measure": "collateral", "value": 8}]
    missed = Story(before=START, after=LEFT, observed=seen)
    good = [{"measure": "resolved", "value": True}, {"measure": "collateral", "value": 6}]
    done = Story(before=START, after=RIGHT, observed=good, finished=SOLVED)
    return take_in(tmp_path / "a", missed, seed=1), take_in(tmp_path / "b", done, seed=2)


def test_files_are_parted_by_who_touched_them(client, two):
    made = soup(client.get(address(*map(of, two))))
    groups = [head.get_text(strip=True) for head in made.select(".group-head")]
    assert groups == ["Both changed, differently", "Only A touched", "Only B touched", "Both changed, alike"]
    sums = made.select_one(".diff-sum").get_text(" ", strip=True)
    assert sums == "1 both changed, differently 1 only A touched 2 only B touched 1 both changed, alike"
    assert "z = 3" in made.select_one("#" + made.select_one(".files-group a")["href"][1:]).get_text()
    assert made.select_one(".alike code").get_text() == "d.py"
    assert "\\xff" in made.get_text()


def test_each_end_state_is_also_shown_against_the_common_start(client, two):
    def shown(**query: str) -> set[str]:
        return {
            tag.get_text(strip=True) for tag in soup(client.get(address(*map(of, two), **query))).select(".file-path")
        }

    assert shown(show="a") == {"a.py", "c.py", "d.py"}
    assert shown(show="b") == {"b.py", "c.py", "d.py", "new\\xff.txt"}
    alone = soup(client.get(address(*map(of, two), show="a", f=to_address("d.py"))))
    assert "w = 1" in alone.select_one("td.d.t").get_text()
    assert "w = 5" in alone.select_one("td.a.t").get_text()
    assert client.get(address(*map(of, two), f=to_address("d.py"))).status_code == 404


def test_a_file_that_was_moved_is_one_file_in_each_view(client, tmp_path):
    text_a = b"".join(b"value %d\n" % n for n in range(30))
    start = {"src/a.py": text_a, "b.py": b"y = 1\n"}
    went = Story(before=start, after={"lib/a.py": text_a, "b.py": b"y = 1\n"})
    edited = Story(before=start, after={"core/a.py": text_a.replace(b"value 3\n", b"three\n"), "b.py": b"y = 1\n"})
    pair = [of(take_in(tmp_path / name, story, seed=seed)) for name, story, seed in (("a", went, 1), ("b", edited, 2))]

    def files(show: str) -> list[tuple[str, str]]:
        made = soup(client.get(address(*pair, show=show)))
        heads = [(head.select_one(".letter").text, head.select_one(".file-path")) for head in made.select(".file-head")]
        return [(letter, path.get_text(strip=True)) for letter, path in heads]

    assert files("ab") == [("R", "lib/a.py→core/a.py")]
    assert files("a") == [("R", "src/a.py→lib/a.py")]
    assert files("b") == [("R", "src/a.py→core/a.py")]
    page = soup(client.get(address(*pair)))
    sums = page.select_one(".diff-sum").get_text(" ", strip=True)
    assert sums == "1 both changed, differently 1 both changed, alike"
    # the path it left stands under "alike", and leads to where it went
    gone = soup(client.get(page.select_one(".alike a")["href"]))
    assert "src/a.py→lib/a.py" in gone.select_one(".file-path").get_text(strip=True)
    alone = text(client.get(address(*pair, f=to_address("core/a.py"))))
    assert "Moved, 9" in alone
    assert "Both changed, differently." in alone


def test_observations_that_differ_come_first_with_their_step(client, two):
    rows = soup(client.get(address(*map(of, two)))).select(".pair-table tbody tr")
    lines = {row.th.get_text(strip=True): [cell.get_text(" ", strip=True) for cell in row.select("td")] for row in rows}
    assert [row.th.get_text(strip=True) for row in rows if "differs" in row.get("class", [])][:2] == [
        "resolved",
        "collateral",
    ]
    assert lines["resolved"][:2] == ["no", "yes"]
    assert lines["collateral"] == ["8", "6", "−25 % · B is better"]


def test_what_was_observed_and_which_files_differ_have_twins_that_equal_the_page(client, two):
    page = soup(client.get(address(*map(of, two))))
    links = {link["href"].partition("?")[0]: link["href"] for link in page.select(".twins a")}
    assert sorted(links) == ["files.csv", "files.json", "observations.csv", "observations.json"]
    rows = client.get("/compare/" + links["observations.json"]).json()["rows"]
    cells = [
        [cell.get_text(strip=True) for cell in row.select("th, td")] for row in page.select(".pair-table tbody tr")
    ]
    assert [row["measure"] for row in rows] == [row[0] for row in cells]
    assert [row["change"] or "" for row in rows if row["better"]] == ["", "−25 %"]
    assert (rows[0]["a"], rows[0]["b"], rows[0]["better"], rows[0]["differs"]) == (False, True, "b", True)
    assert (rows[1]["a"], rows[1]["b"], rows[1]["kind"]) == (8, 6, "observed")
    assert {row["measure"]: row["a"] for row in rows if row["kind"] == "spent"}["tokens"] == two[0].trials.get().tokens
    assert client.get("/compare/" + links["observations.csv"]).content.decode().count("\n") == len(rows) + 1
    listed = client.get("/compare/" + links["files.json"]).json()["rows"]
    shown = [link.get_text(strip=True)[1:] for link in page.select(".diff-files li a")]
    assert [row["path"].replace("\\udcff", "\\xff") for row in listed] == shown
    assert {row["who"] for row in listed} == {"differ", "a", "b", "alike"}
    assert client.get("/compare/nothing.csv?" + links["files.csv"].partition("?")[2]).status_code == 404


def test_one_file_is_a_page_a_part_and_its_bytes(client, two):
    where = address(*map(of, two), f=to_address("c.py"))
    assert "Both changed, differently." in text(client.get(where))
    part = client.get(where + "&part=file").content.decode()
    assert part.lstrip().startswith('<div class="file-box">')
    assert b"".join(client.get(where + "&raw=new").streaming_content) == RIGHT["c.py"]
    tag = client.get(where).headers["ETag"]
    assert client.get(where, headers={"if-none-match": tag}).status_code == 304


def test_a_trial_alone_leads_to_the_nearest_solved_one(client, two):
    response = client.get(address(of(two[0])))
    assert response.status_code == 302
    assert response.url == address(of(two[0]), of(two[1]), nearest="1")
    assert "Nearest: a solved trial of the same case" in text(client.get(response.url))
    alone = client.get(address(of(two[1])))
    assert alone.status_code == 200
    assert "No solved trial of fix_bug" in alone.content.decode()


def test_nearest_is_the_same_cell_before_another_and_the_same_run_before_all(client, tmp_path):
    run = ingest(make_run(tmp_path, cells=3, scenarios=1, trials=6, fates=False, seed=5), verdict="accepted")
    for trial in run.trials.filter(outcome="unsolved"):
        where = client.get(address(of(run, trial.index))).url
        near = run.trials.get(index=int(where.partition("&of=")[2].partition("&")[0].rpartition("/")[2]))
        assert near.outcome == "solved"
        same_cell = run.trials.filter(cell=trial.cell, outcome="solved")
        if same_cell.exists():
            assert near.cell_id == trial.cell_id
            best = min(abs(n - trial.number) for n in same_cell.values_list("number", flat=True))
            assert abs(near.number - trial.number) == best


def test_what_cannot_be_compared_is_refused_in_a_sentence(client, tmp_path, two):
    run = ingest(make_run(tmp_path / "c", cells=1, scenarios=2, trials=2, seed=7), verdict="accepted")
    other = ingest(
        make_run(tmp_path / "d", bench="acme/other", cells=1, scenarios=1, trials=1, seed=8), verdict="accepted"
    )
    slugs = {slug: index for index, slug in run.trials.values_list("index", "scenario__slug")}
    one, another = (of(run, index) for index in slugs.values())
    for asked, said in (
        ((one, another), "they were asked different things"),
        ((one, of(other)), "only trials of one scenario"),
        ((one, *map(of, two)), "two at a time; 3 were named"),
        ((one, f"run:{run.ulid}"), "one kind"),
        (("house:1", one), "names nothing that can be compared"),
    ):
        response = client.get(address(*asked))
        assert response.status_code == 400
        assert said in response.content.decode()
    assert "Nothing was named" in text(client.get("/compare/"))


def test_a_trial_the_reader_may_not_see_is_absent(client, tmp_path, two):
    hidden = take_in(tmp_path / "h", Story(before=START, after=LEFT, finished=SOLVED), seed=9, verdict="submitted")
    gone = f"trial:{'0' * 26}/0"
    for bad in (of(hidden), gone, of(two[0], 7), f"trial:{two[0].ulid}", f"trial:{two[0].ulid}/x"):
        assert client.get(address(of(two[0]), bad)).status_code == 404
    told = []
    for bad in (of(hidden), gone):
        with CaptureQueriesContext(connection) as asked:
            response = client.get(address(of(two[0]), bad))
        told.append((response.content, sorted(response.headers.items()), len(asked)))
    assert told[0] == told[1]
    Run.objects.filter(pk=two[1].pk).update(verdict="submitted")
    assert "No solved trial" in client.get(address(of(two[0]))).content.decode()


def test_worlds_that_began_differently_are_told_apart_from_what_agents_did(client, tmp_path, two):
    world = {**START, "a.py": b"x = 7\n"}
    later = take_in(tmp_path / "n", Story(before=world, after=world), seed=4, definition="two")
    said = text(client.get(address(of(two[1]), of(later))))
    assert "The scenario is not the same in both runs. It differs in: template" in said
    assert "neither touched; different from the start" in said
    assert "x = 7" in said


def test_content_that_is_held_back_is_said_and_nothing_of_it_shown(client, two):
    Blob.objects.filter(digest=sha256(RIGHT["c.py"])).update(state="held")
    where = address(*map(of, two), f=to_address("c.py"))
    assert "withheld or missing" in text(client.get(where))
    assert "z = 4" not in text(client.get(address(*map(of, two))))
    assert client.get(where + "&raw=new").status_code == 404


def test_comparing_asks_at_most_twelve_queries(client, two):
    with CaptureQueriesContext(connection) as asked:
        assert client.get(address(*map(of, two))).status_code == 200
    assert len(asked) <= 12, [query["sql"][:120] for query in asked]


WORLD = "/home/x/worlds/01KE6SJT80DTK735GTMYQG0JA{0}/{0}-1/world"


def say(role: str, kind: str, said: str, **more) -> dict:
    return {"role": role, "kind": kind, "text": said, **more}


def steps_of(mark: int, end: str) -> list[dict]:
    call = {"tool": "shell", "arguments": {"command": "pytest"}}
    beginning = [say("user", "message", f"Fix {n} in {WORLD.format(mark)}, it took 0.{mark} s") for n in range(10)]
    own = [say("assistant", "tool_call", "", tool="edit", arguments={"path": f"{mark}-{n}.py"}) for n in range(mark)]
    return [
        *beginning,
        *own,
        say("assistant", "tool_call", "", **call),
        say("tool", "observation", f"{end}\n", exit_code=0),
        say("assistant", "message", "Bye."),
    ]


@pytest.fixture
def talks(tmp_path):
    return [
        take_in(tmp_path / str(n), Story(steps=steps_of(n, end)), seed=n) for n, end in ((1, "1 failed"), (3, "ok"))
    ]


def test_transcripts_stand_side_by_side_with_their_common_beginning_folded(client, talks):
    made = soup(client.get(address(*map(of, talks), what="transcript")))
    rows = made.select(".talk-row:not(.talk-head)")
    assert rows[0].get_text(strip=True) == "10 steps alike at the beginning"
    assert made.select_one("#divergence").find_next_sibling().select_one(".step-n").get_text() == "1.11"
    kinds = [next(name for name in row["class"] if name.startswith("is-")) for row in rows[1:]]
    assert sorted(kinds) == ["is-b", "is-b", "is-pair", "is-pair", "is-same", "is-same"]
    ends = next(row for row in rows if "failed" in row.get_text())
    assert [cell.pre.get_text() for cell in ends.select(".talk-cell")] == ["1 failed\n", "ok\n"]
    assert "apart from the folder a trial ran in" in made.get_text()
    shown = soup(client.get(address(*map(of, talks), what="transcript", same="shown")))
    assert len(shown.select(".talk-row:not(.talk-head)")) == 10 + 6


def test_transcripts_without_a_difference_say_so(client, talks, tmp_path):
    again = take_in(tmp_path / "again", Story(steps=steps_of(1, "1 failed")), seed=6)
    said = text(client.get(address(of(talks[0]), of(again), what="transcript", page="99")))
    assert "They do not diverge." in said
    assert "14 steps alike at the beginning" in said


def test_a_transcript_held_back_is_said_beside_the_other(client, talks):
    digest = talks[0].trials.get().tries.get().record["requests"][0]["transcript"]
    Blob.objects.filter(digest=digest).update(state="held")
    made = soup(client.get(address(*map(of, talks), what="transcript")))
    assert "is held back until a curator decides" in made.get_text()
    assert "Fix 1" in made.get_text()
    assert all("none" in row.select_one(".talk-cell")["class"] for row in made.select(".is-b"))


def test_one_click_leads_from_matrix_strip_and_trial_page_to_what_a_solved_trial_did_otherwise(client, tmp_path):
    run = ingest(make_run(tmp_path, cells=3, scenarios=2, trials=4, fates=False, seed=5), verdict="accepted")
    unsolved = run.trials.filter(outcome="unsolved").select_related("cell", "scenario").first()
    here = f"/runs/{run.ulid}/"
    for page, mark in (
        ("", ".matrix .vs"),
        ("?turn=1", "td .vs"),
        (f"s/{unsolved.scenario.slug}/", ".versus"),
        (f"c/{unsolved.cell.key10}/", ".versus"),
    ):
        for link in soup(client.get(here + page)).select(mark):
            where = link["href"] if link["href"].startswith("/") else here + link["href"]
            made = soup(client.get(where, follow=True))
            chips = [chip.get_text(strip=True) for chip in made.select(".pair-line .chip")]
            assert chips == ["unsolved", "solved"], (page, where)
            assert "Nearest" in made.get_text()
    (link,) = soup(client.get(f"{here}t/{unsolved.index}/")).select(".trial-nav a[title^=What]")
    assert link["href"] == address(of(run, unsolved.index))
    siblings = soup(client.get(f"{here}t/{unsolved.index}/")).select(".menu a")
    assert all(client.get(one["href"]).status_code == 200 for one in siblings)
    form = soup(client.get(f"{here}trials?scenario={unsolved.scenario.slug}")).select_one("form[action='/compare/']")
    ticked = [box["value"] for box in form.select("input[name=of]")][:2]
    assert client.get(address(*ticked)).status_code == 200
    assert client.get(f"{here}versus?cell=0000000000").status_code == 404


def three_rows(made) -> list[list[str]]:
    return [[cell.get_text() for cell in row.select("td.t")] or [row.get_text()] for row in made.select(".three tr")]


def test_start_and_both_ends_stand_in_three_columns_along_the_starts_lines(client, tmp_path):
    start = [f"line {n}" for n in range(20)]
    left = [*start[:2], "mine", *start[2:9], "A9", *start[10:18], "same"]
    right = [*start[:9], "B9", "B9b", *start[10:12], *start[13:18], "same"]
    worlds = [{"a.txt": "\n".join(lines).encode() + b"\n"} for lines in (start, left, right)]
    a = take_in(tmp_path / "a", Story(before=worlds[0], after=worlds[1]), seed=1)
    b = take_in(tmp_path / "b", Story(before=worlds[0], after=worlds[2]), seed=2)
    made = soup(client.get(address(of(a), of(b), what="three", context="all")))
    rows = three_rows(made)
    assert [row[0] for row in rows if row[0]] == start
    assert [row[1] for row in rows if row[1]] == left
    assert [row[2] for row in rows if row[2]] == right
    kinds = [(row["class"][0], [cell.get_text() for cell in row.select("td.t")]) for row in made.select(".three tr")]
    told = [(kind, cells) for kind, cells in kinds if kind != "k-equal"]
    assert told[0] == ("k-a", ["", "mine", ""])
    assert ("k-differ", ["line 9", "A9", "B9"]) in told
    assert ("k-differ", ["", "", "B9b"]) in told
    assert ("k-b", ["line 12", "line 12", ""]) in told
    assert ("k-alike", ["line 18", "same", "same"]) in told
    folded = three_rows(soup(client.get(address(of(a), of(b), what="three"))))
    assert len(folded) == len(rows)  # no stretch is long enough to be left out


def test_a_file_that_a_side_moved_stands_in_its_column_where_it_went(client, tmp_path):
    start = b"".join(b"line %d\n" % n for n in range(20))
    edited = start.replace(b"line 9\n", b"nine\n")
    stories = [Story(before={"a.txt": start}, after=after) for after in ({"x/a.txt": edited}, {"y/a.txt": start})]
    pair = [of(take_in(tmp_path / str(n), story, seed=n)) for n, story in enumerate(stories, 1)]
    made = soup(client.get(address(*pair, what="three")))
    head = made.select_one(".three-head").get_text()
    assert "moved to x/a.txt" in head
    assert "moved to y/a.txt" in head
    assert ["line 9", "nine", "line 9"] in three_rows(made)
    assert three_rows(made)[0] == ["6 lines that neither changed"]
    back = soup(client.get(address(pair[1], pair[0], what="three")))
    assert ["line 9", "line 9", "nine"] in three_rows(back)


def test_what_has_no_three_texts_is_said(client, tmp_path):
    before, left, right = ({"logo": b"\0\1" + end} for end in (b"", b"a", b"b"))
    a = take_in(tmp_path / "a", Story(before=before, after=left), seed=1)
    b = take_in(tmp_path / "b", Story(before=before, after=right), seed=2)
    assert "Not all three sides are text" in text(client.get(address(of(a), of(b), what="three")))
    same = take_in(tmp_path / "c", Story(before=before, after=left), seed=3)
    assert "No file was changed by both in different ways" in text(client.get(address(of(a), of(same), what="three")))
