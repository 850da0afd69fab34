"""The trials behind a comparison's number that no list of one run shows: those of a subject's runs, of some cells."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from benchsite.readings.compare.asked import Asked
from benchsite.readings.compare.grammar import CompareRefused, Of, read
from benchsite.readings.compare.pooled import SEEN, Behind, PooledTrials, pooled_sheet, pooled_trials
from benchsite.readings.compare.sides import sides_of

from . import asked as asking
from . import links, twins
from .access import found
from .conditional import page

KINDS = ("run", "cell", "subject")


@require_safe
def trials(request: HttpRequest) -> HttpResponse:
    try:
        of = read(request.GET.getlist("of"))
        if len(of) < 2 or of[0].kind not in KINDS:
            raise Http404("a list of trials is one of two sides or more")
        sides, (asked, behind) = found(sides_of(request.user, of)), _asked(request)
        revision = " ".join(f"{run.ulid}:{run.revision}" for side in sides for run in side.runs)
        return page(
            request,
            revision,
            "compare/trials.html",
            lambda: _context(found(pooled_trials(sides, asked, behind))),
        )
    except CompareRefused as error:
        raise Http404(str(error)) from error


def table(request: HttpRequest, of: tuple[Of, ...], kind: str) -> HttpResponse:
    sides = found(sides_of(request.user, of))
    asked, behind = _asked(request)
    revision = " ".join(f"{run.ulid}:{run.revision}" for side in sides for run in side.runs)
    return twins.twin(request, revision, lambda: pooled_sheet(found(pooled_trials(sides, asked, behind))), kind)


class Addresses:
    """Addresses of such lists, of which a page has hundreds: what those of a side share is written once."""

    def __init__(self, of: Iterable[Of], asked: Asked) -> None:
        self._of, self._asked = tuple(of), asked
        self._heads: dict[tuple[int, str], str] = {}
        self._cases: dict[tuple[str, str | None], str] = {}

    def of(self, behind: Behind) -> str:
        """The one address of a list: what does not choose among trials is left out."""
        side, case = (behind.side, behind.seen), (behind.scenario, behind.case)
        if side not in self._heads:
            self._heads[side] = f"{reverse('compare_trials')}{_query(self._of, self._asked, Behind(*side))}"
        if case not in self._cases:
            said = urlencode(_said([("scenario", behind.scenario), ("case", behind.case)]), safe=":/")
            self._cases[case] = f"&{said}" if said else ""
        return self._heads[side] + self._cases[case]


def _query(of: Iterable[Of], asked: Asked, behind: Behind, after: tuple[str, int] | None = None) -> str:
    named = Asked(policy=asked.policy, measure=asked.measure, side=behind.side).query(of)
    onward = f"{after[0]}/{after[1]}" if after else ""
    rest = [("seen", behind.seen), ("scenario", behind.scenario), ("case", behind.case), ("after", onward)]
    return f"{named}&{urlencode(_said(rest), safe=':/')}"


def _said(pairs: Iterable[tuple[str, str | None]]) -> list[tuple[str, str]]:
    return [(name, value) for name, value in pairs if value]


def _asked(request: HttpRequest) -> tuple[Asked, Behind]:
    asked = Asked(policy=asking.policy(request), measure=request.GET.get("measure", ""))
    return asked, Behind(
        side=asking.whole(request, "side", 1),
        seen=asking.choice(request.GET, "seen", SEEN, "planned"),
        scenario=request.GET.get("scenario", ""),
        case=request.GET.get("case"),
        after=_after(request.GET.get("after", "")),
    )


def _after(text: str) -> tuple[str, int] | None:
    ulid, _, index = text.partition("/")
    if text and not (index.isascii() and index.isdigit() and len(index) <= 9):
        raise Http404("after= takes a run, a slash, and the index of a trial")
    return (ulid, int(index)) if text else None


def _context(made: PooledTrials) -> dict[str, Any]:
    of = [side.of for side in made.sides]
    whole = reverse("compare") + Asked(policy=made.asked.policy, measure=made.asked.measure).query(of)
    return {
        "page": made,
        "bench": made.side.run.bench,
        "whole": whole,
        "query": _query(of, made.asked, made.behind),
        "next": _query(of, made.asked, made.behind, made.next) if made.next else "",
        "crumbs": links.crumbs_of_bench(made.side.run.bench, ("Compare", whole), ("Trials", None)),
    }
