"""A trial's tabs: what they say, to whom, in how many queries, and that nothing from a run becomes markup."""

from __future__ import annotations

import json

import pytest
from bs4 import BeautifulSoup
from django.db import connection
from django.test.utils import CaptureQueriesContext

from benchsite.benches.models import Bench
from benchsite.curation.models import Decision, Note
from benchsite.flows.ingest import ingest
from benchsite.readings.address import to_address
from benchsite.runs.models import Trial
from runner.blobs import BlobStore
from tests.make import make_curator, make_run, make_user
from tests.site.web.one_trial import Story, take_in

pytestmark = pytest.mark.django_db
EVIL = "<img src=x onerror=alert(1)>"
TABS = ("", "transcript/", "changes/", "artifacts/", "workspace/")


def soup(response) -> BeautifulSoup:
    assert response.status_code == 200, response.status_code
    return BeautifulSoup(response.content, "html.parser")


def text(response) -> str:
    return " ".join(soup(response).main.get_text(" ").split())


def trial_url(run, tab: str = "", index: int = 0) -> str:
    return f"/runs/{run.ulid}/t/{index}/{tab}"


@pytest.fixture
def whole(tmp_path):
    """A made run that meets every state, outcome and fault."""
    return ingest(make_run(tmp_path, cells=2, scenarios=3, trials=4), verdict="accepted")


def test_every_tab_of_every_fate_answers(client, whole):
    for trial in Trial.objects.filter(run=whole):
        for tab in TABS:
            response = client.get(trial_url(whole, tab, trial.index))
            assert response.status_code == 200, (trial.state, trial.fault, tab)


@pytest.mark.parametrize("tab", TABS)
def test_a_tab_asks_at_most_twelve_queries(client, whole, tab):
    client.force_login(make_user())
    kinds = {(trial.state, trial.outcome, bool(trial.kept), trial.attempts): trial for trial in whole.trials.all()}
    for trial in kinds.values():
        with CaptureQueriesContext(connection) as asked:
            client.get(trial_url(whole, tab, trial.index))
        assert len(asked) <= 12, (tab, trial.state, [query["sql"][:120] for query in asked])


def test_the_state_says_its_reason_and_its_fault(client, whole):
    trial = Trial.objects.filter(run=whole, fault="provider").first()
    said = text(client.get(trial_url(whole, "", trial.index)))
    assert "The provider answered 529: overloaded." in said
    assert "The model's provider answered with an error." in said


def test_a_missing_observation_is_a_dash_with_a_reason_never_a_zero(client, tmp_path):
    run = take_in(tmp_path, Story(observed=[{"measure": "resolved", "value": False}]))
    rows = {row.th.strong.text: row for row in soup(client.get(trial_url(run))).select(".observed tbody tr")}
    assert rows["resolved"].select_one("td.num").get_text(strip=True) == "no"
    assert rows["score"].select_one("td.num").get_text(strip=True) == "–"
    assert "not observed" in rows["score"].get_text()


def test_an_invalid_observation_keeps_its_value_and_reason(client, tmp_path):
    invalid = {"measure": "score", "value": "n/a", "valid": False, "reason": "'n/a' is not a number."}
    run = take_in(tmp_path, Story(observed=[invalid]))
    row = soup(client.get(trial_url(run))).select_one(".observed tr.is-invalid")
    assert "invalid" in row.get_text()
    assert "n/a" in row.select_one("s").text
    assert "'n/a' is not a number." in row.get_text()


def test_every_attempt_is_listed_and_the_last_one_counts(client, whole):
    trial = Trial.objects.filter(run=whole, attempts=2, state="scored").first()
    tries = soup(client.get(trial_url(whole, "", trial.index))).select(".tries li")
    assert len(tries) == 2
    assert "counts" not in tries[0].get_text()
    assert "counts" in tries[1].get_text()


def test_a_guard_says_where_and_that_it_came_late(client, whole):
    trial = next(t for t in Trial.objects.filter(run=whole, state="excluded") if "late_guard" in t.flags)
    said = text(client.get(trial_url(whole, "", trial.index)))
    assert "expect: the suite passes." in said
    assert "the agent had already acted" in said


def test_unknown_usage_is_called_unknown(client, whole):
    trial = Trial.objects.filter(run=whole, fault="boot").first()
    assert "unknown, not zero" in text(client.get(trial_url(whole, "", trial.index)))


