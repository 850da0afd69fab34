"""The workspace browser and the pages of artifacts and blobs: what is there, what is rebuilt, what cannot be."""

from __future__ import annotations

import csv
import io
import json
from urllib.parse import urljoin

import pytest

from benchsite.artifacts.models import BlobUse
from benchsite.readings.address import to_address
from runner.digests import sha256
from tests.make import make_user
from tests.make_world import PNG
from tests.site.web.one_trial import Story, take_in
from tests.site.web.test_trial_pages import soup, text, trial_url

pytestmark = pytest.mark.django_db
BEFORE = {"src/a.py": b"def f():\n    return 1\n", "gone.txt": b"x\n", "same.txt": b"s\n"}
AFTER = {"src/a.py": b"def f():\n    return 2\n", "new/b.py": b"y = 1\n", "same.txt": b"s\n", "big.txt": b"z" * 300_000}


def at(run, path: str) -> str:
    return trial_url(run, f"workspace/?f={to_address(path)}")


def listing(made) -> dict[str, list[str]]:
    rows = made.select(".ws-list tbody tr")
    return {row.th.bdi.text: [cell.get_text(strip=True) for cell in row.select("td")] for row in rows}


def twin_of(client, run, tab: str) -> list[dict]:
    """The rows of the twin that a tab of the trial links; both kinds have as many."""
    page = trial_url(run, tab)
    as_csv, as_json = [a["href"] for a in soup(client.get(page)).select("main .twins a")][-2:]
    rows = client.get(urljoin(page, as_json)).json()["rows"]
    text = client.get(urljoin(page, as_csv)).content.decode()
    assert len(list(csv.reader(io.StringIO(text)))) == len(rows) + 1
    return rows


def test_a_kept_workspace_is_browsed_with_status_marks(client, tmp_path):
    run = take_in(tmp_path, Story(before=BEFORE, after=AFTER, links={"out": "../../etc/passwd"}, kept=True))
    made = soup(client.get(trial_url(run, "workspace/")))
    rows = listing(made)
    assert list(rows) == ["new", "src", "big.txt", "gone.txt", "out", "same.txt"]
    assert rows["src"][0] == "1 change"
    assert rows["big.txt"][0] == "A"
    assert rows["same.txt"][0] == ""
    assert "Kept exactly" in made.get_text()
    assert "gone.txt" in made.select_one(".deleted").text
    twin = [(row["path"], row["change"], row["size"], row["mode"]) for row in twin_of(client, run, "workspace/")]
    shown = {name: (letter if len(letter) == 1 else "", mode) for name, (letter, _, mode) in rows.items()}
    assert {path: (letter or "", mode or "") for path, letter, _, mode in twin} == shown
    assert dict(zip(rows, (row[2] for row in twin), strict=True))["big.txt"] == 300_000
    inside = twin_of(client, run, f"workspace/?at=start&f={to_address('src')}")
    assert [row["path"] for row in inside] == ["src/a.py"], "of the folder and the world that is looked at"
    assert not soup(client.get(at(run, "src/a.py"))).select(".twins"), "a file is no table"


def test_a_file_is_shown_with_colours_and_line_links(client, tmp_path):
    run = take_in(tmp_path, Story(before=BEFORE, after=AFTER, kept=True))
    made = soup(client.get(at(run, "src/a.py")))
    assert made.select_one("tr#L2 td.ln a")["href"] == "#L2"
    assert made.select_one("tr#L1 .k").text == "def"
    assert made.select_one('.ws-tree a[aria-current="page"]').get_text(strip=True).startswith("a.py")


def test_a_very_long_file_is_coloured_at_its_head_and_says_so(client, tmp_path):
    data = b"x = 1\n" * 5_100
    run = take_in(tmp_path, Story(before={"a.py": data}, after={"a.py": data}, kept=True))
    response = client.get(trial_url(run, f"workspace/?f={to_address('a.py')}"))
    assert "Only the first 5,000 lines are coloured." in text(response)
    rows = soup(response).select(".code tr")
    assert [bool(rows[n].select("span")) for n in (4_999, 5_000)] == [True, False]


def test_a_link_is_shown_as_what_it_is_and_never_followed(client, tmp_path):
    run = take_in(tmp_path, Story(after={"a": b"1\n"}, links={"out": "/etc/passwd"}, kept=True))
    assert "/etc/passwd" in text(client.get(at(run, "out")))
    assert "never followed" in text(client.get(at(run, "out")))
    raw = trial_url(run, f"workspace/file/?f={to_address('out')}")
    assert client.get(raw).status_code == 404


