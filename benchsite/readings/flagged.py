"""Trials whose agents did what a reader of their scores should know: which they are, and on what evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import F, Q, TextField
from django.db.models.functions import Cast
from django.db.models.lookups import Contains

from benchsite.diffs.files import anchor
from runner.faults import FLAGS, INTEGRITY_FLAGS
from runner.integrity import place_of

from .address import to_address


def has_flag(name: str) -> Q:
    """The condition that a trial has a flag and was not withdrawn: what a link from the number must show."""
    return Q(Contains(Cast(F("flags"), TextField()), f'"{name}"')) & Q(withdrawn=False)


@dataclass(frozen=True)
class Evidence:
    """Where to look: a line of a changed file, or a step. `tab` names the page, `query` and `fragment` lead to it."""

    words: str
    tab: str
    query: str
    fragment: str


@dataclass(frozen=True)
class Flag:
    code: str
    sentence: str
    integrity: bool
    evidence: tuple[Evidence, ...]


def flags_of(codes: list[str], issues: tuple[dict[str, Any], ...]) -> tuple[Flag, ...]:
    """Give a trial's flags, each with the evidence that its issues name."""
    found: dict[str, list[Evidence]] = {}
    for issue in issues:
        if (evidence := evidence_of(issue)) is not None:
            found.setdefault(str(issue.get("code")), []).append(evidence)
    return tuple(
        Flag(code, FLAGS.get(code, ""), code in INTEGRITY_FLAGS, tuple(dict.fromkeys(found.get(code, ()))))
        for code in codes
    )


def evidence_of(issue: dict[str, Any]) -> Evidence | None:
    """Lead to the evidence of an issue; None where it names no place of ours."""
    place = place_of(str(issue.get("detail") or "")) if issue.get("code") in INTEGRITY_FLAGS else None
    if place is None:
        return None
    if place.step:
        at = f"{place.request}-{place.step}"
        words = f"step {place.step}" if place.request == 1 else f"step {place.step} of request {place.request}"
        return Evidence(words, "trial_transcript", f"at={at}", f"s{at}")
    words = place.path + (f":{place.line}" if place.line else "")
    line = f"{anchor(place.path)}-R{place.line}" if place.line else anchor(place.path)
    return Evidence(words, "trial_diff_file", f"f={to_address(place.path)}", line)
