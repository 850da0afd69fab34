"""A trial's page says under which conditions it was made, and what became of each path that its scenario declared."""

from __future__ import annotations

import json

import pytest
from bs4 import BeautifulSoup

from benchsite.artifacts.models import BlobUse
from benchsite.flows.ingest import ingest
from runner.blobs import BlobStore
from runner.collected import Collected
from runner.journal import EVENTS, MANIFEST, Journal
from runner.manifest import Manifest
from runner.worlds.tree import Entry, Tree

from .one_trial import Story, write

pytestmark = pytest.mark.django_db
PLAN = {
    "mode": "fresh",
    "source": "scenario",
    "artifacts": [{"path": "/workspace/out", "exclude": ["*.log"]}, {"path": "/workspace/<b>", "exclude": []}],
    "collect": [{"command": "git diff > out/patch", "timeout": 30}],
    "fixtures": "mounted",
    "save_artifacts": True,
    "network": {"execution": "open", "evaluation": "none"},
    "resources": {"memory": 2 << 30, "processes": 200, "disk": 16 << 20},
    "held": {"memory": "cgroup v2", "processes": "cgroup v2", "disk": "watched", "loopback": "hidden"},
    "timeouts": {"request": 60, "trial": 120.5, "suite": 20},
    "limits": {"bytes": 64 << 20, "files": 2000, "seconds": 600},
    "environment": "sandbox",
    "environment_version": "bubblewrap 0.8.0",
    "isolation": "sandbox",
}
FATES = ("collected", "missing", "excluded", "failed", "not_collected")


def taken_in(folder, plan, entries=()):
    """Ingest a run of one trial with this plan; `entries` is what the journal says of its declared paths."""
    run_dir = write(folder, Story(extra=[{"type": "collected", "entries": list(entries)}] if entries else []))
    manifest = Manifest.read(run_dir / MANIFEST)
    fields = {**vars(manifest), "plans": (plan,)}
    fields.pop("trials", None)
    Manifest(**fields).write(run_dir / MANIFEST)
    return ingest(run_dir, verdict="accepted")


def page(client, run, tab=""):
    response = client.get(f"/runs/{run.ulid}/t/0/{tab}")
    assert response.status_code == 200
    soup = BeautifulSoup(response.content, "html.parser")
    return soup, " ".join(soup.main.get_text(" ").split())


def test_the_overview_tells_the_resolved_plan_in_words(client, tmp_path):
    run = taken_in(tmp_path, PLAN)
    soup, text = page(client, run)
    (section,) = soup.select("section[aria-labelledby=h-plan]")
    facts = {dt.get_text(): dt.find_next("dd").get_text() for dt in section.select("dl.facts dt")}
    assert facts == {
        "Environment": "sandbox, bubblewrap 0.8.0",
        "Isolation": "sandbox",
        "Network": "execution open, evaluation none",
        "Resources": "memory 2,048 MiB, processes 200, disk 16 MiB",
        "Held by": "memory by cgroup v2; processes by cgroup v2; disk watched, which is no hard limit; loopback hidden",
        "Time limits": "request 60 s, trial 120.5 s, suite 20 s",
        "Fixtures": "read-only at /fixtures, for the verifier alone",
        "May carry out": "64 MiB, 2,000 files, 600 s",
    }
    assert "fresh marked on the scenario" in text
    assert "git diff > out/patch 30 s" in text
    assert "/workspace/out without *.log" in text
    assert [code.get_text() for code in section.select("ul li > code")][-1] == "/workspace/<b>"
    whole = " ".join(BeautifulSoup(client.get(f"/runs/{run.ulid}/").content, "html.parser").get_text(" ").split())
    assert "processes 200 by cgroup v2, disk 16 MiB watched, which is no hard limit" in whole, (
        "and its run's provenance"
    )