def test_a_workspace_that_was_not_kept_is_rebuilt_and_says_so(client, tmp_path):
    run = take_in(tmp_path, Story(before=BEFORE, after=AFTER, ignored=["node_modules/<b>.js", ".venv\nx"]))
    made = soup(client.get(trial_url(run, "workspace/")))
    said = made.select_one(".banner").get_text()
    assert "Rebuilt, not kept" in said
    assert "big.txt" in said.split("Could not be rebuilt:")[1]
    assert "node_modules/<b>.js (the capture ignores it)" in said
    told = soup(client.get(trial_url(run, "changes/"))).get_text()
    assert "in no record, because the capture ignores it: node_modules/<b>.js, .venv" in told
    patch = b"".join(client.get(trial_url(run, "changes/patch/")).streaming_content)
    assert patch.startswith(
        b'# left out: node_modules/<b>.js: the capture ignores it\n# left out: ".venv\\nx": the capture'
    )
    assert list(listing(made)) == ["new", "src", "big.txt", "gone.txt", "same.txt"]
    assert "return 2" in text(client.get(at(run, "src/a.py")))
    raw = trial_url(run, f"workspace/file/?f={to_address('src/a.py')}")
    assert b"".join(client.get(raw).streaming_content) == AFTER["src/a.py"]


def test_a_file_too_large_to_be_stored_is_named_not_shown(client, tmp_path):
    run = take_in(tmp_path, Story(before=BEFORE, after=AFTER))
    assert "too large to be stored" in text(client.get(at(run, "big.txt")))


@pytest.mark.parametrize("path", ["gone.txt", "nowhere", "src/a.py/x"])
def test_a_path_that_is_not_there_is_absent(client, tmp_path, path):
    run = take_in(tmp_path, Story(before=BEFORE, after=AFTER, kept=True))
    assert client.get(at(run, path)).status_code == 404
    assert client.get(trial_url(run, f"workspace/file/?f={to_address(path)}")).status_code == 404


def test_a_name_that_is_not_utf_8_opens_by_its_bytes(client, tmp_path):
    odd = "odd \udcff name.txt"
    run = take_in(tmp_path, Story(after={odd: b"here\n"}, kept=True))
    assert "\\xff" in text(client.get(trial_url(run, "workspace/")))
    assert "odd \\udcff name.txt" in [row["path"] for row in twin_of(client, run, "workspace/")]
    assert "here" in text(client.get(at(run, odd)))
    response = client.get(trial_url(run, f"workspace/file/?f={to_address(odd)}&save=1"))
    assert response["Content-Disposition"] == 'attachment; filename="odd _ name.txt"'


EVIDENCE = [
    ("suite.log", "log", "text/plain", b"\x1b[32mok\x1b[0m\n"),
    ("shot/one.png", "image", "text/html", PNG),
    ("report.html", "page", "text/html", b"<script>alert(1)</script>"),
    ("core", "dump", "", b"\0\1\2"),
    ("empty", "log", "", b""),
]


def test_artifacts_are_listed_and_previewed_by_what_their_bytes_are(client, tmp_path):
    run = take_in(tmp_path, Story(attached=EVIDENCE))
    names = [row.th.get_text(strip=True) for row in soup(client.get(trial_url(run, "artifacts/"))).select("tbody tr")]
    assert names == [name for name, _, _, _ in EVIDENCE]
    twin = [
        (row["name"], row["kind"], row["media_type"] or "", row["size"]) for row in twin_of(client, run, "artifacts/")
    ]
    assert twin == [(name, kind, media, len(data)) for name, kind, media, data in EVIDENCE]
    pages = {name: soup(client.get(trial_url(run, f"artifacts/{name}/"))) for name in names}
    assert pages["suite.log"].select_one(".log-lines .t-fg-green").text == "ok"
    assert pages["shot/one.png"].select_one(".images img")["src"] == "?raw=1"
    assert "<script>alert(1)</script>" in pages["report.html"].select_one(".file-lines").text
    assert "00 01 02" in pages["core"].select_one(".hex").text
    assert "The file is empty." in pages["empty"].get_text()
    assert client.get(trial_url(run, "artifacts/nothing/")).status_code == 404


