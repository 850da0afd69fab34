"""A bench's README as HTML: markdown with HTML off, then cleaned once more; links of strangers get no credit."""

from __future__ import annotations

import functools
import re

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

TAGS = {
    *("p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "em"),
    *("strong", "s", "a", "table", "thead", "tbody", "tr", "th", "td"),
}
ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}}
ANCHORS = {"h2": {"id"}, "h3": {"id"}}
REACHED = {"pre": {"tabindex": "0"}, "table": {"tabindex": "0"}}
"""What may be wider than a narrow screen is reached, and scrolled, by keyboard too."""


@functools.cache
def _parser() -> MarkdownIt:
    """Made once: its rules cost more than the parsing of a note."""
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("image")


def markdown(text: str, *, below: int = 0, anchors: bool = False) -> SafeString:
    """`below` pushes headings down, for text that stands under a heading of the page; `anchors` gives them ids, for
    text of our own. No image: a page must not call on other hosts."""
    parser = _parser()
    tokens = parser.parse(text)
    for token, inline in zip(tokens, [*tokens[1:], None], strict=True):
        if anchors and inline and token.type == "heading_open":
            token.attrSet("id", "-".join(re.findall("[a-z0-9]+", inline.content.lower())))
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + below)}"
    made = parser.renderer.render(tokens, parser.options, {})
    schemes = {"http", "https", "mailto"}
    credit = "nofollow noopener ugc"
    clean = nh3.clean(
        made,
        tags=TAGS,
        attributes=ATTRIBUTES | ANCHORS if anchors else ATTRIBUTES,
        url_schemes=schemes,
        link_rel=credit,
        set_tag_attribute_values=REACHED,
    )
    return mark_safe(clean)
