"""Lines of a diff by their address, wherever they are; pictures; a very long diff; the page for ears and for paper."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from benchsite.diffs.files import anchor
from tests.make_world import PNG
from tests.site.web.one_trial import Story, take_in

pytestmark = [pytest.mark.browser, pytest.mark.one_database, pytest.mark.django_db(transaction=True)]
OLD = "".join(f"line {n} = 'text'\n" for n in range(300)).encode()
NEW = OLD.replace(b"line 60 ", b"line sixty ").replace(b"line 200 =", "line\u202e 200 =".encode())
HIDDEN = NEW.replace(b"line 290 ", "line\u200b 290 ".encode())
AXE = Path(__file__).parents[2] / "var" / "npm" / "node_modules" / "axe-core" / "axe.min.js"


@pytest.fixture
def changes(live_server: Any, tmp_path: Path) -> Callable[..., str]:
    """Take a story in and give the address of its changes."""

    def made(before: dict[str, bytes], after: dict[str, bytes]) -> str:
        run = take_in(tmp_path, Story(before=before, after=after))
        return f"{live_server.url}/runs/{run.ulid}/t/0/changes/"

    return made


def test_an_address_finds_its_lines_in_folds_below_what_is_shown_and_in_files_not_yet_fetched(
    page: Page, changes: Callable[..., str]
) -> None:
    small = {f"g/f{n:02}.py": b"x = %d\n" % n * 30 for n in range(25)}
    url = changes({"a.py": OLD}, {"a.py": HIDDEN, "long.txt": b"y\n" * 900, **small})
    a, last, long = (anchor(path) for path in ("a.py", "g/f24.py", "long.txt"))
    page.goto(f"{url}#{a}-R120-R122")
    expect(page.locator("td.on")).to_have_count(9)
    expect(page.locator(f"#{a}-R121")).to_be_in_viewport()
    expect(page.locator(".file").first.locator("tr.fold")).not_to_have_count(0)
    page.goto("about:blank")
    page.goto(f"{url}#{last}-R7")
    expect(page.locator(f"#{last}-R7")).to_be_in_viewport()
    page.goto("about:blank")
    page.goto(f"{url}#{long}-R800")
    expect(page.locator(f"#{long}-R800")).to_be_in_viewport()
    assert page.locator(f"#{long}").locator(".diff tr").count() == 900
    page.goto("about:blank")
    page.goto(f"{url}#{long}")
    expect(page.locator(f"#{long} .diff tr").first).to_be_visible()


def test_hidden_characters_are_walked_through_and_folds_open_by_steps(page: Page, changes: Callable[..., str]) -> None:
    page.goto(changes({"a.py": OLD}, {"a.py": HIDDEN, "wide.txt": b"y" * 3000 + b"<b>\n" + b"x\n" * 20}))
    file, name = page.locator(".file").first, anchor("a.py")
    rows = file.locator(".diff tr:not(.fold)")
    before = rows.count()
    file.get_by_role("link", name="Show the next 20 lines").first.click()
    expect(rows).to_have_count(before + 20)
    for line in (201, 291, 201):
        file.get_by_role("button", name="Next").click()
        expect(page.locator(f"#{name}-R{line}")).to_be_in_viewport()
    assert page.evaluate("location.hash") == f"#{name}-R201"
    expect(page.locator(f"#{name}-R201 ~ td .pill").first).to_have_text("RLO")
    page.get_by_role("link", name="all 3,003 characters").click()
    expect(page.locator(f"#{anchor('wide.txt')}-R1 ~ td.t")).to_have_text("y" * 3000 + "<b>")


def test_two_pictures_are_swiped_and_subtracted(page: Page, changes: Callable[..., str]) -> None:
    page.goto(changes({"a.png": PNG}, {"a.png": PNG[:-8] + PNG[-8:][::-1]}))
    old, new = (page.locator(f".images .{side} img") for side in ("old", "new"))
    assert old.bounding_box()["x"] < new.bounding_box()["x"]  # type: ignore[index]  # both are shown
    page.get_by_label("Difference").check()
    assert new.evaluate("one => getComputedStyle(one).mixBlendMode") == "difference"
    assert old.bounding_box() == new.bounding_box()
    page.get_by_label("Swipe").check()
    page.get_by_label("How much of the new image is seen").fill("25")
    assert "75%" in new.evaluate("one => getComputedStyle(one).clipPath")


def test_a_diff_of_twenty_thousand_rows_scrolls_to_its_end(page: Page, changes: Callable[..., str]) -> None:
    url = changes({}, {"big.txt": b"x\n" * 20_300})
    page.goto(f"{url}#{anchor('big.txt')}")
    rows = page.locator(".diff tr")
    expect(rows.first).to_be_visible()
    page.locator(".file-wait").scroll_into_view_if_needed()
    expect(rows).to_have_count(20_250)
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    page.evaluate(f"document.getElementById('{anchor('big.txt')}-R20240').scrollIntoView()")
    expect(page.locator(f"#{anchor('big.txt')}-R20240")).to_be_in_viewport()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_page_breaks_no_rule_of_accessibility(chromium: Browser, changes: Callable[..., str], theme: Any) -> None:
    if not AXE.exists():
        pytest.skip("axe-core is not installed; npm is needed (on Debian: apt install npm)")
    files = {"a.py": HIDDEN, "a.png": PNG[:-8] + PNG[-8:][::-1], "b.bin": b"\0\1", "c.json": b"{}\n"}
    url = changes({"a.py": OLD, "a.png": PNG, "gone.txt": b"end"}, files)
    context = chromium.new_context(color_scheme=theme, bypass_csp=True)
    page = context.new_page()
    page.goto(url)
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run().then(done => done.violations.map(one => [one.id, one.nodes.map(n => n.html)]))")
    context.close()
    assert found == []


def test_print_and_no_script_leave_out_what_only_a_mouse_can_use(
    chromium: Browser, page: Page, changes: Callable[..., str]
) -> None:
    url = changes({"a.py": OLD}, {"a.py": HIDDEN})
    page.goto(url)
    page.emulate_media(media="print")
    for part in (".diff-files", ".map", ".step", "[data-next-danger]", ".keys-hint"):
        expect(page.locator(part).first).not_to_be_visible()
    expect(page.locator(".diff td.t").first).to_be_visible()
    context = chromium.new_context(java_script_enabled=False)
    bare = context.new_page()
    bare.goto(url)
    expect(bare.locator(".step").first).not_to_be_visible()
    bare.locator("[data-dangers] a").nth(1).click()
    expect(bare.locator(f"#{anchor('a.py')}-R291")).to_be_in_viewport()
    context.close()