def test_notes_and_withdrawals_are_shown_with_who_and_why(client, tmp_path):
    run, curie = take_in(tmp_path, Story()), make_curator()
    Decision.objects.create(run=run.ulid, trial=0, verdict="withdraw", reason="the key leaked", by=curie)
    Note.objects.create(run=run.ulid, trial=0, text=EVIL, by=curie)
    response = client.get(trial_url(run))
    assert "the key leaked" in text(response)
    assert EVIL in text(response)


def test_neighbours_lead_through_the_run_and_to_the_next_unsolved(client, whole):
    unsolved = list(
        Trial.objects.filter(run=whole, outcome="unsolved").order_by("index").values_list("index", flat=True)
    )
    links = {a.text: a["href"] for a in soup(client.get(trial_url(whole, "", unsolved[0]))).select(".trial-nav a.btn")}
    assert links["Next unsolved"] == trial_url(whole, "", unsolved[1])
    assert links["Next"] == trial_url(whole, "", unsolved[0] + 1)
    last = {a.text: a["href"] for a in soup(client.get(trial_url(whole, "", unsolved[-1]))).select(".trial-nav a.btn")}
    assert last["Next unsolved"] == trial_url(whole, "", unsolved[0])
    final = whole.counts["planned"] - 1
    assert "Next" not in {a.text for a in soup(client.get(trial_url(whole, "", final))).select(".trial-nav a.btn")}


def test_nothing_an_agent_said_named_or_wrote_becomes_markup(client, tmp_path):
    said = [
        {"role": "assistant", "kind": "message", "text": EVIL},
        {"role": "assistant", "kind": "tool_call", "text": "", "tool": EVIL, "arguments": {EVIL: EVIL}},
        {"role": "tool", "kind": "observation", "text": EVIL},
    ]
    story = Story(
        before={"a.html": b"x\n"},
        after={"a.html": EVIL.encode() + b"\n", f"{EVIL}.py": b"x = '<script>alert(1)</script>'\n"},
        links={"link": f"../{EVIL}"},
        steps=said,
        attached=[(f"{EVIL}.html", EVIL, EVIL, b"<script>alert(1)</script>")],
        observed=[{"measure": "note", "value": EVIL}, {"measure": EVIL, "value": EVIL}],
        extra=[
            {"type": "issue", "severity": "warning", "phase": EVIL, "code": EVIL, "sentence": EVIL, "detail": EVIL},
            {"type": "guard", "sentence": EVIL, "late": False, "where": EVIL},
        ],
        finished={"reason": EVIL, "flags": [EVIL], "state": "run_error", "fault": EVIL[:20], "outcome": None},
        kept=True,
    )
    run = take_in(tmp_path, story)
    address = to_address(f"{EVIL}.py")
    pages = [trial_url(run, tab) for tab in TABS]
    pages += [trial_url(run, f"changes/file/?f={address}"), trial_url(run, f"workspace/?f={address}")]
    pages += [trial_url(run, f"workspace/?f={to_address('link')}"), trial_url(run, f"artifacts/{EVIL}.html/")]
    for page in pages:
        made = soup(client.get(page))
        assert not made.select("[onerror]"), page
        assert all("alert" not in script.text for script in made.select("script")), page
        assert not made.select("[style]"), page
    assert "deleted · 1 link" in soup(client.get(pages[0])).get_text()


def test_a_private_bench_is_absent_for_strangers_and_there_for_members(client, tmp_path):
    story = Story(after={"a.py": b"1\n"}, attached=[("log", "log", "text/plain", b"x\n")], kept=True)
    run = take_in(tmp_path, story, visibility="private")
    assert Bench.objects.get(name="one").visibility == "private"
    address = to_address("a.py")
    parts = [*TABS, f"changes/file/?f={address}", "changes/patch/", "artifacts/log/", "artifacts/log/?raw=1"]
    parts += [f"workspace/?f={address}", f"workspace/file/?f={address}", "transcript/?raw=output-1"]
    for part in parts:
        absent = client.get(f"/runs/01KE6SJT8037WTFRVZ84WR4BPD/t/0/{part}")
        hidden = client.get(trial_url(run, part))
        assert hidden.status_code == absent.status_code == 404, part
    client.force_login(make_user("member", groups=("acme",)))
    assert {client.get(trial_url(run, part)).status_code for part in parts} == {200}


