"""Two trials beside each other; one alone is sent on to the nearest solved trial of its case."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse

from benchsite.diffs.alignment import Place
from benchsite.diffs.files import anchor
from benchsite.diffs.options import Options
from benchsite.diffs.pretty import is_json
from benchsite.diffs.stepindex import APART
from benchsite.readings.address import to_address
from benchsite.readings.compare import trials as readings
from benchsite.readings.compare.ends import SHOWS
from benchsite.readings.compare.grammar import Of
from benchsite.readings.compare.nearest import MEANING, nearest_solved
from benchsite.readings.compare.pair import Pair, paired, trials_of
from benchsite.readings.compare.pairsheet import SHEETS
from benchsite.readings.compare.talk import talk
from benchsite.readings.compare.three import threes
from benchsite.readings.compare.trials import Both, Group, OnePath

from . import diffparts, links, stephtml, threehtml, twins
from .access import found
from .conditional import answer, private
from .diffparts import ShownFile
from .evidence import raw, whole_number
from .rendering import render

TABS = {"changes": "Changes", "three": "Start | A | B", "transcript": "Transcript"}


def page(request: HttpRequest, asked: tuple[Of, ...]) -> HttpResponseBase:
    trials = found(trials_of(request.user, asked))
    if len(trials) == 1:
        one = trials[0]
        best = nearest_solved(request.user, one)
        return private(HttpResponseRedirect(links.compare_trials((one.ulid, one.index), best, nearest="1")))
    pair = paired(trials)
    if request.GET.get("f"):
        return _file(request, pair)
    make = {"transcript": _transcript, "three": _three}.get(request.GET.get("what", ""), _changes)
    return make(request, pair)


def table(request: HttpRequest, asked: tuple[Of, ...], name: str, kind: str) -> HttpResponse:
    """The twins of the page's tables."""
    sheet, pair = twins.named(SHEETS, name), paired(found(trials_of(request.user, asked)))
    return private(twins.sent(sheet(pair, readings.show_of(request.GET.get("show"))), kind))


def _three(request: HttpRequest, pair: Pair) -> HttpResponse:
    options = Options.read(request.GET)
    made, more = threes(pair, options)
    files = [(one, threehtml.tables(one.rows, anchor(one.touched.path))) for one in made]
    sides = [(side.ulid, side.index) for side in (pair.a, pair.b)]
    here = links.compare_trials(*sides, what="three")
    contexts = [(words, f"{here}&context={key}", options.context == key) for key, words in (("3", "3"), ("all", "All"))]
    return _tab(request, "three", readings.both(pair), files=files, more=more, contexts=contexts)


def _transcript(request: HttpRequest, pair: Pair) -> HttpResponse:
    unfolded = request.GET.get("same") == "shown"
    made = talk(pair, whole_number(request, "page") or 1, unfolded=unfolded, start=_from(request))
    sides = [(side.ulid, side.index) for side in (pair.a, pair.b)]
    start, end = ("" if place == (0, 0) else f"{place[0]}.{place[1]}" for place in (made.start, made.end))
    more = {"what": "transcript", "same": "shown" if unfolded else ""}
    urls = {
        "folded": links.compare_trials(*sides, what="transcript", **{"from": start}),
        "shown": links.compare_trials(*sides, what="transcript", same="shown", **{"from": start}),
        "whole": links.compare_trials(*sides, **more),
        "next": links.compare_trials(*sides, **more, **{"from": end}),
    }
    here = urls["shown" if unfolded else "folded"]
    left, right = (f"{reverse('trial_transcript', args=side)}?" for side in sides)
    rows = stephtml.beside(made.rows, urls["shown"], (left, right))
    given = {"talk": made, "here": here, "urls": urls, "apart": APART, "rows": rows}
    return _tab(request, "transcript", readings.both(pair), **given)


def _from(request: HttpRequest) -> Place:
    """Read where a part of a long alignment begins, as `steps of A.steps of B`."""
    a, _, b = request.GET.get("from", "").partition(".")
    good = all(text.isascii() and text.isdigit() and len(text) < 9 for text in (a, b))
    return (int(a), int(b)) if good else (0, 0)


