"""Runs, cells or subjects against a baseline; one alone is offered what it can be compared with."""

from __future__ import annotations

import math
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse

from benchsite.readings.compare import behind
from benchsite.readings.compare.asked import SHOWS, SORTS, Asked
from benchsite.readings.compare.grammar import MOST, Of
from benchsite.readings.compare.numbers import NumbersPage, compare_sides
from benchsite.readings.compare.others import others
from benchsite.readings.compare.pooled import Behind
from benchsite.readings.compare.sheets import SHEETS
from benchsite.readings.compare.sides import Side, sides_of
from runner.statistics import POLICIES

from . import asked as asking
from . import compare_pooled, links, twins
from .access import found
from .conditional import page as conditional
from .conditional import private
from .rendering import render

KINDS = ("run", "cell", "subject")


def page(request: HttpRequest, of: tuple[Of, ...]) -> HttpResponseBase:
    sides = found(sides_of(request.user, of))
    if len(sides) == 1:
        # never a 304: what there is to compare with changes with runs that are not named here
        return private(render(request, "compare/choose.html", _choice(request, sides[0])))
    question = asked_of(request)
    return conditional(
        request, revision(sides), "compare/numbers.html", lambda: _context(compare_sides(sides, question))
    )


def table(request: HttpRequest, of: tuple[Of, ...], name: str, kind: str) -> HttpResponse:
    """The twins of the page's tables."""
    if len(of) < 2:
        raise Http404("one thing alone has no table")
    if name == "trials":
        return compare_pooled.table(request, of, kind)
    sheet, sides, question = twins.named(SHEETS, name), found(sides_of(request.user, of)), asked_of(request)
    return twins.twin(request, revision(sides), lambda: sheet(compare_sides(sides, question)), kind)


def asked_of(request: HttpRequest) -> Asked:
    side = asking.whole(request, "side", 0)
    if side == 1 or side > len(request.GET.getlist("of")):
        raise Http404("side names none that is compared with the baseline")
    return Asked(
        policy=asking.policy(request),
        measure=request.GET.get("measure", ""),
        show=asking.choice(request.GET, "show", SHOWS, "differ"),
        side=side,
        sort=asking.choice(request.GET, "sort", SORTS, "change"),
        first=max(1, asking.whole(request, "first", 1)),
        want=_positive(request.GET.get("want", "")),
    )


def _positive(text: str) -> float:
    try:
        value = float(text or 0)
    except ValueError as error:
        raise Http404("want is no number") from error
    if not math.isfinite(value) or value < 0:
        raise Http404("want is no difference")
    return value


def revision(sides: tuple[Side, ...]) -> str:
    return " ".join(f"{run.ulid}:{run.revision}" for side in sides for run in side.runs)


def _context(made: NumbersPage) -> dict[str, Any]:
    of, asked, words = list(made.of), made.asked, made.words
    lists = compare_pooled.Addresses(of, asked)

    def turned(place: int) -> str:
        return asked.query([of[place], *of[:place], *of[place + 1 :]], first=1, side=0)

    columns = [
        {
            "it": column,
            "href": _side_url(column.side),
            "planned": _listed(lists, behind.planned(made, place)),
            "observed": _listed(lists, behind.observed(made, place)),
            **{show: _cases(made, place, show) for show in ("better", "worse", "same", "apart") if place},
            "baseline": turned(place) if place else "",
            "without": asked.query([*of[:place], *of[place + 1 :]], first=1, side=0) if len(of) > 2 else "",
        }
        for place, column in enumerate(made.columns)
    ]
    return {
        "page": made,
        "crumbs": links.crumbs_of_bench(made.bench, ("Compare", None)),
        "columns": columns,
        "rows": _rows(made, lists),
        "policies": [asked.query(of, policy=name) for name in POLICIES],
        "measures": [(measure, asked.query(of, measure=measure.key, want=0.0, first=1)) for measure in made.measures],
        "shows": [(name, words[name], made.counts[name], asked.query(of, show=name, first=1)) for name in SHOWS],
        "whose": [
            (made.columns[side - 1].side.title if side else "any side", side, asked.query(of, side=side, first=1))
            for side in (0, *range(2, len(of) + 1))
        ]
        if len(of) > 2
        else [],
        "sorts": [(name, asked.query(of, sort=name, first=1)) for name in SORTS],
        "next": asked.query(of, first=made.next) if made.next else "",
        "hidden": [*(("of", str(one)) for one in of), *asked.pairs(want=0.0, first=1)],
        "query": asked.query(of, first=1),
    }


def _rows(made: NumbersPage, lists: compare_pooled.Addresses) -> list[dict[str, Any]]:
    flips = made.flips.of(made.lines)
    rows = []
    for line in made.lines:
        squares = []
        for place, square in enumerate(line.squares):
            pair = flips.get((line.slug, line.case, place))
            trials = _listed(lists, behind.of_case(made, place, line))
            squares.append((square, links.compare_trials(*pair) if pair else "", trials))
        rows.append({"line": line, "href": _scenario_url(made, line.slug), "squares": squares})
    return rows


def _cases(made: NumbersPage, place: int, show: str) -> str:
    """The cases that a side's count counts; with two sides there is no other whose they could be."""
    side = place + 1 if len(made.columns) > 2 else 0
    return made.asked.query(made.of, show=show, side=side, first=1) + "#cases"


def _listed(lists: compare_pooled.Addresses, found: behind.Listed | Behind | None) -> str:
    if isinstance(found, Behind):
        return lists.of(found)
    return links.trials(found.run, **found.filters) if found else ""


def _scenario_url(made: NumbersPage, slug: str) -> str:
    if made.kind == "subject":
        return links.address("bench_scenario", made.bench.owner, made.bench.name, slug)
    return links.address("run_scenario", made.columns[0].side.run.ulid, slug)


def _side_url(side: Side) -> str:
    if side.of.kind == "run":
        return reverse("run", args=[side.run.ulid])
    if side.of.kind == "cell":
        return reverse("run_cell", args=[side.run.ulid, side.members[0].key10])
    return reverse("bench", args=[side.run.bench.owner, side.run.bench.name])


def _choice(request: HttpRequest, side: Side) -> dict[str, Any]:
    offered = [(one, Asked().query([side.of, one.of])) for one in others(request.user, side)]
    crumbs = links.crumbs_of_bench(side.run.bench, ("Compare", None))
    return {"side": side, "href": _side_url(side), "offered": offered, "crumbs": crumbs, "most": MOST - 1}
