"""The API that reads: described by itself, paged, and as private as the pages."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.test import Client

from benchsite.runs.models import Run
from tests import make

pytestmark = pytest.mark.django_db


def test_the_api_describes_itself_without_foreign_scripts(client: Client) -> None:
    described = client.get("/api/v1/openapi.json").json()
    assert "/api/v1/uploads/{key}/blobs/{sha256}" in described["paths"]
    put = described["paths"]["/api/v1/uploads/{key}/blobs/{sha256}"]["put"]
    assert "application/octet-stream" in put["requestBody"]["content"]
    page = client.get("/api/v1/docs")
    assert page.status_code == 200
    assert b"//cdn" not in page.content
    assert "script-src 'self'" in page.headers["Content-Security-Policy"]


def test_runs_are_read_as_the_caller_may_see_them(client: Client, ingested: Callable[..., Run]) -> None:
    shown, hidden = ingested("a", seed=1), ingested("b", seed=2, verdict="submitted")
    assert [run["run"] for run in client.get("/api/v1/runs").json()["runs"]] == [shown.ulid]
    assert client.get(f"/api/v1/runs/{shown.ulid}").json()["counts"] == shown.counts
    absent, forbidden = client.get("/api/v1/runs/01ARZ3NDEKTSV4RRFFQ69G5FAV"), client.get(f"/api/v1/runs/{hidden.ulid}")
    assert absent.status_code == forbidden.status_code == 404
    assert absent.content == forbidden.content
    assert client.get("/api/v1/runs", {"before": hidden.ulid}).status_code == 422, "as of a run that is not there"
    key = make.make_token(make.make_curator(), "read")
    seen = client.get("/api/v1/runs", headers={"Authorization": f"Bearer {key}"}).json()["runs"]
    assert [run["run"] for run in seen] == [hidden.ulid, shown.ulid]
    sends = make.make_token(make.make_user("sender"), "upload")
    for dead in ("Bearer bs_nothing", f"Bearer {sends}", "bearer"):
        for address in ("/api/v1/runs", "/api/v1/benches", f"/api/v1/runs/{shown.ulid}/result"):
            refusal = client.get(address, headers={"Authorization": dead})
            assert refusal.status_code == 401, (dead, address)
            assert "live token with the right scope" in refusal.json()["detail"]


def test_runs_are_paged_without_losing_one(client: Client, ingested: Callable[..., Run]) -> None:
    ulids = [ingested(str(n), seed=n, cells=1, scenarios=1, trials=1, fates=False).ulid for n in range(5)]
    seen: list[str] = []
    before = ""
    while True:
        page = client.get("/api/v1/runs", {"limit": 2, "before": before}).json()
        seen += [run["run"] for run in page["runs"]]
        if page["next"] is None:
            break
        before = page["next"]
    assert seen == ulids[::-1]
    assert client.get("/api/v1/runs", {"limit": 0}).status_code == 422
    strange = client.get("/api/v1/runs", {"before": "yesterday"})
    assert (strange.status_code, strange.json()["detail"][:28]) == (422, "before='yesterday' is no run")


def test_programs_are_told_in_json_what_is_not_there_and_what_broke(monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client(raise_request_exception=False)
    absent = client.get("/api/v1/nothing")
    assert (absent.status_code, "/api/v1/docs" in absent.json()["detail"]) == (404, True)
    monkeypatch.setattr("benchsite.api.reading.reader", lambda request: 1 / 0)
    broken = client.get("/api/v1/runs")
    assert broken.status_code == 500
    assert re.search(r"error [0-9a-f]{8}\.$", broken.json()["detail"])


def test_programs_are_told_in_json_which_methods_an_address_takes(client: Client) -> None:
    refused = client.post("/api/v1/runs")
    assert (refused.status_code, refused.headers["Allow"]) == (405, "GET")
    assert refused.json() == {"detail": "This address takes GET, not POST."}
    assert client.get("/api/v1/uploads").json() == {"detail": "This address takes POST, not GET."}
    assert client.delete("/runs/").headers["Content-Type"] != "application/json"
