"""Which paths a capture leaves out, and how large a file may be to be kept whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from runner.definition import Capture, parse_size

if TYPE_CHECKING:
    from .tree import Tree

_GLOB = frozenset("*?[\\!#/ ")


class Rules:
    """.gitignore rules. Plain names, the usual case, are looked up in a set; else pathspec is asked once per path."""

    def __init__(self, ignore: Sequence[str], max_bytes: int) -> None:
        self.ignore, self.max_bytes = tuple(ignore), max_bytes
        plain = all(self._is_plain(line) for line in self.ignore)
        self.names = frozenset(line for line in self.ignore if not line.endswith("/")) if plain else frozenset[str]()
        """Names ignored whatever they are, and as directories; empty where `spec` must be asked."""
        self.folders = frozenset(line[:-1] for line in self.ignore if line.endswith("/")) if plain else frozenset[str]()
        self.spec: Any = None if plain else _spec(self.ignore)
        self._known: dict[str, bool] = {}
        self._asked: tuple[Tree, bool] | None = None

    @classmethod
    def from_capture(cls, capture: Capture) -> Rules:
        return cls(tuple(capture.ignore), parse_size(capture.max_bytes))

    @staticmethod
    def _is_plain(line: str) -> bool:
        """Without glob, slash, negation or comment a rule is a name; a slash at the end means directories only."""
        return bool(line.rstrip("/")) and not _GLOB.intersection(line.removesuffix("/"))

    def leave_out(self, tree: Tree) -> bool:
        """Whether something in a tree is ignored; worked out once, for the tree that worlds are copied from."""
        if self._asked is None or self._asked[0] is not tree:
            self._asked = tree, any(self.ignored(entry.path, entry.type == "dir") for entry in tree.entries)
        return self._asked[1]

    def ignored(self, path: str, is_dir: bool) -> bool:
        """Judge one path; the caller does not enter an ignored directory, so parents need not be asked again."""
        if self.spec is None:
            name = path.rpartition("/")[2]
            return name in self.names or (is_dir and name in self.folders)
        key = path + "/" if is_dir else path
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = bool(self.spec.match_file(key))
        return known


def _spec(lines: Sequence[str]) -> Any:
    import pathspec  # 20 ms that a bench with plain names need not spend

    return pathspec.GitIgnoreSpec.from_lines(lines)