def test_each_declared_path_has_its_status_on_the_artifacts_tab(client, tmp_path):
    blobs = BlobStore(tmp_path / ".bench" / "blobs")
    file = blobs.put(b"work\n")
    tree = Tree((Entry("a.txt", "file", "100644", 5, file, stored=True),)).store(blobs)
    made = {"collected": {"kind": "dir", "files": 1, "size": 5, "tree": tree}, "failed": {"reason": "It is a fifo."}}
    entries = [Collected(f"/workspace/{fate}", fate, **made.get(fate, {})).to_json() for fate in FATES]
    run = taken_in(tmp_path, PLAN, entries)
    soup, text = page(client, run, "artifacts/")
    (section,) = soup.select("section[aria-labelledby=h-carried]")
    rows = [
        [" ".join(cell.get_text(" ").split()) for cell in row.select("th, td")] for row in section.select("tbody tr")
    ]
    assert [row[:5] for row in rows] == [
        ["/workspace/collected", "collected", "folder", "1", "5 B"],
        ["/workspace/missing", "missing", "–", "–", "–"],
        ["/workspace/excluded", "excluded", "–", "–", "–"],
        ["/workspace/failed", "failed", "–", "–", "–"],
        ["/workspace/not_collected", "not collected", "–", "–", "–"],
    ]
    twin = client.get(f"/runs/{run.ulid}/t/0/declared.json").json()["rows"]
    assert [(row["path"], row["status"].replace("_", " "), row["meaning"]) for row in twin] == [
        (path, status, meaning) for path, status, _, _, _, meaning in rows
    ]
    assert [(row["files"], row["size"]) for row in twin] == [(1, 5)] + [(None, None)] * 4
    assert [a["href"] for a in section.select(".twins a")] == ["../declared.csv", "../declared.json"]
    assert rows[3][5] == "It is a fifo."
    assert "verifier's business" in rows[1][5]
    assert "No artifacts" not in text
    assert BlobUse.objects.filter(run=run, blob__digest__in=[tree, file]).count() == 2, "their bytes came along"


def test_the_api_gives_a_trial_with_its_plan_and_its_paths(client, tmp_path):
    entry = Collected("/workspace/a", "missing", exclude=("*.log",)).to_json()
    run = taken_in(tmp_path, PLAN, [entry])
    url = f"/api/v1/runs/{run.ulid}/trials/"
    told = client.get(f"{url}0").json()
    assert told["plan"] == PLAN
    (path,) = told["collected"]
    assert (path["attempt"], path["path"], path["status"], path["exclude"]) == (1, "/workspace/a", "missing", "*.log")
    assert (told["state"], told["attempts"]) == ("scored", [{"number": 1, "state": "scored", "fault": ""}])
    assert [client.get(f"{url}{index}").status_code for index in (1, -1, 1 << 40)] == [404, 422, 422]


@pytest.mark.parametrize("plan", [{}, {"mode": ["x"], "artifacts": "no", "collect": [3], "limits": [], "network": 7}])
def test_a_plan_that_says_little_or_nonsense_is_shown_as_far_as_it_goes(client, tmp_path, plan):
    _, text = page(client, taken_in(tmp_path, plan))
    assert "Evaluation" in text


def test_an_attempt_that_only_graded_again_says_so_and_shows_what_the_agent_had_spent(client, tmp_path):
    run_dir = write(tmp_path, Story())
    events = [json.loads(line) for line in (run_dir / EVENTS).read_text().splitlines()]
    first = [{**event, "attempt": 1} for event in events if "attempt" in event]
    first[-1] |= {"state": "eval_error", "outcome": None, "fault": "evaluation", "reason": "The judge was down."}
    again = [{**event, "attempt": 2} for event in first if event["type"] in ("trial.started", "request")]
    again = [event | ({"replayed": True} if event["type"] == "request" else {}) for event in again]
    again.append({**first[-1], "attempt": 2, "state": "scored", "outcome": "solved", "fault": None, "usage": None})
    (run_dir / EVENTS).unlink()
    with Journal.open(run_dir) as journal:
        journal.append("run.started", workers=1, load=0.0)
        journal.extend({k: v for k, v in event.items() if k != "seq"} for event in (*first, *again))
        journal.append("run.finished", state="finished")
    _, text = page(client, ingest(run_dir, verdict="accepted"))
    assert "The evaluation alone was repeated, of the work that was done before." in text
    assert "cost $0.25" in text


def test_thousands_of_artifacts_come_in_pages(client, tmp_path):
    attached = [(f"/workspace/out/{number:04}", "collected", "text/plain", b"x") for number in range(450)]
    run = ingest(write(tmp_path, Story(attached=attached)), verdict="accepted")
    shown = []
    for number in (1, 2, 3):
        soup, text = page(client, run, f"artifacts/?page={number}")
        shown += [row.get_text() for row in soup.select("tbody th a")]
        assert f"page {number} of 3" in text
    assert len(shown) == len(set(shown)) >= 450
    _, text = page(client, run, "artifacts/?page=99")
    assert "page 3 of 3" in text
