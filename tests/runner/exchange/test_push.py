from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from runner.digests import sha256_file
from runner.errors import RunnerError
from runner.exchange.client import Client
from runner.exchange.push import Progress, Pushed, Waiting, push
from runner.exchange.sources import blobs_of
from tests.make import make_run

from .site import TOKEN, Site, serving


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("bench"), cells=2, scenarios=2, trials=2)


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as site:
        yield site


def send(run_dir: Path, site: Site, seen: list[Progress] | None = None, token: str = TOKEN, tries: int = 5) -> Pushed:
    pauses: list[float] = []
    client = Client(site.url, token, tries=tries, pause=pauses.append)
    noted = seen if seen is not None else []
    return push(run_dir, site.url, token, on_progress=noted.append, client=client)


def test_a_run_is_sent_whole(run_dir: Path, site: Site) -> None:
    pushed = send(run_dir, site)
    manifest, events = (sha256_file(run_dir / name) for name in ("manifest.json", "events.jsonl"))
    assert site.has == {*blobs_of(run_dir).digests(), manifest, events}
    assert (site.announced["manifest"], site.announced["events"]) == (manifest, events)
    assert (site.announced["run"], site.announced["bench"]) == (run_dir.name, "acme/demo")
    assert (pushed.run, pushed.verdict, pushed.sent) == (run_dir.name, "submitted", len(site.has))
    assert pushed.url.endswith(f"/runs/{run_dir.name}/")


def test_only_what_the_site_lacks_is_sent(run_dir: Path, site: Site) -> None:
    send(run_dir, site)
    lacking = sorted(site.has)[:3]
    site.has -= set(lacking)
    site.requests.clear()
    assert send(run_dir, site).sent == 3
    assert sorted(site.puts()) == lacking


def test_sending_again_sends_nothing(run_dir: Path, site: Site) -> None:
    send(run_dir, site)
    again = send(run_dir, site)
    assert (again.sent, again.bytes) == (0, 0)


def test_progress_grows_to_the_whole(run_dir: Path, site: Site) -> None:
    seen: list[Progress] = []
    send(run_dir, site, seen)
    assert [progress.blobs for progress in seen] == list(range(seen[-1].of + 1))
    assert seen[-1].bytes == seen[-1].of_bytes > 0


def test_a_run_that_the_site_takes_in_by_a_job_is_waited_for(run_dir: Path, site: Site) -> None:
    url = f"{site.url}/runs/x/"
    site.states = [
        {"state": "queued", "ahead": 2, "done": 0, "total": 0},
        {"state": "ingesting", "ahead": 0, "done": 50, "total": 200},
        {"state": "done", "url": url, "verdict": "submitted", "held": 3},
    ]
    seen: list[Waiting] = []
    client = Client(site.url, TOKEN, pause=lambda _: None)
    pushed = push(run_dir, site.url, TOKEN, on_wait=seen.append, client=client)
    assert [(one.state, one.ahead, one.percent) for one in seen] == [("queued", 2, 0), ("ingesting", 0, 25)]
    assert (pushed.url, pushed.verdict, pushed.held) == (url, "submitted", 3)


def test_a_run_that_its_job_refuses_is_an_error_with_the_reason(run_dir: Path, site: Site) -> None:
    site.states = [{"state": "checking"}, {"state": "refused", "detail": "The run has not ended."}]
    with pytest.raises(RunnerError, match="did not take the run: The run has not ended"):
        send(run_dir, site)


@pytest.mark.parametrize("stumbles", [[503, 502, 500], [0, 0], [429, 0, 503, 504]])
def test_what_may_pass_is_tried_again(run_dir: Path, site: Site, stumbles: list[int]) -> None:
    site.stumbles = list(stumbles)
    assert send(run_dir, site).verdict == "submitted"
    assert site.stumbles == []


def test_a_push_that_was_broken_off_goes_on_where_it_stopped(run_dir: Path, site: Site) -> None:
    site.stumbles = [0]
    with pytest.raises(RunnerError, match="cannot be reached after 1 tries"):
        send(run_dir, site, tries=1)
    sent_first = send(run_dir, site).sent
    site.has -= set(sorted(site.has)[: sent_first // 2])
    assert send(run_dir, site).sent == sent_first // 2


@pytest.mark.parametrize(
    ("status", "said"), [(409, "409: Stumbled with 409"), (413, "413: "), (422, "422: "), (403, "403: ")]
)
def test_a_refusal_is_told_in_the_sites_words_and_not_tried_again(
    run_dir: Path, site: Site, status: int, said: str
) -> None:
    site.stumbles = [status, status]
    with pytest.raises(RunnerError, match=said):
        send(run_dir, site)
    assert len(site.requests) == 1


def test_a_wrong_token_says_where_to_make_another(run_dir: Path, site: Site) -> None:
    with pytest.raises(RunnerError, match="refused the token"):
        send(run_dir, site, token="bs_other")
    assert site.has == set()


def test_a_redirect_is_not_followed_with_the_token(run_dir: Path, site: Site) -> None:
    site.stumbles = [302]
    with pytest.raises(RunnerError, match=r"redirects to http://127\.0\.0\.1:9/elsewhere"):
        send(run_dir, site)


def test_a_site_that_is_not_there_is_named(run_dir: Path, site: Site) -> None:
    client = Client("http://127.0.0.1:9", TOKEN, tries=2, pause=lambda _: None)
    with pytest.raises(RunnerError, match=r"http://127\.0\.0\.1:9 cannot be reached after 2 tries"):
        push(run_dir, "http://127.0.0.1:9", TOKEN, client=client)


@pytest.mark.parametrize("address", ["bench.example.org", "ftp://x", "https://", "http://x/?q=1", "file:///etc/passwd"])
def test_what_is_no_address_of_a_site_is_refused(run_dir: Path, address: str) -> None:
    with pytest.raises(RunnerError, match="not the address of a site"):
        push(run_dir, address, TOKEN)


def test_a_run_that_has_not_ended_is_not_sent(tmp_path: Path, site: Site) -> None:
    running = make_run(tmp_path, state="running")
    with pytest.raises(RunnerError, match="has not ended"):
        send(running, site)
    assert site.requests == []
