"""Changed files as HTML: the list of them, the head of each, and those that are fetched when they come near.

Built in Python: a page lists three hundred files, which a template takes half of its time for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from typing import TYPE_CHECKING

from django.utils.safestring import SafeString

from benchsite.diffs.dangers import Pill
from benchsite.diffs.files import Changed
from benchsite.readings.diff import Item
from benchsite.readings.filediff import FileDiff

from .diffhtml import pill
from .formats import foreign

if TYPE_CHECKING:
    from .diffparts import ShownFile

FOLDER = '<svg class="icon" aria-hidden="true"><use href="#i-folder"/></svg>'
NAMED = 80
"""Characters of what names a file."""


def listed(items: Iterable[Item]) -> SafeString:
    """Write the rows of the tree of changed files."""
    return SafeString("".join(_row(item) for item in items))


def _row(item: Item) -> str:
    name, sums = _name(item.name), _sums(item.node.added, item.node.deleted)
    if item.file is None:
        return f'<li class="folder d{item.node.depth}">{FOLDER}<bdi class="file-name">{name}/</bdi>{sums}</li>'
    return f'<li class="d{item.node.depth}">{link(item.file, name, sums)}</li>'


def link(file: FileDiff, name: str = "", sums: str = "") -> SafeString:
    """Link a file's place on the page, by its whole path where no `name` is given."""
    name = name or _name(file.name)
    return SafeString(
        f'<a href="#{file.change.fragment}" data-file-link="{file.viewed_key}">{_letter(file.change)}'
        f'<bdi class="file-name">{name}</bdi>{sums}</a>'
    )


def links(shown: ShownFile) -> SafeString:
    """Write what stands beside a file's head: nothing to press may stand in what folds it."""
    made = shown.file.comparison
    ways = [(words, f"{url}&save=1") for words, url in (("before", shown.old_raw), ("after", shown.new_raw)) if url]
    ways += [(words, url) for words, url in (("in workspace", shown.workspace), ("alone", shown.url)) if url]
    language = f'<span class="muted language">{escape(made.language)}</span>' if made and made.language else ""
    drawn = "".join(f'<a href="{escape(url)}">{words}</a>' for words, url in ways)
    tick = '<label class="viewed needs-js"><input type="checkbox" data-viewed-tick> Viewed</label>'
    return SafeString(f'<p class="file-links">{language}{drawn}\n  {tick}</p>')


def head(file: FileDiff) -> SafeString:
    """Write the line that names a file, folds it and sticks to the top."""
    return SafeString(f'<summary class="file-head">{"".join(_head(file))}</summary>')


def _head(file: FileDiff) -> Iterator[str]:
    change, made = file.change, file.comparison
    old = f'{_name(file.old_name)}<span class="muted"> → </span>' if change.old_path else ""
    yield f'{_letter(change)}<span class="file-path"><bdi>{old}{_name(file.name)}</bdi></span>'
    if file.added is not None and not (made and made.kind == "plain"):
        yield f'<span class="file-counts">{_plus(file.added)} {_minus(file.deleted or 0)}</span>'
    if made and made.folded:
        yield f'<span class="tag">{escape(made.folded)}</span>'
    if file.named:
        yield f'<span class="tag warn">named by {foreign(", ".join(file.named), NAMED)}</span>'
    if made and made.dangers:
        yield '<span class="tag warn">hidden characters</span>'


def waiting(shown: ShownFile) -> SafeString:
    """Write a file that is fetched when it comes near; without script its link leads to it."""
    file, css = shown.file, "file nowrap" if shown.nowrap else "file"
    return SafeString(
        f'<div class="file-box">{links(shown)}<details class="{css}" id="{file.change.fragment}" '
        f'data-viewed="{file.viewed_key}" open data-lazy="reveal" data-part="{escape(shown.part)}">{head(file)}'
        f'<p class="file-wait"><a href="{escape(shown.url)}">Show this diff</a></p></details></div>'
    )


def _name(parts: Iterable[str | Pill]) -> str:
    return "".join(escape(part) if isinstance(part, str) else pill(part) for part in parts)


def _letter(change: Changed) -> str:
    return f'<span class="letter l-{change.letter}" title="{change.status}">{change.letter}</span>'


def _sums(added: int, deleted: int) -> str:
    """Sums of a row of the tree; what is 0 is left out."""
    drawn = " ".join([_plus(added)] * bool(added) + [_minus(deleted)] * bool(deleted))
    return f'<span class="file-counts">{drawn}</span>'


def _plus(many: int) -> str:
    return f'<span class="plus">+{many:,}</span>'


def _minus(many: int) -> str:
    return f'<span class="minus">−{many:,}</span>'
