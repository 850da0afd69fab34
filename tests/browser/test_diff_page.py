"""The diff page under hands: lazy files, folds, keys, copying one side, narrow screens, and without script."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.site.web.one_trial import Story, take_in

pytestmark = [pytest.mark.browser, pytest.mark.one_database, pytest.mark.django_db(transaction=True)]
OLD = "".join(f"line {n} = 'text'\n\n" for n in range(120)).encode()
NEW = OLD.replace(b"line 60 ", b"line sixty ").replace(b"line 90 ", b"line ninety ")


@pytest.fixture
def changes(live_server: Any, tmp_path: Path) -> str:
    """Give the address of a trial's changes: one edited file first, then more files than a page carries itself."""
    after = {"a.py": NEW} | {f"gen/f{n:02}.py": b"x = %d\n" % n * 30 for n in range(30)} | {"long.txt": b"y\n" * 500}
    run = take_in(tmp_path, Story(before={"a.py": OLD}, after=after))
    return f"{live_server.url}/runs/{run.ulid}/t/0/changes/"


def test_files_further_down_are_fetched_when_they_come_near(page: Page, changes: str) -> None:
    page.goto(changes)
    waiting = page.locator('[data-lazy="reveal"]')
    assert waiting.count() > 5
    for _ in range(50):
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        page.wait_for_timeout(100)
        if not waiting.count():
            break
    expect(page.locator(".file", has_text="gen/f29.py").locator(".diff tr")).to_have_count(30)


def test_a_folded_file_opens_by_a_click(page: Page, changes: str) -> None:
    page.goto(changes)
    file = page.locator(".file").filter(has=page.locator(".file-path", has_text="long.txt"))
    expect(file.locator(".diff")).to_have_count(0)
    file.scroll_into_view_if_needed()
    expect(file.locator(".file-head .tag")).to_have_text("500 changed lines")
    file.locator(".file-path").click()
    expect(file.locator(".diff tr").first).to_be_visible()
    file.locator(".file-wait, .diff tr").last.scroll_into_view_if_needed()
    expect(file.locator(".diff tr")).to_have_count(500)


def test_a_fold_opens_in_place_and_the_keyboard_stays_there(page: Page, changes: str) -> None:
    page.goto(changes)
    file = page.locator(".file").first
    before = file.locator(".diff tr").count()
    fold = file.locator("tr.fold a:not(.step)").nth(1)
    lines = int(fold.inner_text().split()[0])
    fold.focus()
    page.keyboard.press("Enter")
    expect(file.locator(".diff tr")).to_have_count(before - 1 + lines)
    assert page.evaluate("document.activeElement.closest('td.n') !== null")


def test_copying_takes_one_side_with_its_empty_lines_and_without_numbers(page: Page, changes: str) -> None:
    page.goto(changes)
    page.locator("tr.r td.t").nth(1).dispatch_event("mousedown")
    copied = page.evaluate("""() => {
        const rows = [...document.querySelectorAll("tr.r")];
        const range = document.createRange();
        range.setStartBefore(rows[0]);
        range.setEndAfter(rows[0].nextElementSibling.nextElementSibling);
        getSelection().removeAllRanges();
        getSelection().addRange(range);
        return getSelection().toString();
    }""")
    assert copied.split("\n")[:3] == ["line sixty = 'text'", "", "line 61 = 'text'"]


def test_keys_walk_files_and_changes_and_can_be_switched_off(page: Page, changes: str) -> None:
    page.goto(changes)
    page.keyboard.press("j")
    page.keyboard.press("j")
    focused = "document.activeElement.closest('.file')?.querySelector('.file-path').textContent"
    assert page.evaluate(focused) == "gen/f01.py"
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("k")
    assert page.evaluate(focused) == "gen/f00.py"
    page.keyboard.press("e")
    expect(page.locator(".file").nth(1).locator(".diff")).not_to_be_visible()
    page.keyboard.press("k")
    page.keyboard.press("n")
    near = "document.querySelectorAll('.file')[0].querySelectorAll('tr.r')[%d].getBoundingClientRect().top"
    assert 0 < page.evaluate(near % 0) < 300
    page.keyboard.press("n")
    assert 0 < page.evaluate(near % 1) < 300
    page.keyboard.press("p")
    assert 0 < page.evaluate(near % 0) < 300
    page.keyboard.press("v")
    expect(page.get_by_label("Viewed").first).to_be_checked()
    page.keyboard.press("t")
    page.keyboard.type("f1")
    expect(page.locator(".tree li:visible")).to_have_count(11)
    page.locator("[data-filter-files]").fill("")
    page.locator(".file-head").first.focus()
    for key, query in (("s", "view=unified"), ("w", "space=eol"), (".", "context=10")):
        page.keyboard.press(key)
        page.wait_for_url(f"**{query}*")
    page.keyboard.press("E")
    expect(page.locator(".file[open]")).to_have_count(0)
    page.get_by_role("button", name="Keys").click()
    dialog.get_by_label("Switch single keys off").check()
    page.keyboard.press("Escape")
    page.keyboard.press("E")
    expect(page.locator(".file[open]")).to_have_count(0)


def test_a_viewed_file_folds_and_is_remembered(page: Page, changes: str) -> None:
    page.goto(changes)
    file = page.locator(".file").first
    page.get_by_label("Viewed").first.check()
    expect(file.locator(".diff").first).not_to_be_visible()
    page.reload()
    expect(page.get_by_label("Viewed").first).to_be_checked()
    expect(page.locator("[data-viewed-count]")).to_have_text("1 of 32 viewed")


def test_a_range_of_lines_has_an_address(page: Page, changes: str) -> None:
    page.goto(changes)
    numbers = page.locator(".file").nth(1).locator("td.n a")
    numbers.nth(1).click()
    numbers.nth(3).click(modifiers=["Shift"])
    assert page.evaluate("location.hash").endswith("-R2-R4")
    page.reload()
    expect(page.locator("td.on")).to_have_count(9)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_narrow_screen_shows_old_above_new_and_never_scrolls_sideways(
    chromium: Browser, changes: str, theme: Any
) -> None:
    context = chromium.new_context(viewport={"width": 390, "height": 800}, color_scheme=theme)
    page = context.new_page()
    page.goto(changes)
    old, new = (page.locator("tr.r").first.locator("td.t").nth(n).bounding_box() for n in (0, 1))
    assert old is not None
    assert new is not None
    assert old["y"] < new["y"]
    assert old["x"] == new["x"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    context.close()


def test_everything_can_be_read_without_script(chromium: Browser, changes: str) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(changes)
    page.locator(".file").first.locator("tr.fold a:not(.step)").first.click()
    expect(page.locator(".diff tr")).to_have_count(240)
    page.goto(changes)
    page.locator(".file").filter(has=page.locator(".file-path", has_text="gen/f29.py")).get_by_text(
        "Show this diff"
    ).click()
    expect(page.locator(".diff tr")).to_have_count(30)
    context.close()
