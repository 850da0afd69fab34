"""One cast visits every address of the site; a route without an expectation fails here."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import URLPattern, reverse

from benchsite.accounts.models import User
from benchsite.artifacts.models import Artifact
from benchsite.jobs.models import Job
from benchsite.runs.models import Run
from benchsite.web.urls import urlpatterns
from tests.make import make_curator, make_user

OPEN = (200, 200, 200, 200)
PRIVATE = (404, 404, 200, 200)
OWN = (302, 200, 200, 200)
CAST = ("stranger", "outsider", "member", "curator")
EXPECTED: dict[str, tuple[int, int, int, int]] = {
    **dict.fromkeys(
        (
            "home",
            "benches",
            "runs",
            "upload",
            "home_table",
            "benches_table",
            "runs_table",
            "login",
            "logout",
            "docs",
            "docs_page",
            "styleguide",
            "search",
        ),
        OPEN,
    ),
    **dict.fromkeys(("bench", "bench_version", "bench_scenario"), PRIVATE),
    **dict.fromkeys(("run", "run_trials", "run_scenario", "run_cell"), PRIVATE),
    **dict.fromkeys(
        (
            "run_table",
            "run_frame",
            "run_trials_table",
            "bench_table",
            "bench_scenario_table",
            "run_cell_table",
            "run_scenario_table",
        ),
        PRIVATE,
    ),
    "run_versus": (404, 404, 302, 302),
    **dict.fromkeys(
        ("trial", "trial_table", "trial_transcript", "trial_changes", "trial_diff_file", "trial_patch"), PRIVATE
    ),
    **dict.fromkeys(
        ("trial_artifacts", "trial_artifact", "trial_workspace", "trial_workspace_file", "trial_workspace_zip"), PRIVATE
    ),
    "trial_workspace_table": PRIVATE,
    **dict.fromkeys(
        ("artifact", "compare", "compare_table", "compare_trials", "compare_report", "run_report"), PRIVATE
    ),
    **dict.fromkeys(("curate", "curate_table"), (404, 404, 404, 200)),
    **dict.fromkeys(("status", "status_json"), (404, 404, 404, 200)),
    "tokens": OWN,
    "job": (404, 404, 200, 200),
    **dict.fromkeys(("token_revoke", "run_cancel", "run_note", "run_tag"), (302, 405, 405, 405)),
}
"""Status for stranger, outsider (another's account), member of the bench's group, curator; the bench is private."""


def names() -> list[str]:
    return [str(pattern.name) for pattern in urlpatterns if isinstance(pattern, URLPattern)]


def address(name: str, run: Run) -> str:
    trial = run.trials.filter(outcome="unsolved").exclude(kept="").first()
    evidence = Artifact.objects.filter(trial=trial).first()
    assert trial
    assert evidence
    file = "?f=" + base64.urlsafe_b64encode(b"src/parser.py").decode().rstrip("=")
    bench, of_run, of_trial = [run.bench.owner, run.bench.name], [run.ulid], [run.ulid, trial.index]
    args: dict[str, list[Any]] = {
        "bench": bench,
        "bench_version": [*bench, run.version.definition],
        "bench_scenario": [*bench, "fix_bug"],
        "run_scenario": [*of_run, "fix_bug"],
        "run_cell": [*of_run, trial.cell.key10],
        "artifact": [evidence.digest],
        "trial_artifact": [*of_trial, evidence.name],
        "run_table": [*of_run, "leaderboard", "csv"],
        "home_table": ["recent", "csv"],
        "benches_table": ["json"],
        "runs_table": ["csv"],
        "trial_table": [*of_trial, "artifacts", "csv"],
        "trial_workspace_table": [*of_trial, "csv"],
        "run_frame": [*of_run, "csv"],
        "bench_table": [*bench, "trend", "json"],
        "run_cell_table": [*of_run, trial.cell.key10, "measures", "csv"],
        "run_scenario_table": [*of_run, "fix_bug", "groups", "json"],
        "bench_scenario_table": [*bench, "fix_bug", "who", "csv"],
        "run_trials_table": [*of_run, "json"],
        "compare_table": ["cases", "csv"],
        "token_revoke": [1],
        "curate_table": ["runs", "csv"],
        "job": ["mias-bundle"],
        "docs_page": ["operations"],
    }
    default = of_trial if name.startswith("trial") else of_run if name.startswith("run_") or name == "run" else []
    if name == "compare":
        other = run.trials.filter(scenario=trial.scenario).exclude(pk=trial.pk).first()
        return f"{reverse(name)}?of=trial:{run.ulid}/{trial.index}&of=trial:{run.ulid}/{other.index}"
    if name in ("compare_table", "compare_trials", "compare_report"):
        cells = [f"of=cell:{run.ulid}/{cell.key10}" for cell in run.cells.all()]
        return f"{reverse(name, args=args.get(name, []))}?{'&'.join(cells)}"
    wants_file = name in ("trial_diff_file", "trial_workspace_file")
    return reverse(name, args=args.get(name, default)) + (file if wants_file else "")


@pytest.fixture
def hidden(made: Callable[..., Run]) -> Run:
    return made(bench="acme/secret", trials=10, visibility="private")


@pytest.fixture
def cast(db: None) -> dict[str, Client]:
    people = {
        "outsider": make_user("olga"),
        "member": make_user("mia", groups=("acme",)),
        "curator": make_curator(),
    }
    clients = {"stranger": Client()}
    for who, user in people.items():
        clients[who] = Client()
        clients[who].force_login(user)
    return clients


def test_every_route_has_an_expectation() -> None:
    assert sorted(names()) == sorted(EXPECTED)


def test_each_person_gets_what_is_theirs(hidden: Run, cast: dict[str, Client]) -> None:
    Job.objects.create(key="mias-bundle", kind="upload", by=User.objects.get(username="mia"))
    got = {name: tuple(cast[who].get(address(name, hidden)).status_code for who in CAST) for name in EXPECTED}
    assert got == EXPECTED


ABSENT = {
    "run": ["01KE6SJT80MDVJ7W9JR3Y3JWD9"],
    "run_trials": ["01KE6SJT80MDVJ7W9JR3Y3JWD9"],
    "run_scenario": ["01KE6SJT80MDVJ7W9JR3Y3JWD9", "fix_bug"],
    "run_cell": ["01KE6SJT80MDVJ7W9JR3Y3JWD9", "0123456789"],
    "trial": ["01KE6SJT80MDVJ7W9JR3Y3JWD9", 1],
    "bench": ["acme", "nothing"],
    "bench_version": ["acme", "nothing", "0" * 64],
    "bench_scenario": ["acme", "nothing", "fix_bug"],
    "artifact": ["0" * 64],
}


@pytest.mark.parametrize("who", ["stranger", "outsider"])
def test_forbidden_and_absent_cannot_be_told_apart(who: str, hidden: Run, cast: dict[str, Client]) -> None:
    def answer(where: str) -> tuple[Any, ...]:
        with CaptureQueriesContext(connection) as queries:
            response = cast[who].get(where)
        return response.status_code, response.content, sorted(response.headers.items()), len(queries)

    for name, absent in ABSENT.items():
        assert answer(address(name, hidden)) == answer(reverse(name, args=absent)), name


def test_a_private_bench_leaves_no_trace_on_open_pages(hidden: Run, cast: dict[str, Client]) -> None:
    for who in ("stranger", "outsider"):
        for name in ("home", "benches", "runs"):
            text = cast[who].get(reverse(name)).content.decode()
            assert "secret" not in text, (who, name)
            assert hidden.ulid[-6:] not in text, (who, name)


def test_a_scenario_that_only_a_waiting_run_has_is_told_to_nobody_who_does_not_see_the_run(
    made: Callable[..., Run], cast: dict[str, Client]
) -> None:
    made(bench="acme/open", scenarios=1)
    made("waits", bench="acme/open", scenarios=2, definition="two", seed=2, verdict="submitted")
    for who in CAST:
        waits, absent = (cast[who].get(f"/b/acme/open/s/{slug}/") for slug in ("add_feature", "absent"))
        told = (waits.status_code, waits.content) != (absent.status_code, absent.content)
        assert told == (who in ("member", "curator")), who
        assert cast[who].get("/b/acme/open/s/fix_bug/").status_code == 200


def test_access_is_asked_before_the_readers_copy_is(hidden: Run, cast: dict[str, Client]) -> None:
    where = reverse("run", args=[hidden.ulid])
    tag = cast["member"].get(where).headers["ETag"]
    assert cast["member"].get(where, headers={"if-none-match": tag}).status_code == 304
    assert cast["outsider"].get(where, headers={"if-none-match": tag}).status_code == 404
    assert cast["stranger"].get(where, headers={"if-none-match": "*"}).status_code == 404


def test_two_readers_never_share_a_copy(made: Callable[..., Run], cast: dict[str, Client]) -> None:
    run = made()
    tags = {who: client.get(reverse("run", args=[run.ulid])).headers["ETag"] for who, client in cast.items()}
    assert len(set(tags.values())) == len(CAST)
    headers = cast["stranger"].get(reverse("run", args=[run.ulid])).headers
    assert headers["Cache-Control"].startswith("private")


def test_a_copy_is_stale_when_the_run_changes_or_the_question_does(made: Callable[..., Run], client: Client) -> None:
    run = made()
    where = reverse("run", args=[run.ulid])
    tag = client.get(where).headers["ETag"]
    assert client.get(where + "?sort=rate", headers={"if-none-match": tag}).status_code == 200
    Run.objects.filter(pk=run.pk).update(revision=run.revision + 1)
    assert client.get(where, headers={"if-none-match": tag}).status_code == 200
