"""What did you ask? Queries read strictly: a word nobody offers is a 404, never a silent default."""

from __future__ import annotations

from django.http import Http404, HttpRequest, QueryDict

from benchsite.readings.counts import DEFAULT_POLICY
from benchsite.readings.matrix import SORTS
from benchsite.readings.run import Question
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


def of_run(request: HttpRequest) -> Question:
    return Question(
        policy=policy(request),
        measure=request.GET.get("measure", ""),
        sort=choice(request.GET, "sort", SORTS, "name"),
        first=max(1, whole(request, "first", 1)),
        every=request.GET.get("panels") == "all",
    )


def of_trials(request: HttpRequest) -> Filters:
    names = ("state", "outcome", "fault", "cell", "scenario", "counted", "flag", "measure", "seen")
    given = {name: request.GET.get(name, "") for name in names}
    return Filters(**given, case=request.GET.get("case"), after=whole(request, "after", -1))
