"""From an unsolved trial to what a solved one did otherwise, through its world and its log, as people would walk."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from benchsite.flows.ingest import ingest
from tests.browser.axe import faults
from tests.make import make_run
from tests.site.web.one_trial import Story, take_in

pytestmark = [pytest.mark.browser, pytest.mark.one_database, pytest.mark.django_db(transaction=True)]


def walk(chromium: Browser, pages: list[str], **context: Any) -> list[str]:
    """Open pages in a fresh context and give what is wrong with them."""
    wrong = []
    opened = chromium.new_context(**context)
    page = opened.new_page()
    page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    for address in pages:
        page.goto(address)
        if context.get("java_script_enabled", True):
            wide = page.evaluate("document.documentElement.scrollWidth")
            wrong += [f"{address}: {wide} px"] if wide > context["viewport"]["width"] else []
            wrong += [f"{address}: {fault}" for fault in faults(page)]
        else:
            expect(page.locator("h1")).to_have_count(1)
    opened.close()
    return wrong


@pytest.fixture
def run(live_server: Any, tmp_path: Path) -> Any:
    return ingest(make_run(tmp_path, cells=2, scenarios=1, trials=6, fates=False, seed=5), verdict="accepted")


def test_from_an_unsolved_trial_to_the_first_step_that_parts_it_from_a_solved_one(
    page: Page, chromium: Browser, live_server: Any, run: Any
) -> None:
    unsolved = run.trials.filter(outcome="unsolved").first()
    page.goto(f"{live_server.url}/runs/{run.ulid}/")
    square = page.locator("td:has(.vs)").first
    square.hover()
    # in a matrix of more than a thousand squares only the rows bring the link; a square gets it when one comes to it
    bare = page.locator(f'td:has(> a[href="{square.locator("a").first.get_attribute("href")}"])')
    bare.locator(".vs").evaluate("link => link.remove()")
    bare.locator("a").first.focus()
    bare.locator(".vs").click()
    expect(page.locator(".pair-side .chip")).to_have_text(["unsolved", "solved"])
    compared = page.url

    page.goto(f"{live_server.url}/runs/{run.ulid}/t/{unsolved.index}/")
    page.get_by_role("link", name="Against nearest solved").click()
    expect(page.locator(".group-head").first).to_have_text("Both changed, differently")
    file = page.locator(".file").first
    file.locator("tr.fold a").first.click()
    expect(file.locator("tr.fold")).to_have_count(0)
    page.get_by_role("link", name="Start → A").click()
    expect(page.locator(".file-path").first).to_be_visible()
    page.locator(".file-links a", has_text="alone").first.click()
    expect(page.locator(".diff tr").first).to_be_visible()
    page.get_by_role("link", name="All files").click()

    page.get_by_role("link", name="Transcript").click()
    expect(page.locator(".talk-fold").first).to_contain_text("at the beginning")
    page.get_by_role("link", name="First divergence").click()
    assert page.url.endswith("#divergence")
    talk = page.url.partition("#")[0]
    page.get_by_role("link", name="Shown", exact=True).click()
    expect(page.locator(".talk-fold")).to_have_count(0)

    three = talk.replace("what=transcript", "what=three")
    pages = [compared, talk, three, f"{talk}&same=shown", f"{live_server.url}/compare/"]
    wide, narrow = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
    assert not walk(chromium, pages, viewport=wide)
    assert not walk(chromium, pages, viewport=narrow, color_scheme="dark")
    assert not walk(chromium, pages, viewport=wide, java_script_enabled=False)


LINES = b"".join(b"\x1b[3%dmline %d\x1b[0m\n" % (n % 8, n) for n in range(2_040))


def test_through_a_world_its_start_a_search_and_a_log(
    page: Page, chromium: Browser, live_server: Any, tmp_path: Path
) -> None:
    before = {"src/a.py": b"x = 1\n" * 40, "gone.txt": b"farewell\n"}
    after = {"src/a.py": b"x = 1\n" * 39 + b"needle = 2\n", "new/\u202ename.md": b"# Hi\n"}
    steps = [{"role": "tool", "kind": "observation", "text": f"said {n}\n" * 30, "exit_code": 0} for n in range(410)]
    story = Story(before, after, {"out": "/etc/passwd"}, steps, [("suite.log", "log", "text/plain", LINES)])
    base = f"{live_server.url}/runs/{take_in(tmp_path, story).ulid}/t/0"

    page.goto(f"{base}/workspace/")
    expect(page.locator(".banner")).to_contain_text("Rebuilt, not kept.")
    page.get_by_label("Find in this world").fill("NEEDLE")
    page.get_by_label("Where to find").select_option("content")
    page.get_by_role("button", name="Find").click()
    page.locator(".hit-lines a").first.click()
    assert page.url.endswith("#L40")
    expect(page.locator("#L40")).to_be_in_viewport()
    page.locator("#L38 td.ln a").click(modifiers=["Shift"])
    assert page.url.endswith("#L38-L40")
    page.reload()
    expect(page.locator("tr.on")).to_have_count(3)
    page.locator(".ws-history summary").click()
    page.locator(".ws-history li", has_text="at the start").get_by_role("link", name="show").click()
    expect(page.locator("#L40")).to_contain_text("x = 1")
    page.get_by_role("link", name="As left").click()
    page.goto(f"{base}/workspace/")
    page.locator("tr.gone a").click()
    expect(page.locator(".file-lines")).to_contain_text("farewell")
    page.goto(f"{base}/workspace/")
    with page.expect_download() as saved:
        page.get_by_role("link", name="Zip").click()
    assert saved.value.suggested_filename == "one-trial-0.zip"

    page.goto(f"{base}/artifacts/suite.log/")
    page.get_by_role("link", name="Last").first.click()
    last_lines = page.url
    page.get_by_label("Find in the whole log").fill("line 1234")
    page.keyboard.press("Enter")
    page.locator(".log-lines td.ln a").click()
    expect(page.locator("#L1235")).to_be_in_viewport()

    page.goto(f"{base}/transcript/")
    page.get_by_label("Find in all steps").fill("said 333")
    page.keyboard.press("Enter")
    expect(page.locator(".find-sum")).to_contain_text("1 step")
    page.locator(".step-n").click()
    expect(page.locator("#s1-334")).to_be_in_viewport()

    found, last_steps = re.sub(r"#.*", "", page.url), f"{base}/transcript/?attempt=1&at=1-410"
    workspaces = [f"{base}/workspace/{asked}" for asked in ("", "?at=start", "?find=a&in=content")]
    short = [*workspaces, last_lines, last_steps]  # a row is like another: axe sees the pages that have the fewest
    long = [found, f"{base}/artifacts/suite.log/", f"{base}/transcript/"]
    wide, narrow = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
    assert not walk(chromium, short, viewport=wide)
    assert not walk(chromium, short, viewport=narrow, color_scheme="dark")
    assert not walk(chromium, [*short, *long], viewport=wide, java_script_enabled=False)
