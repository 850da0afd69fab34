"""What people come for, walked in a real browser on a real server with the results of a real run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from benchsite.flows.ingest import ingest
from benchsite.jobs.models import Job
from runner.exchange.bundle import write_bundle
from tests.browser.axe import faults
from tests.browser.benches import run_bench, write_bench
from tests.make import make_curator, make_user
from tests.site.web.one_trial import Story, take_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture(scope="session")
def run_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_bench(write_bench(tmp_path_factory.mktemp("greeting")))


@pytest.fixture
def site(live_server: Any, run_dir: Path) -> str:
    ingest(run_dir, verdict="accepted")
    return str(live_server.url)


def log_in(page: Page, url: str, name: str, password: str) -> None:
    page.goto(f"{url}/login/")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name=re.compile("log in", re.I)).click()
    page.wait_for_url(lambda address: "/login/" not in address)


def test_from_home_to_the_workspace_an_unsolved_trial_left(page: Page, site: str) -> None:
    page.goto(site)
    page.get_by_role("link", name="greeting").first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("greeting")
    page.get_by_role("link", name=re.compile("Run 1")).first.click()
    expect(page.locator("main")).to_contain_text("careful")
    page.locator("table.matrix a").filter(has_text="0/2").first.click()
    page.get_by_role("link", name=re.compile("unsolved", re.I)).first.click()
    page.wait_for_load_state()
    if "/t/" not in page.url:
        page.locator("main a[href*='/t/'], main a[href^='t/']").first.click()
    expect(page.locator("main")).to_contain_text("unsolved")

    page.get_by_role("link", name=re.compile("^Changes")).first.click()
    expect(page.locator("main")).to_contain_text("'Hello, you'")
    expect(page.locator("main")).to_contain_text("notes.md")

    page.get_by_role("link", name=re.compile("^Workspace")).first.click()
    expect(page.locator("main")).to_contain_text("kept")
    page.get_by_role("link", name=re.compile("(^|[^_])greet.py$")).first.click()
    expect(page.locator("main")).to_contain_text("return 'Hello, you'")


def test_an_uploaded_run_counts_once_a_curator_has_accepted_it(
    page: Page, live_server: Any, run_dir: Path, tmp_path: Path
) -> None:
    make_user("ada", password="correct horse")
    make_curator("cora", password="battery staple")
    bundle = write_bundle(run_dir, tmp_path / "greeting.zip")

    log_in(page, live_server.url, "ada", "correct horse")
    page.goto(f"{live_server.url}/upload/")
    page.get_by_label(re.compile("Bundle")).set_input_files(str(bundle))
    page.get_by_role("button", name="Send bundle").click()
    page.wait_for_url(re.compile("/runs/"))
    run_page = page.url
    expect(page.locator("main")).to_contain_text("submitted")

    page.context.clear_cookies()
    log_in(page, live_server.url, "cora", "battery staple")
    page.get_by_role("link", name=re.compile("^Curate")).click()
    page.get_by_role("checkbox", name=re.compile("^Tick run")).check()
    page.get_by_label("Reason").fill("Checked the evidence.")
    page.get_by_role("button", name="Accept what is ticked").click()
    expect(page.locator("main")).to_contain_text("1 run accepted: Checked the evidence.")

    page.goto(run_page)
    expect(page.locator("main")).to_contain_text("accepted")


@pytest.mark.one_database
def test_pages_of_bundles_and_of_what_is_held_back_serve_every_reader(
    chromium: Browser, live_server: Any, tmp_path: Path
) -> None:
    secret = b"TOKEN_OF_IT = 'ghp_" + b"Zq7Xw2Lk9Rt4Vb8Nm3Hs6Jd1Fg5Cp0Ya7Te2'\n"
    run = take_in(tmp_path, Story(before={"a.py": b"x = 1\n"}, after={"a.py": secret}))
    cora = make_curator("cora", password="battery staple")
    ends = {
        "queued": {},
        "running": {"done": 31, "total": 100},
        "failed": {"message": "It is no zip file."},
        "done": {},
    }
    made = {state: Job.objects.create(kind="upload", by=cora, state=state, **more) for state, more in ends.items()}
    Job.objects.filter(pk=made["done"].pk).update(payload={"name": "r.zip", "size": 9, "run": run.ulid, "held": 1})
    context = chromium.new_context(viewport={"width": 390, "height": 844})
    page = context.new_page()
    log_in(page, live_server.url, "cora", "battery staple")
    found = []
    held, queue = f"/curate/?show=files&run={run.ulid}", f"/curate/?run={run.ulid}"
    for path in [*(f"/jobs/{job.key}/" for job in made.values()), "/upload/", held, queue, "/status/"]:
        page.goto(live_server.url + path)
        if page.evaluate("document.documentElement.scrollWidth") > 390:
            found.append(f"{path} is wider than 390 px")
        for scheme, rules in (("light", ()), ("dark", ("color-contrast",))):
            page.emulate_media(color_scheme=scheme)
            found += [f"{path} {scheme} {fault}" for fault in faults(page, *rules)]
    assert not found, "\n".join(found)

    page.goto(f"{live_server.url}/runs/{run.ulid}/")
    page.get_by_role("link", name="decide").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("show=files"))
    page.get_by_role("checkbox", name=re.compile("^Tick file")).focus()
    page.keyboard.press("Space")
    page.get_by_label("Reason").focus()
    page.keyboard.type("A token of the test suite.")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_contain_text("1 file released: A token of the test suite.")
    context.close()


PAGES = ["", "b/", "runs/", "upload/", "docs/", "login/"]


def run_pages(run: str) -> list[str]:
    base = f"runs/{run}/"
    trial = [
        f"{base}t/{index}/{tab}"
        for index in (0, 2)
        for tab in ("", "transcript/", "changes/", "artifacts/", "workspace/")
    ]
    return [base, f"{base}trials", f"{base}s/greet/", "b/journeys/greeting/", "b/journeys/greeting/s/greet/", *trial]


@pytest.mark.one_database
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_is_wider_than_a_telephone(chromium: Browser, site: str, run_dir: Path, scheme: Any) -> None:
    context = chromium.new_context(viewport={"width": 390, "height": 844}, color_scheme=scheme)
    page = context.new_page()
    wide = []
    for path in [*PAGES, *run_pages(run_dir.name)]:
        page.goto(f"{site}/{path}")
        width = page.evaluate("document.documentElement.scrollWidth")
        if width > 390:
            wide.append(f"{path}: {width} px")
    context.close()
    assert not wide, wide


@pytest.mark.one_database
def test_every_page_reads_without_scripts(chromium: Browser, site: str, run_dir: Path) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    for path in [*PAGES, *run_pages(run_dir.name)]:
        answer = page.goto(f"{site}/{path}")
        assert answer is not None and answer.status == 200, path
        expect(page.locator("h1")).to_have_count(1)
    page.goto(f"{site}/runs/{run_dir.name}/t/2/changes/")
    expect(page.locator("main")).to_contain_text("return")
    context.close()


def test_the_console_stays_clean_on_every_page(page: Page, site: str, run_dir: Path) -> None:
    for path in [*PAGES, *run_pages(run_dir.name)]:
        page.goto(f"{site}/{path}")
        page.wait_for_load_state("networkidle")
