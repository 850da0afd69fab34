"""axe-core on a page: what keeps it from being used with a screen reader, a keyboard, or weak eyes."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest
from playwright.sync_api import Page

ROOT = Path(__file__).parent.parent.parent
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]


@cache
def _source() -> str:
    for folder in filter(None, [os.environ.get("BENCHSITE_CLIS"), str(ROOT / "var" / "npm")]):
        file = Path(folder) / "node_modules" / "axe-core" / "axe.min.js"
        if file.is_file():
            return file.read_text(encoding="utf-8")
    return ""


def faults(page: Page) -> list[str]:
    """Give each fault as its rule and the element it is at."""
    if not _source():
        pytest.skip("axe-core is not installed; `make test` installs it by npm")
    page.evaluate(_source())
    found = page.evaluate("(tags) => axe.run(document, {runOnly: tags})", TAGS)
    return [
        f"{rule['id']}: {node['target'][0]} {node['failureSummary']}"[:300]
        for rule in found["violations"]
        for node in rule["nodes"]
    ]
