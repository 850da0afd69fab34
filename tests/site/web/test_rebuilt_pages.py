"""A rebuild folds the same journals again, so no reader may see that there was one."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urldefrag, urljoin

from bs4 import BeautifulSoup
from django.test import Client
from django.urls import reverse

from benchsite.flows.curate import withdraw_trial
from benchsite.flows.rebuild import rebuild
from benchsite.runs.models import Run
from tests import make

MOST = 60


def walk(client: Client, *starts: str) -> dict[str, bytes]:
    """Read the pages that can be reached; the links are followed in the order in which they stand."""
    found: dict[str, bytes] = {}
    waiting = list(starts)
    while waiting and len(found) < MOST:
        address = waiting.pop(0)
        if address in found:
            continue
        response = client.get(address)
        found[address] = b"".join(response.streaming_content) if response.streaming else response.content
        if "text/html" in response["Content-Type"]:
            soup = BeautifulSoup(found[address], "html.parser")
            links = (urldefrag(urljoin(address, str(a["href"]))).url for a in soup.select("main a[href]"))
            waiting += [link for link in links if link.startswith(("/runs/", "/b/")) and link not in found]
    return found


def test_all_pages_are_equal_before_and_after_a_rebuild(made: Callable[..., Run], client: Client) -> None:
    curator = make.make_curator()
    run = made("pages", trials=2, cases=2, by=curator)
    made("other", seed=2, bench="acme/other", cells=1, scenarios=1)
    withdrawn = run.trials.filter(state="scored").first()
    assert withdrawn
    withdraw_trial(run, withdrawn.index, by=curator, reason="The world was broken.")
    trials = [
        reverse(route, args=[run.ulid, withdrawn.index])
        for route in ("trial", "trial_transcript", "trial_changes", "trial_artifacts", "trial_workspace")
    ]
    starts = [reverse("home"), reverse("runs"), reverse("run", args=[run.ulid]), *trials]
    before = walk(client, *starts)
    assert len(before) == MOST
    rebuild(lambda sentence: None)
    after = walk(client, *starts)
    assert [address for address in before if after.get(address) != before[address]] == []