def _changes(request: HttpRequest, pair: Pair) -> HttpResponse:
    options, show = Options.read(request.GET), readings.show_of(request.GET.get("show"))
    files = readings.files(pair, show, options, whole_number(request, "page") or 1)
    groups = [_group(pair, group, show, options) for group in files.groups]
    shows = [(words, _url(pair, key, options), key == show) for key, words in SHOWS.items()]
    twin = _query(pair, show)
    json = any(is_json(file.change.path) for file in files.files)
    context = {
        "files": files,
        "groups": groups,
        "shows": shows,
        "bar": diffparts.bar(options, json=json, moved=files.has_moved),
        "keep": f"{twin[1:]}&",
        "twin": twin,
    }
    return _tab(request, "changes", readings.both(pair), **context)


def _tab(request: HttpRequest, name: str, page: Both, **more: Any) -> HttpResponse:
    pair = page.pair
    a, b = ((side.ulid, side.index) for side in (pair.a, pair.b))
    tabs = [
        (words, links.compare_trials(a, b, what="" if key == "changes" else key), key == name)
        for key, words in TABS.items()
    ]
    context = {
        "page": page,
        "pair": pair,
        "tabs": tabs,
        "query": _query(pair, "ab"),
        "swap": links.compare_trials(b, a, what="" if name == "changes" else name),
        "nearest": MEANING if request.GET.get("nearest") else "",
        "crumbs": _crumbs(pair),
        **more,
    }
    return private(render(request, f"compare/{name}.html", context))


def _file(request: HttpRequest, pair: Pair) -> HttpResponseBase:
    options, show = Options.read(request.GET), readings.show_of(request.GET.get("show"))
    one = found(readings.one_path(pair, request.GET["f"], show, options))
    if request.GET.get("raw"):
        return raw(request, found(one.raw(request.GET["raw"])))
    return answer(request, one.revision, lambda: _one(request, pair, one))


def _one(request: HttpRequest, pair: Pair, one: OnePath) -> HttpResponse:
    part, url = request.GET.get("part", ""), _url(pair, one.show, one.options, to_address(one.change.path))
    if part in ("rows", "line"):
        return HttpResponse(diffparts.fold_rows(request, one, url))
    shown = diffparts.shown_at(one.file(asked=part != "near"), one.options, url)
    context = {"shown": shown, "options": one.options}
    if part in ("file", "near"):
        return render(request, "trial/_file.html", context)
    keep = _url(pair, one.show, address=shown.file.address).partition("?")[2] + "&"
    shows = [
        (words, _url(pair, key, one.options, shown.file.address), key == one.show)
        for key, words in SHOWS.items()
        if one.touched.change(key)
    ]
    bar = diffparts.bar(one.options, json=is_json(one.change.path), moved=bool(one.moved) or one.options.moved == "off")
    context |= {"pair": pair, "words": one.words, "bar": bar, "keep": keep, "shows": shows}
    return render(request, "compare/file.html", {**context, "all": _url(pair, one.show), "crumbs": _crumbs(pair)})


def _group(pair: Pair, group: Group, show: str, options: Options) -> tuple[Group, list[ShownFile], list[Any]]:
    """Give a group with its files written, and the addresses of what both did alike."""
    shown = [diffparts.shown_at(file, options, _url(pair, show, options, file.address)) for file in group.files]
    alike = [(one, _url(pair, "a", options, to_address(one.path))) for one in group.same]
    return group, shown, alike


def _url(pair: Pair, show: str, options: Options | None = None, address: str = "") -> str:
    sides = ((side.ulid, side.index) for side in (pair.a, pair.b))
    url = links.compare_trials(*sides, show="" if show == "ab" else show, f=address)
    query = options.query() if options else ""
    return f"{url}&{query}" if query else url


def _query(pair: Pair, show: str) -> str:
    return "?" + _url(pair, show).partition("?")[2]


def _crumbs(pair: Pair) -> list[tuple[str, str | None]]:
    bench, scenario = pair.a.run.bench, pair.a.trial.scenario
    where = reverse("bench_scenario", args=[bench.owner, bench.name, scenario.slug])
    return links.crumbs_of_bench(bench, (str(scenario), where), ("Compare trials", None))
