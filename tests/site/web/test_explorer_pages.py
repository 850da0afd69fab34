"""The explorer: start and end, what became of a file, search and its bounds, zips that are safe to unpack."""

from __future__ import annotations

import io
import json
import zipfile

import pytest

from benchsite.artifacts.models import Blob
from benchsite.flows.ingest import ingest
from benchsite.readings import worldfind, worldzip
from benchsite.readings.address import to_address
from runner.blobs import BlobStore
from runner.digests import sha256
from runner.exchange.bundle import open_bundle, write_bundle
from tests.site.web.one_trial import Story, take_in, write
from tests.site.web.test_trial_pages import soup, text, trial_url

pytestmark = pytest.mark.django_db
ODD = "odd\udcff\\..\\name.txt"
BEFORE = {"src/a.py": b"def f():\n    return 1\n", "gone.txt": b"moved words\n", "same.txt": b"s\n", "logo": b"\0\1"}
AFTER = {
    "src/a.py": b"def f():\n    return 2\n", "src/deep/b.py": b"Needle = 1\n" * 9, "came.txt": b"moved words\n",
    "same.txt": b"s\n", "logo": b"\0\1", "big.txt": b"z" * 300_000, ODD: b"here\n",
}  # fmt: skip
LINKS = {"out": "../../etc/passwd"}


def page(run, query: str = "") -> str:
    return trial_url(run, f"workspace/{query}")


def unzipped(response) -> zipfile.ZipFile:
    assert response.status_code == 200
    assert response["Content-Disposition"].startswith("attachment")
    assert response["X-Content-Type-Options"] == "nosniff"
    return zipfile.ZipFile(io.BytesIO(b"".join(response.streaming_content)))


@pytest.fixture
def run(tmp_path):
    return take_in(tmp_path, Story(before=BEFORE, after=AFTER, links=LINKS))


def test_the_start_state_is_shown_from_a_bundle_alone(client, tmp_path):
    """The template's files travel as blobs: nothing of the bench's folder is needed."""
    run_dir = write(tmp_path / "there", Story(before=BEFORE, after=AFTER))
    bundle = write_bundle(run_dir, tmp_path / "run.zip")
    with open_bundle(bundle) as opened:
        assert sha256(BEFORE["gone.txt"]) in opened.digests
        bench = tmp_path / "here" / ".bench"
        here = opened.unpack(bench / "runs" / opened.run, BlobStore(bench / "blobs"))
    run = ingest(here, verdict="accepted")
    made = soup(client.get(page(run, "?at=start")))
    assert "As it began." in made.get_text()
    rows = [row.th.bdi.get_text() for row in made.select(".ws-list tbody tr")]
    assert rows == ["src", "gone.txt", "logo", "same.txt"]
    assert "return 1" in text(client.get(page(run, f"?at=start&f={to_address('src/a.py')}")))
    raw = client.get(page(run, f"file/?at=start&f={to_address('gone.txt')}"))
    assert b"".join(raw.streaming_content) == BEFORE["gone.txt"]
    assert client.get(page(run, f"?at=start&f={to_address('came.txt')}")).status_code == 404
    assert client.get(page(run, "?at=middle")).status_code == 404


def test_what_the_agent_deleted_stays_in_the_tree_and_leads_to_the_start(client, run):
    gone = soup(client.get(page(run))).select_one(".ws-list tr.gone")
    assert gone.bdi.get_text() == "gone.txt"
    assert "moved words" in text(client.get(page(run, gone.a["href"])))


def test_the_history_of_a_file_names_every_state_it_had(client, tmp_path):
    run = take_in(tmp_path, Story(before=BEFORE, after=AFTER, kept=True))

    def states(path: str) -> list[str]:
        made = soup(client.get(page(run, f"?f={to_address(path)}")))
        return [" ".join(row.get_text(" ", strip=True).split()) for row in made.select(".ws-history li")]

    edited = states("src/a.py")
    assert [row.split(" 2")[0] for row in edited] == ["at the start", "after the agent M", "in the kept workspace"]
    assert edited[0].endswith("show")
    assert edited[1].endswith("diff")
    assert states("same.txt")[1] == "after the agent the same"
    moved = states("came.txt")
    assert moved[0] == "at the start not there"
    assert "the bytes of gone.txt , which was deleted" in moved[1]


def test_paths_are_found_by_a_part_of_their_name_or_a_pattern(client, run):
    def hits(words: str) -> list[str]:
        return [tag.get_text() for tag in soup(client.get(page(run, f"?find={words}"))).select(".hits > li > a")]

    assert hits("A.PY") == ["src/a.py"]
    assert hits("src/*.py") == ["src/a.py", "src/deep/b.py"]
    assert hits("name") == ["odd\\xff\\..\\name.txt"]
    assert "Nothing was found." in text(client.get(page(run, "?find=<script>")))


def test_content_is_found_with_its_lines_and_what_was_passed_over_is_counted(client, run):
    made = soup(client.get(page(run, "?find=needle&in=content")))
    (hit,) = made.select(".hits > li")
    assert hit.a["href"].endswith(f"f={to_address('src/deep/b.py')}#L1")
    assert [row.get_text() for row in hit.select("td.ln")] == ["1", "2", "3", "4", "5"]
    assert "and 4 more lines in this file" in hit.get_text()
    assert hit.mark.get_text() == "Needle"
    said = made.select_one(".ws-found .section-head p").get_text()
    assert "Searched 6 files" in said
    assert "1 file binary, not searched." in said
    started = soup(client.get(page(run, "?at=start&find=moved&in=content")))
    assert [tag.get_text() for tag in started.select(".hits > li > a")] == ["gone.txt"]


