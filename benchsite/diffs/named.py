"""Which files a text names: the output of a failing test, a reason, the sentence of a guard."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from .limits import NAMED_CHARS
from .tree import DEEPEST

_WORD = re.compile(r"[^\s'\"`<>|,;()\[\]{}=*]+")
_PLAIN = re.compile(r"[\w.+@%~/-]+")
_PLACE = re.compile(r"::.*|:\d+.*|[.:!?]+$")
_FOREIGN = re.compile(r"(?:^|/)(?:site-packages|dist-packages|node_modules|usr|lib/python[^/]*)/")
_PASSED = re.compile(r"\bPASSED\b|\.\.\. ok\b|^(?:ok|PASS)\b|^\S+ \.+(?: +\[ *\d+%\])?$")


class Names:
    """Knows some paths by their ends, since a text may say `/tmp/x/world/src/a.py:3`, `src/a.py` or `a.py`."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._ends: dict[str, list[str]] = defaultdict(list)
        self._odd: list[str] = []
        for path in paths:
            for end in _ends(path):
                self._ends[end].append(path)
            if _PLAIN.fullmatch(path) is None:
                self._odd.append(path)

    def within(self, text: str) -> set[str]:
        """Give the paths that a text names; lines that tell of what passed name nothing."""
        told = (line for line in text[:NAMED_CHARS].split("\n") if _PASSED.search(line) is None)
        words = {_PLACE.sub("", word.replace("\\", "/")) for line in told for word in _WORD.findall(line)}
        found = {path for word in words for path in self._of(word.removeprefix("./"))}
        return found | {path for path in self._odd if path in text}

    def _of(self, word: str) -> list[str]:
        if not word or _FOREIGN.search(word):
            return []
        for end in _ends(word):
            if found := self._ends.get(end):
                # a bare name says which file is meant only where one alone has it
                bare = "/" not in word and "." in word and len(found) == 1
                return found if "/" in end or end in found or bare else []
        return []


def _ends(path: str) -> list[str]:
    """Give a path and its ends, the longest first; of one with hundreds of folders the last ones do."""
    parts = path.strip("/").split("/")
    return [path.strip("/"), *("/".join(parts[at:]) for at in range(max(1, len(parts) - DEEPEST), len(parts)))]
