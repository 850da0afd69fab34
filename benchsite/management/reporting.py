"""From the words of `manage.py report` to a file's text."""

from __future__ import annotations

from collections.abc import Sequence

from benchsite.accounts.access import Operator
from benchsite.readings.compare.asked import Asked
from benchsite.readings.compare.grammar import Of, read
from benchsite.readings.compare.numbers import numbers
from benchsite.readings.question import Question
from benchsite.readings.report import comparison_report, run_report
from benchsite.runs.models import Run
from runner.errors import RunnerError
from runner.statistics import policy_named


def report(of: Sequence[str], policy: str, measure: str, site: str) -> str:
    """Report on one run, or on a comparison of up to six runs, cells or subjects."""
    policy_named(policy)
    if site and not site.startswith(("http://", "https://")):
        raise RunnerError(f"--site {site!r} is no address; write https://bench.example.org.")
    named = read([one if ":" in one else f"run:{one}" for one in of])
    if named[0].kind == "trial":
        raise RunnerError("A report is of a run, or compares runs, cells or subjects; trials have their own pages.")
    if len(named) == 1:
        return _of_run(named[0], Question(policy=policy, measure=measure), site)
    asked = Asked(policy=policy, measure=measure)
    page = numbers(Operator(), named, asked)
    if page is None:
        raise RunnerError(f"Not all of {', '.join(map(str, named))} is here; the site's pages have the ids.")
    return comparison_report(page, f"{site.rstrip('/')}/compare/{asked.query(named)}" if site else "")


def _of_run(of: Of, asked: Question, site: str) -> str:
    run = Run.objects.select_related("bench", "version", "by").filter(ulid=of.id).first() if of.kind == "run" else None
    if run is None:
        raise RunnerError(f"There is no run {of.id!r}; a report of one thing is of a run, named by its id.")
    return run_report(run, asked, f"{site.rstrip('/')}/runs/{run.ulid}/" if site else "")