def test_a_submitted_run_is_seen_by_its_sender_and_curators_only(client, tmp_path):
    sender = make_user("sender")
    run = take_in(tmp_path, Story(), verdict="submitted", by=sender)
    assert client.get(trial_url(run)).status_code == 404
    for person in (sender, make_curator()):
        client.force_login(person)
        assert client.get(trial_url(run)).status_code == 200


def test_an_index_beyond_the_run_is_absent(client, tmp_path):
    run = take_in(tmp_path, Story())
    assert client.get(trial_url(run, "", 99)).status_code == 404


def test_a_long_transcript_is_paged_filtered_and_folded(client, tmp_path):
    steps = [{"role": "assistant", "kind": "message", "text": f"step {n}"} for n in range(250)]
    steps.append({"role": "tool", "kind": "observation", "text": "line\n" * 60, "exit_code": 2})
    run = take_in(tmp_path, Story(steps=steps))
    first = soup(client.get(trial_url(run, "transcript/")))
    assert len(first.select(".step")) == 200
    assert "Steps 1–200 of 251" in first.get_text()
    second = soup(client.get(trial_url(run, "transcript/?page=2")))
    assert len(second.select(".step")) == 51
    assert second.select_one(".step details:not([open]) summary .muted").text == "61 lines"
    failed = soup(client.get(trial_url(run, "transcript/?role=errors")))
    assert len(failed.select(".step")) == 1
    assert "exit 2" in failed.get_text()


def test_terminal_colours_become_classes_and_other_escapes_vanish(client, tmp_path):
    steps = [{"role": "tool", "kind": "observation", "text": "\x1b[31mred\x1b[0m\x1b[2J \u202e"}]
    response = client.get(trial_url(take_in(tmp_path, Story(steps=steps)), "transcript/"))
    assert soup(response).select_one(".t-fg-red").text == "red"
    assert b"\x1b" not in response.content
    assert "\u202e" not in response.content.decode()
    assert "1 terminal escape left out" in text(response)


def test_the_transcript_downloads_as_it_was_written(client, tmp_path):
    run = take_in(tmp_path, Story(steps=[{"role": "user", "kind": "message", "text": "<hi>"}]))
    response = client.get(trial_url(run, "transcript/?raw=transcript-1"))
    assert response["Content-Disposition"].startswith("attachment")
    assert json.loads(b"".join(response.streaming_content))["text"] == "<hi>"
    assert b"".join(client.get(trial_url(run, "transcript/?raw=output-1")).streaming_content) == b"raw <output>\n"
    assert client.get(trial_url(run, "transcript/?raw=output-9")).status_code == 404


def test_what_a_judge_was_asked_and_spent_stands_apart_and_is_no_markup(client, tmp_path):
    blobs = BlobStore(tmp_path / ".bench" / "blobs")
    prompt, said = blobs.put(b"Grade this: " + EVIL.encode()), blobs.put(b'{"share": 0.5}')
    judged = {
        "type": "judge", "number": 1, "model": f"grader-2 {EVIL}", "prompt": prompt, "text": said, "seconds": 1.5,
        "usage": {"tokens_in": 1234, "model_calls": 1, "cost": 0.25, "estimated": True}, "cut": False,
    }  # fmt: skip
    run = take_in(tmp_path, Story(extra=[judged]))
    page = soup(client.get(trial_url(run)))
    shown = page.find(id="h-judged").find_parent("section")
    assert not shown.find("img")
    words = " ".join(shown.get_text(" ").split())
    assert f"Grade this: {EVIL}" in words
    assert '{"share": 0.5}' in words
    assert "tokens in 1,234" in words
    usage = " ".join(page.find(id="h-judge-usage").find_parent("section").get_text(" ").split())
    assert usage == "Usage of the judge tokens in 1,234 model calls 1 cost $0.25 (estimated)"
    (told,) = client.get(f"/api/v1/runs/{run.ulid}/trials/0").json()["judged"]
    assert (told["attempt"], told["model"], told["usage"]["tokens_in"]) == (1, f"grader-2 {EVIL}", 1234)
    assert "1,234" not in page.find(id="h-usage").find_parent("section").get_text(" ")