@pytest.mark.parametrize(
    ("name", "media", "disposition"),
    [
        ("shot/one.png", "image/png", 'inline; filename="one.png"'),
        ("report.html", "text/plain; charset=utf-8", 'inline; filename="report.html"'),
        ("core", "application/octet-stream", 'attachment; filename="core"'),
    ],
)
def test_an_artifacts_own_media_type_is_never_trusted(client, tmp_path, name, media, disposition):
    run = take_in(tmp_path, Story(attached=EVIDENCE))
    response = client.get(trial_url(run, f"artifacts/{name}/?raw=1"))
    assert (response["Content-Type"], response["Content-Disposition"]) == (media, disposition)
    assert response["X-Content-Type-Options"] == "nosniff"
    saved = client.get(trial_url(run, f"artifacts/{name}/?raw=1&save=1"))
    assert saved["Content-Type"] == "application/octet-stream"
    assert saved["Content-Disposition"].startswith("attachment")


def test_a_blob_is_reached_by_digest_only_within_the_readers_benches(client, tmp_path):
    shared = [("note.txt", "log", "text/plain", b"shared words\n")]
    hidden = take_in(tmp_path / "one", Story(attached=shared), seed=1, visibility="private")
    page = f"/a/{sha256(shared[0][3])}/"
    assert client.get(page).status_code == client.get(f"/a/{'0' * 64}/").status_code == 404
    assert client.get(f"{page}?raw=1").status_code == 404
    client.force_login(make_user("member", groups=("acme",)))
    assert "shared words" in text(client.get(page))
    assert f"run {hidden.label}" in text(client.get(page))


def test_a_blobs_page_names_no_use_the_reader_may_not_see(client, tmp_path):
    shared = [("note.txt", "log", "text/plain", b"shared words\n")]
    take_in(tmp_path / "one", Story(attached=shared), seed=1)
    secret = take_in(tmp_path / "two", Story(attached=shared), seed=2, verdict="submitted")
    response = client.get(f"/a/{sha256(shared[0][3])}/")
    assert response.status_code == 200
    assert secret.ulid not in response.content.decode()


def tree(**wrong: object) -> bytes:
    entry = {"path": "a", "type": "file", "mode": "100644", "size": 1, "sha256": "0" * 64, "target": None}
    return json.dumps({"format": "benchsite/tree/1", "entries": [{**entry, "stored": True, **wrong}]}).encode()


@pytest.mark.parametrize(
    "record",
    [
        b"[]",
        b"not json",
        tree(size="many"),
        tree(size=-1),
        tree(mode=7),
        tree(mode="100644\nnew"),
        tree(sha256="../../x"),
        tree(path="../x"),
        tree(type=[]),
    ],
)
def test_a_damaged_tree_is_one_sentence_not_a_crash(client, tmp_path, record):
    run = take_in(tmp_path, Story(after={"a": b"1\n"}, tree=record))
    response = client.get(trial_url(run, "workspace/"))
    assert "record" in text(response)
    assert ".." not in text(response).replace("'..'", "").replace("../x", "")
    assert client.get(at(run, "a")).status_code == 404


def test_a_tree_that_names_a_blob_of_someone_else_is_not_a_way_to_it(client, tmp_path):
    """Blob states and uses are made at ingest; a digest the run never brought stays missing for it."""
    record = tree(path="stolen", sha256="ab" * 32)
    run = take_in(tmp_path, Story(tree=record))
    assert "never sent" in text(client.get(at(run, "stolen")))
    assert client.get(trial_url(run, f"workspace/file/?f={to_address('stolen')}")).status_code == 404


def test_a_digest_known_from_elsewhere_opens_nothing_of_another_bench(client, tmp_path):
    """Knowing a digest is not having the bytes: the blob is there, but no run of this bench brought it."""
    secret = b"of another bench\n"
    story = Story(before={"a": b"1\n"}, after={"a": secret}, kept=True, attached=[("s", "log", "text/plain", secret)])
    run = take_in(tmp_path, story)
    assert "of another bench" in text(client.get(at(run, "a")))
    BlobUse.objects.filter(blob__digest=sha256(secret)).delete()
    for page in (at(run, "a"), trial_url(run, "changes/")):
        assert "of another bench" not in text(client.get(page))
    assert client.get(trial_url(run, f"workspace/file/?f={to_address('a')}")).status_code == 404
    assert client.get(trial_url(run, "artifacts/s/?raw=1")).status_code == 404
    assert client.get(f"/a/{sha256(secret)}/").status_code == 404
