"""axe-core on a page: what keeps it from being used with a screen reader, a keyboard, or weak eyes."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest
from playwright.sync_api import Page

ROOT = Path(__file__).parent.parent.parent
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
LINE_NUMBERS = (".ln", ".ln *", "td.n", "td.n *")
"""As high as the line of code that they stand beside: rows of 24 px would show a sixth less of every file."""
SIZED = {"rules": [{"id": "target-size", "selector": f"*:not({', '.join(LINE_NUMBERS)})"}]}

SETTLE = "() => document.getAnimations().forEach((one) => one instanceof CSSTransition && one.finish())"
"""A colour on its way to another one is none that anybody reads."""


@cache
def _source() -> str:
    for folder in filter(None, [os.environ.get("BENCHSITE_CLIS"), str(ROOT / "var" / "npm")]):
        file = Path(folder) / "node_modules" / "axe-core" / "axe.min.js"
        if file.is_file():
            return file.read_text(encoding="utf-8")
    return ""


def faults(page: Page, *rules: str) -> list[str]:
    """Give each fault as its rule and the element it is at; of these rules alone where some are named."""
    if not _source():
        pytest.skip("axe-core is not installed; `make test` installs it by npm")
    page.evaluate(_source())
    page.evaluate("(sized) => axe.configure(sized)", SIZED)
    page.evaluate(SETTLE)
    only = {"type": "rule", "values": rules} if rules else {"type": "tag", "values": TAGS}
    found = page.evaluate("(only) => axe.run(document, {runOnly: only, resultTypes: ['violations']})", only)
    return [
        f"{rule['id']}: {node['target'][0]} {node['failureSummary']}"[:300]
        for rule in found["violations"]
        for node in rule["nodes"]
    ]
