"""Long transcripts: any page without reading what is before it, filters, finding on the server, stated bounds."""

from __future__ import annotations

import json

import pytest
from django.core.management import call_command

from benchsite.artifacts.models import StepIndex
from benchsite.diffs import stepindex
from benchsite.readings import stepfind, steps
from benchsite.readings.shelf import diff_cache
from tests.site.web.one_trial import Story, take_in
from tests.site.web.test_trial_pages import soup, text, trial_url

pytestmark = pytest.mark.django_db
MANY = 1_050


def row(n: int) -> dict[str, object]:
    if n % 5 == 4:
        failed = {"exit_code": 1} if n % 50 == 4 else {"exit_code": 0}
        said = f"\x1b[31mneedle\x1b[0m {n}" if n in (104, 904) else f"output {n}"
        return {"role": "tool", "kind": "observation", "text": said, **failed}
    if n % 5 == 3:
        return {
            "role": "assistant",
            "kind": "tool_call",
            "text": "",
            "tool": "shell",
            "arguments": {"command": f"run {n}"},
        }
    return {"role": "assistant", "kind": "message", "text": f"step <{n}> \u00e9t\u00e9"}


@pytest.fixture
def run(tmp_path):
    return take_in(tmp_path, Story(steps=[row(n) for n in range(1, MANY + 1)]))


def numbers(response) -> list[int]:
    return [int(tag.get_text()) for tag in soup(response).select(".step-n")]


