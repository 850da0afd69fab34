"""A bench's README as HTML: markdown with HTML off, then cleaned once more; links of strangers get no credit."""

from __future__ import annotations

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

TAGS = {
    *("p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "em"),
    *("strong", "s", "a", "table", "thead", "tbody", "tr", "th", "td"),
}
ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}}
REACHED = {"pre": {"tabindex": "0"}, "table": {"tabindex": "0"}}
"""What may be wider than a narrow screen is reached, and scrolled, by keyboard too."""


def markdown(text: str, *, below: int = 0) -> SafeString:
    """`below` pushes headings down, for text that stands under a heading of the page. No image: a page must not call
    on other hosts."""
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("image")
    tokens = parser.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + below)}"
    made = parser.renderer.render(tokens, parser.options, {})
    schemes = {"http", "https", "mailto"}
    credit = "nofollow noopener ugc"
    clean = nh3.clean(
        made,
        tags=TAGS,
        attributes=ATTRIBUTES,
        url_schemes=schemes,
        link_rel=credit,
        set_tag_attribute_values=REACHED,
    )
    return mark_safe(clean)
