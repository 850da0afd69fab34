from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from runner.reports.markdown import table, text

HTML = MarkdownIt("gfm-like", {"html": True, "linkify": False})


@given(st.text(max_size=40))
def test_no_name_can_be_markup_nor_leave_its_table_cell(name: str) -> None:
    lines = table(["cell", "n"], [[text(name), "1"]], 1)
    tokens = HTML.parse("\n".join(lines))
    cells = [token for token in tokens if token.type == "inline"]
    assert len(cells) == 4
    allowed = {"text", "text_special"}
    assert {child.type for child in cells[2].children or []} <= allowed


def test_a_name_reads_as_it_is_and_mentions_nobody() -> None:
    hostile = "@boss <img src=x> | **b** #12 `c` [a](b)\n\x1b[0m"
    written = text(hostile)
    assert "@" not in written and "<" not in written and " #12" not in written
    shown = HTML.renderInline(written)
    assert shown.startswith("@boss &lt;img src=x&gt; | **b** #12 `c` [a](b) U+001B[0m")