def test_every_page_and_filter_shows_its_steps_and_no_others(client, run):
    for role, wanted in (
        ("", list(range(1, MANY + 1))),
        ("tool", [n for n in range(1, MANY + 1) if n % 5 == 4]),
        ("errors", [n for n in range(1, MANY + 1) if n % 50 == 4]),
    ):
        pages = -(-len(wanted) // steps.PAGE)
        got = [numbers(client.get(trial_url(run, f"transcript/?role={role}&page={p}"))) for p in range(1, pages + 1)]
        assert [n for page in got for n in page] == wanted, role
        assert all(len(page) == steps.PAGE for page in got[:-1])
    assert numbers(client.get(trial_url(run, "transcript/?page=999"))) == list(range(1001, MANY + 1))


def test_a_step_is_found_on_its_page_by_its_number(client, run):
    assert numbers(client.get(trial_url(run, "transcript/?at=1-777")))[0] == 601
    for odd in ("1-99999", "2-1", "x", "1-", "1-777777777777"):
        assert numbers(client.get(trial_url(run, f"transcript/?at={odd}")))[0] == 1


@pytest.mark.parametrize(
    "said", [lambda n: {"n": None}, lambda n: {"n": 7}, lambda n: {"n": -n}, lambda n: {"n": f"{n}"}]
)
def test_steps_of_foreign_transcripts_have_each_an_anchor_whatever_number_they_say(client, tmp_path, said):
    run = take_in(tmp_path, Story(steps=[row(n) | said(n) for n in range(1, 501)]))
    seen = []
    for page in (1, 2, 3):
        seen += [tag["id"] for tag in soup(client.get(trial_url(run, f"transcript/?page={page}"))).select("li.step")]
    assert seen == [f"s1-{n}" for n in range(1, 501)]
    assert soup(client.get(trial_url(run, "transcript/?at=1-333"))).select_one("#s1-333")
    failed = soup(client.get(trial_url(run, "transcript/?role=errors"))).select(".step-n")
    assert [tag["href"].split("at=")[1] for tag in failed] == [f"1-{n}#s1-{n}" for n in range(4, 501, 50)]
    found = soup(client.get(trial_url(run, "transcript/?find=needle"))).select_one(".step-n")
    assert found["href"].endswith("at=1-104#s1-104")


def test_the_pages_of_several_requests_follow_one_another(client, tmp_path):
    lines = [{"role": "user", "kind": "message", "text": f"again {n}"} for n in range(1, 151)]
    blob = b"".join(json.dumps({"n": n, **line}).encode() + b"\n" for n, line in enumerate(lines, 1))
    second = {"type": "request", "number": 2, "exit_code": 0, "timed_out": False, "seconds": 1.0, "usage": {}}
    story = Story(steps=[row(n) for n in range(1, 151)])
    run = take_in(tmp_path, story, more=[second | {"transcript": blob}])
    first = soup(client.get(trial_url(run, "transcript/")))
    assert [tag.get_text() for tag in first.select(".step-n")][149:151] == ["1.150", "2.1"]
    last = [tag.get_text() for tag in soup(client.get(trial_url(run, "transcript/?page=2"))).select(".step-n")]
    assert last[0] == "2.51"
    assert len(last) == 100
    assert soup(client.get(trial_url(run, "transcript/?at=2-120"))).select_one("#s2-120")


def test_two_requests_of_one_number_do_not_share_anchors(client, tmp_path):
    again = {"type": "request", "number": 1, "exit_code": 0, "timed_out": False, "seconds": 1.0, "usage": {}}
    run = take_in(tmp_path, Story(steps=[row(1)]), more=[again | {"transcript": json.dumps(row(2)).encode()}])
    shown = soup(client.get(trial_url(run, "transcript/"))).select("li.step")
    assert [tag["id"] for tag in shown] == ["s1-1", "s2-1"]


def test_words_are_found_on_the_server_through_colours_arguments_and_cases(client, run):
    made = soup(client.get(trial_url(run, "transcript/?find=NEEDLE")))
    assert [tag.get_text() for tag in made.select(".step-n")] == ["104", "904"]
    assert [tag.get_text() for tag in made.select("mark")] == ["needle", "needle"]
    assert made.select_one(".step-n")["href"].endswith("at=1-104#s1-104")
    assert "2 steps with “NEEDLE”." in made.get_text()
    assert numbers(client.get(trial_url(run, "transcript/?find=run+1048"))) == [1048]
    said = [n for n in range(1, MANY + 1) if n % 5 < 3]
    assert numbers(client.get(trial_url(run, "transcript/?find=ÉTÉ&page=2"))) == said[200:400]
    assert numbers(client.get(trial_url(run, "transcript/?find=needle+904&role=tool"))) == [904]
    assert "No step has “<b>nowhere”." in text(client.get(trial_url(run, "transcript/?find=<b>nowhere")))


def test_a_search_that_stopped_early_says_so(client, run, monkeypatch):
    monkeypatch.setattr(stepfind, "FIND_STEPS", 7)
    assert "Only the first 7 steps found are listed." in text(client.get(trial_url(run, "transcript/?find=output")))
    monkeypatch.setattr(stepfind, "FIND_BYTES", 5_000)
    assert "Only the first 5,000 bytes were searched." in text(client.get(trial_url(run, "transcript/?find=needle")))


def test_a_long_transcript_is_indexed_on_arrival_and_one_without_an_index_opens_all_the_same(client, tmp_path):
    told = [{"role": "assistant", "kind": "message", "text": f"word {n} " * 260} for n in range(450)]
    run = take_in(tmp_path, Story(steps=told), seed=77)
    index = StepIndex.objects.get(blob__uses__run=run)
    assert index.places["counts"][""] == 450
    assert diff_cache().look(["steps", stepindex.FORMAT, index.blob.digest]) is None
    address = trial_url(run, "transcript/") + "?page=3"
    shown = numbers(client.get(address))
    assert shown == list(range(401, 451))
    StepIndex.objects.all().delete()  # as with what an older release took in
    assert numbers(client.get(address)) == shown
    call_command("rebuild", verbosity=0)
    assert StepIndex.objects.get(blob__uses__run__ulid=run.ulid).places == index.places


def test_what_turns_text_round_stands_as_a_pill_in_the_head_of_a_fold_too(client, tmp_path):
    told = {"role": "tool", "kind": "observation", "text": "name \u202egpj.exe\n" * 20}
    call = {"role": "assistant", "kind": "tool_call", "tool": "sh\u202ehs", "arguments": {"a\u202eb": 1}}
    page = soup(client.get(trial_url(take_in(tmp_path, Story(steps=[told, call])), "transcript/")))
    assert "\u202e" not in page.get_text()
    assert page.select_one("summary .peek .pill").get_text() == "RLO"


def test_numbers_and_names_of_a_hostile_transcript_are_text_like_all_else(client, tmp_path):
    mark = '"><script>alert(1)</script>'
    told = [
        {"role": "tool", "kind": "observation", "text": mark, "n": mark, "exit_code": mark, "usage": {mark: 1}},
        {"role": "assistant", "kind": "tool_call", "tool": mark, "n": [mark], "arguments": {mark: mark}},
        {"role": "tool", "kind": "observation", "n": 10**4000, "exit_code": 10**4000, "usage": {"cost": 10**400}},
    ]
    run = take_in(tmp_path, Story(steps=told))
    for address in ("transcript/", "transcript/?find=script", "transcript/?at=1-3"):
        page = soup(client.get(trial_url(run, address)))
        assert len(page.select(".step")) == (2 if "find" in address else 3)
        assert not page.select("main script")
        assert mark in page.get_text()