def test_a_search_says_where_it_stopped_and_shows_nothing_that_is_held(client, run, monkeypatch):
    Blob.objects.filter(digest=sha256(AFTER["src/deep/b.py"])).update(state="held")
    said = text(client.get(page(run, "?find=needle&in=content")))
    assert "Nothing was found." in said
    assert "1 file withheld here, not searched." in said
    monkeypatch.setattr(worldfind, "FILES", 2)
    stopped = soup(client.get(page(run, "?find=needle&in=content")))
    assert "The search stopped there" in stopped.get_text()
    on = next(a["href"] for a in stopped.select(".ws-found a") if a.get_text() == "Search on")
    assert on == "?find=needle&in=content&after=2"
    assert "4 files left" not in text(client.get(page(run, on)))
    monkeypatch.setattr(worldfind, "HITS", 1)
    assert "Only the first 1 are listed." in text(client.get(page(run, "?find=src")))


def test_a_zip_holds_a_worlds_files_and_names_what_it_could_not(client, run):
    made = unzipped(client.get(page(run, "zip/")))
    assert made.testzip() is None
    names = made.namelist()
    assert made.read("src/a.py") == AFTER["src/a.py"]
    assert "out" not in names
    assert not any(".." in name.split("/") or "\\" in name for name in names)
    assert made.read("odd_.._name.txt".replace("odd_", "odd__")) == b"here\n"
    notes = made.read("NOT-IN-THIS-ZIP.txt").decode()
    assert "out: a symbolic link to ../../etc/passwd; links are not packed" in notes
    assert "big.txt: its 300.0 kB were too large to be stored" in notes
    assert "odd\\udcff\\..\\name.txt: is here as odd__.._name.txt" in notes


def test_a_folder_is_packed_alone_at_either_moment(client, run):
    made = unzipped(client.get(page(run, f"zip/?f={to_address('src')}")))
    assert [name for name in made.namelist() if not name.endswith("/")] == ["a.py", "deep/b.py"]
    start = unzipped(client.get(page(run, f"zip/?at=start&f={to_address('src')}")))
    assert start.read("a.py") == BEFORE["src/a.py"]
    assert client.get(page(run, f"zip/?f={to_address('src/a.py')}")).status_code == 404
    assert client.get(page(run, f"zip/?f={to_address('nowhere')}")).status_code == 404


def test_a_zip_leaves_out_what_is_held_and_refuses_what_is_too_large(client, run, monkeypatch):
    Blob.objects.filter(digest=sha256(AFTER["src/a.py"])).update(state="held")
    shown = soup(client.get(page(run, f"?f={to_address('src/a.py')}")))
    assert not [link for link in shown.select(".file-view-head a") if "Download" in link.get_text()]
    made = unzipped(client.get(page(run, "zip/")))
    assert "src/a.py" not in made.namelist()
    assert "src/a.py: its content is held" in made.read("NOT-IN-THIS-ZIP.txt").decode()
    monkeypatch.setattr(worldzip, "BYTES", 100)
    refused = client.get(page(run, "zip/"))
    assert refused.status_code == 413
    assert f"Run `benchsite open {run.ulid}:0`" in refused.content.decode()


def test_the_command_that_opens_it_locally_can_be_copied(client, run):
    made = soup(client.get(page(run)))
    assert made.select_one(".ws-open code").get_text() == f"benchsite open {run.ulid}:0"
    assert made.select_one(".ws-open [data-copy]")["data-copy"] == f"benchsite open {run.ulid}:0"


@pytest.mark.parametrize("kind", ["fifo", "socket", "device", "unreadable"])
def test_what_is_no_file_is_named_and_never_opened(client, tmp_path, kind):
    entry = {"path": "odd", "type": kind, "mode": "000000", "size": 0, "sha256": None, "target": None, "stored": False}
    tree = json.dumps({"format": "benchsite/tree/1", "entries": [entry]}).encode()
    run = take_in(tmp_path, Story(before=BEFORE, tree=tree))
    assert "there is no content to show" in text(client.get(page(run, f"?f={to_address('odd')}")))
    assert soup(client.get(page(run))).select_one(".ws-list .tag")
    assert client.get(page(run, f"file/?f={to_address('odd')}")).status_code == 404
    assert "odd: a " in unzipped(client.get(page(run, "zip/"))).read("NOT-IN-THIS-ZIP.txt").decode()


def test_a_record_kept_in_memory_is_still_withheld_once_it_is_held(client, run):
    for tab in ("workspace/", "changes/"):
        assert "came.txt" in text(client.get(trial_url(run, tab)))
    Blob.objects.filter(digest=run.trials.get().changes).update(state="held")
    for tab in ("workspace/", "changes/"):
        said = text(client.get(trial_url(run, tab)))
        assert "is held back until a curator decides" in said
        assert "came.txt" not in said


def test_what_setup_wrote_and_nobody_recorded_is_said_to_be_missing(client, run):
    assert "The bench has a setup" not in text(client.get(page(run)))
    version = run.version
    version.hashes = {**version.hashes, "setup": "0" * 64}
    version.save()
    for moment in ("", "?at=start"):
        assert "of what it wrote only those files are here that the agent changed" in text(
            client.get(page(run, moment))
        )
