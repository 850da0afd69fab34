"""JUnit XML that every reader takes: a suite a cell, a test a trial; control characters never break it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from runner.records import RunResult, Trial
from runner.selection import name_of

_REFUSED = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufdcf\ufdf0-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold, or should not: one such character makes the whole file unreadable."""
LONGEST = 1_000
"""Observed texts are cut to so many characters: they are here to be glanced at."""
SKIPPED = ("excluded", "skipped", "cancelled", "not_run", "queued", "running")


@dataclass(frozen=True)
class Entry:
    """`kind` is "", failure, error or skipped; `message` says why in one sentence, `detail` at length."""

    suite: str
    name: str
    seconds: float | None = None
    kind: str = ""
    message: str = ""
    detail: str = ""
    properties: tuple[tuple[str, str], ...] = ()


def junit(name: str, tests: Iterable[Entry]) -> str:
    """Write tests as one document; those of a suite stand together."""
    suites: dict[str, list[Entry]] = {}
    for test in tests:
        suites.setdefault(test.suite, []).append(test)
    every = [test for suite in suites.values() for test in suite]
    body = "".join(_suite(suite, inner) for suite, inner in suites.items())
    head = '<?xml version="1.0" encoding="UTF-8"?>\n'
    return f"{head}<testsuites name={_attr(name)} {_counts(every)}>\n{body}</testsuites>\n"


def entries_of(result: RunResult) -> Iterable[Entry]:
    """Give a test a trial: an unsolved one fails, an error is an error, and what was not scored is skipped."""
    return (_trial(result, trial) for trial in result.trials)


def _trial(result: RunResult, trial: Trial) -> Entry:
    scenario, case, cell, number = name_of(result.manifest, trial.planned.index)
    final = trial.final
    kind, message = _verdict(trial)
    seen = final.observations.values() if final else ()
    values = [(one.measure, str(one.value)[:LONGEST]) for one in seen if one.valid]
    return Entry(
        suite=cell,
        name=f"{scenario}{f'[{case}]' if case else ''} #{number}",
        seconds=final.seconds if final else None,
        kind=kind,
        message=message,
        detail=trial.reason if kind else "",
        properties=(("index", str(trial.planned.index)), *values),
    )


def _verdict(trial: Trial) -> tuple[str, str]:
    if trial.state in ("run_error", "eval_error"):
        return "error", f"{trial.state}: {(trial.final.fault if trial.final else None) or 'unknown fault'}"
    if trial.state in SKIPPED:
        return "skipped", trial.state
    return ("failure", "unsolved") if trial.final and trial.final.outcome == "unsolved" else ("", "")


def _suite(name: str, tests: Sequence[Entry]) -> str:
    return f"<testsuite name={_attr(name)} {_counts(tests)}>\n{''.join(map(_test, tests))}</testsuite>\n"


def _counts(tests: Sequence[Entry]) -> str:
    kinds = Counter(test.kind for test in tests)
    spent = sum(test.seconds or 0.0 for test in tests)
    return (
        f'tests="{len(tests)}" failures="{kinds["failure"]}" errors="{kinds["error"]}" '
        f'skipped="{kinds["skipped"]}" time="{spent:.3f}"'
    )


def _test(test: Entry) -> str:
    head = f'<testcase classname={_attr(test.suite)} name={_attr(test.name)} time="{test.seconds or 0.0:.3f}">'
    rows = "".join(f"<property name={_attr(key)} value={_attr(value)}/>" for key, value in test.properties)
    inner = f"<properties>{rows}</properties>" if rows else ""
    if test.kind == "skipped":
        inner += f"<skipped message={_attr(' '.join(filter(None, (test.message, test.detail))))}/>"
    elif test.kind:
        detail = escape(clean(test.detail))
        inner += f"<{test.kind} message={_attr(test.message)} type={_attr(test.message)}>{detail}</{test.kind}>"
    return f"{head}{inner}</testcase>\n"


def clean(text: str) -> str:
    """Show what XML cannot hold by its code."""
    return _REFUSED.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def _attr(text: str) -> str:
    return quoteattr(clean(text), {"\n": "&#10;", "\t": "&#9;", "\r": "&#13;"})
