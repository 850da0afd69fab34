"""A run or a comparison as one file to keep or to send."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from benchsite.readings.compare.grammar import CompareRefused, read
from benchsite.readings.compare.numbers import compare_sides
from benchsite.readings.compare.sides import sides_of
from benchsite.readings.report import comparison_report, run_report
from runner.errors import RunnerError

from . import asked, compare_numbers
from .access import found, run_for
from .conditional import answer


@require_safe
def run(request: HttpRequest, ulid: str) -> HttpResponse:
    of, question = run_for(request, ulid), asked.of_run(request)
    address = request.build_absolute_uri(reverse("run", args=[ulid]) + question.query().rstrip("?"))

    def make() -> HttpResponse:
        try:
            return attached(f"run-{ulid}", run_report(of, question, address))
        except RunnerError as error:
            raise Http404 from error

    return answer(request, str(of.revision), make)


@require_safe
def comparison(request: HttpRequest) -> HttpResponse:
    try:
        named = read(request.GET.getlist("of"))
        if len(named) < 2 or named[0].kind not in compare_numbers.KINDS:
            raise Http404
        sides, question = found(sides_of(request.user, named)), compare_numbers.asked_of(request)
        address = request.build_absolute_uri(reverse("compare") + question.query(named))
        return answer(
            request,
            compare_numbers.revision(sides),
            lambda: attached("comparison", comparison_report(compare_sides(sides, question), address)),
        )
    except CompareRefused as error:
        raise Http404 from error


def attached(name: str, text: str) -> HttpResponse:
    """Always a download: the file has style of its own, which no page of the site may have."""
    response = HttpResponse(text, content_type="text/html; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}.html"'
    return response
