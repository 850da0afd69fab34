"""Why trials have no result: groups of those that ended in the same way, for the same reason."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import Q
from django.db.models.functions import Substr
from django.db.models.lookups import In

from runner.faults import FAULTS

LENGTH = 200
"""Reasons are told apart by so many of their characters."""
HEAD = Substr("reason", 1, LENGTH)
GROUPS = 100
ALIKE = 5000
"""A group's list finds its trials by so many different wordings at most."""
_VARIES = re.compile(r"0x[0-9a-f]+|\b[0-9a-f]{8,}\b|[0-9A-HJKMNP-TV-Z]{26}|\d+(?:[.,:]\d+)*", re.ASCII)


class Reason(NamedTuple):
    """One wording as trials have it, and how many have it."""

    state: str
    fault: str
    text: str
    many: int


@dataclass(frozen=True)
class Group:
    """`pattern` is the reason with its numbers and digests left open; `sentence` says what the fault means."""

    state: str
    fault: str
    pattern: str
    many: int

    @property
    def door(self) -> str:
        return FAULTS[self.fault].door if self.fault in FAULTS else ""

    @property
    def sentence(self) -> str:
        return FAULTS[self.fault].sentence if self.fault in FAULTS else ""

    @property
    def filters(self) -> dict[str, str]:
        """What the list of exactly these trials is asked for."""
        return {"state": self.state, "fault": self.fault, "why": self.pattern}


@dataclass(frozen=True)
class Failures:
    groups: tuple[Group, ...]
    total: int

    @property
    def trials(self) -> int:
        return sum(group.many for group in self.groups)


def pattern(text: str) -> str:
    """Leave open what differs between two tellings of one reason: `exit 129 in a.py:14` is `exit # in a.py:#`."""
    return _VARIES.sub("#", text[:LENGTH].split("\n", 1)[0]).strip()


def failures(reasons: Iterable[Reason], *, fixed: bool = False) -> Failures:
    """Group reasons, the most frequent first (`fixed`: by name); as many as a page can hold."""
    counted: Counter[tuple[str, str, str]] = Counter()
    for one in reasons:
        counted[one.state, one.fault, pattern(one.text)] += one.many
    order = sorted(counted.items(), key=lambda item: (0 if fixed else -item[1], item[0]))
    groups = [Group(*key, many) for key, many in order]
    return Failures(tuple(groups[:GROUPS]), len(groups))


def worded(trials: Any, wanted: str) -> Q:
    """The condition that a trial's reason is one of a group's."""
    found = trials.order_by().annotate(head=HEAD).values_list("head", flat=True).distinct()
    alike = [head for head in found.iterator() if pattern(head) == wanted]
    return Q(In(HEAD, alike[:ALIKE])) if alike else Q(pk=None)
