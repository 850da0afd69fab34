"""A page without its site: what can be read stays, what only works there goes, and nothing is fetched."""

from __future__ import annotations

import re
from html import escape
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

DROPPED_TAGS = frozenset({"script", "form", "button", "input", "select", "label", "link", "iframe", "object", "embed"})
DROPPED_CLASSES = frozenset({"btn", "copy", "needs-js", "narrow-cells", "skip", "crumbs", "twins", "acts", "opener"})
CHOICES = "segmented"
"""Of a group of choices only the chosen one stays."""
VOID = frozenset({"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"})
KEPT_ATTRIBUTES = re.compile(r"(?!on|hx-|data-|src|action|formaction|style$|ping$|background$|poster$)")


def still(html: str, base: str = "") -> str:
    """Make a page still. Links lead to `base`, the page's full address; without one they are plain text.

    Links within the page stay, if what they lead to does.
    """
    reader = _Reader(base)
    reader.feed(html)
    reader.close()
    return "".join(reader.parts)


class _Reader(HTMLParser):
    """Writes what it reads again; `_inside` counts the open elements of a dropped one."""

    def __init__(self, base: str) -> None:
        super().__init__(convert_charrefs=False)
        self.base = base
        self.parts: list[str] = []
        self._dropped: list[str] = []
        self._choices: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._dropped:
            if tag not in VOID:
                self._dropped.append(tag)
            return
        if self._drops(tag, dict(attrs)):
            if tag not in VOID:
                self._dropped.append(tag)
            return
        if (self._choices and tag not in VOID) or CHOICES in (dict(attrs).get("class") or "").split():
            self._choices.append(tag)
        self.parts.append(self._written(tag, attrs))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if not self._dropped and not self._drops(tag, dict(attrs)):
            self.parts.append(self._written(tag, attrs, "/"))

    def handle_endtag(self, tag: str) -> None:
        if self._dropped:
            if tag in self._dropped:
                while self._dropped.pop() != tag:
                    pass
            return
        if tag in self._choices:
            while self._choices.pop() != tag:
                pass
        self.parts.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        if not self._dropped:
            self.parts.append(data)

    def handle_entityref(self, name: str) -> None:
        self.handle_data(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self.handle_data(f"&#{name};")

    def _drops(self, tag: str, attrs: dict[str, str | None]) -> bool:
        if tag in DROPPED_TAGS or DROPPED_CLASSES & set((attrs.get("class") or "").split()):
            return True
        return bool(self._choices) and tag == "a" and "aria-current" not in attrs

    def _written(self, tag: str, attrs: list[tuple[str, str | None]], end: str = "") -> str:
        kept = [(name, self._value(tag, name, value)) for name, value in attrs if KEPT_ATTRIBUTES.match(name)]
        text = "".join(
            f" {name}" if value is None else f' {name}="{escape(value)}"' for name, value in kept if value is not False
        )
        return f"<{tag}{text}{end}>"

    def _value(self, tag: str, name: str, value: str | None) -> str | bool | None:
        """Give an attribute's value, False where it goes: a link without the site has nowhere to lead."""
        if name not in ("href", "xlink:href") or value is None or value.startswith("#"):
            return value
        if tag != "a" or not self.base or self._choices:
            return False
        found = urljoin(self.base, value)
        return found if urlsplit(found).scheme in ("http", "https") else False
