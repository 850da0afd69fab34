"""What did you ask? Queries read strictly: a word nobody offers is a 404, never a silent default."""

from __future__ import annotations

from dataclasses import fields

from django.http import Http404, HttpRequest, QueryDict

from benchsite.readings.counts import DEFAULT_POLICY
from benchsite.readings.matrix import SORTS
from benchsite.readings.question import SPENT, Question
from benchsite.readings.trials import Filters
from runner.statistics import POLICIES


def choice(query: QueryDict, name: str, allowed: tuple[str, ...], default: str) -> str:
    value = query.get(name, default)
    if value not in allowed:
        raise Http404(f"{name}={value}: allowed are {', '.join(allowed)}")
    return value


def policy(request: HttpRequest) -> str:
    return choice(request.GET, "policy", tuple(POLICIES), DEFAULT_POLICY)


def whole(request: HttpRequest, name: str, default: int) -> int:
    text = request.GET.get(name, "")
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise Http404(f"{name} is no number")
    return int(text)


def yes(request: HttpRequest, name: str) -> bool:
    return choice(request.GET, name, ("", "1"), "") == "1"


def of_run(request: HttpRequest) -> Question:
    query = request.GET
    return Question(
        policy=policy(request),
        measure=query.get("measure", ""),
        where=tuple(query.getlist("where")),
        split=choice(query, "split", ("", "version"), ""),
        sort=choice(query, "sort", SORTS, "name"),
        differ=yes(request, "differ"),
        turn=yes(request, "turn"),
        lead=choice(query, "lead", ("", "versus"), ""),
        open=query.get("open", ""),
        case=max(1, whole(request, "case", 1)),
        first=max(1, whole(request, "first", 1)),
        panels=choice(query, "panels", ("", "all"), ""),
        x=choice(query, "x", SPENT, "cost"),
        fixed=yes(request, "fixed"),
    )


def of_trials(request: HttpRequest) -> Filters:
    plain = [field.name for field in fields(Filters) if field.name not in ("case", "why", "after")]
    given = {name: request.GET.get(name, "") for name in plain}
    if "of" in request.GET:
        given |= _of_square(request.GET["of"], given)
    case, why = request.GET.get("case"), request.GET.get("why")
    return Filters(**given, case=case, why=why, after=whole(request, "after", -1))


def _of_square(of: str, given: dict[str, str]) -> dict[str, str]:
    """`of=<cell>/<scenario>` is short for a square of the matrix: the trials it counts, as it does unless told how."""
    cell, _, scenario = of.partition("/")
    if not (cell and scenario):
        raise Http404("of= takes the key of a cell, a slash, and a scenario")
    how = given["counted"] or given["state"] or given["measure"]
    counted = given["counted"] if how else DEFAULT_POLICY
    seen = given["seen"] or ("observed" if given["measure"] else "")
    return {"cell": cell, "scenario": scenario, "counted": counted, "seen": seen}
