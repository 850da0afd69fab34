"""`benchsite gate`: compare a run with a baseline, and fail where a rule says so."""

from __future__ import annotations

import re
from argparse import Namespace
from pathlib import Path
from typing import Any

from runner import replay
from runner.errors import RunnerError
from runner.records import RunResult

from .places import find_run
from .terminal import clean, print_json
from .writing import write

FAILED = 1


def command(options: Namespace) -> int:
    from runner.reports.gate import gate
    from runner.statistics.between import between

    base, other = _result(options.baseline, options.bench), _result(options.run, options.bench)
    found = between(base, other, options.measure or "", options.policy)
    checks = gate(found, base, other, _rules(options, rate=found.measure.type == "bool"))
    passed = all(check.passed for check in checks)
    _tell(options, found, checks, passed, (base.manifest.run, other.manifest.run))
    return 0 if passed else FAILED


def _result(name: str, bench: Path) -> RunResult:
    """Read a run by any name, or out of a bundle."""
    path = Path(name)
    if path.is_file() and path.suffix == ".zip":
        from runner.exchange.bundle import open_bundle

        with open_bundle(path) as bundle:
            return replay.fold(bundle.manifest, bundle.events())
    return replay.read(find_run(name, bench))


def _rules(options: Namespace, *, rate: bool) -> Any:
    from runner.reports.gate import Rules

    def limit(option: str) -> float | None:
        text = getattr(options, option.strip("-").replace("-", "_"))
        return None if text is None else in_unit(option, text, rate=rate)

    return Rules(
        max_drop=limit("--max-drop"),
        rule=options.rule,
        each_cell=options.each_cell,
        require=limit("--require"),
        min_coverage=_share(options.min_coverage),
        max_cost_rise=_share(options.max_cost_rise),
    )


def in_unit(option: str, text: str, *, rate: bool) -> float:
    """Read a limit: of a rate in points (5 or 5%), else a number in the measure's unit."""
    found = re.fullmatch(r"(-?[0-9]+(?:\.[0-9]+)?)\s*(%?)", text.strip())
    if not found or (found[2] and not rate):
        unit = "points, such as 5" if rate else "a number in the measure's unit, such as 2.5"
        raise RunnerError(f"{option} {text!r} is no limit; write {unit}.")
    value = float(found[1])
    if rate and not found[2] and 0 < value < 1:
        raise RunnerError(
            f"{option} {text} of a rate would be {text} points; write {value * 100:g} for {value * 100:g} points, "
            f"or {text}% if you mean it."
        )
    return value / 100 if rate else value


def _share(per_cent: float | None) -> float | None:
    return None if per_cent is None else per_cent / 100


def _tell(options: Namespace, found: Any, checks: list[Any], passed: bool, runs: tuple[str, str]) -> None:
    from runner.reports.junit import Entry, junit
    from runner.reports.markdown import of_comparison

    title = "The gate is passed" if passed else "The gate is not passed"
    sentences = [f"{'ok' if check.passed else 'FAILED'} {check.name}: {check.sentence}" for check in checks]
    if options.markdown:
        write(options.markdown, of_comparison(title, passed, sentences, found, runs))
    if options.junit:
        tests = [Entry("gate", c.name, kind="" if c.passed else "failure", message=c.sentence) for c in checks]
        write(options.junit, junit("benchsite gate", tests))
    if options.json:
        print_json(plain(found, checks, passed, runs))
    elif "-" not in (str(options.markdown), str(options.junit)):
        for line in (*sentences, *(f"note: {warning}" for warning in found.warnings), f"{title}."):
            print(clean(line))


def plain(found: Any, checks: list[Any], passed: bool, runs: tuple[str, str]) -> dict[str, Any]:
    return {
        "format": "benchsite/gate/1",
        "baseline": runs[0],
        "run": runs[1],
        "passed": passed,
        "checks": [vars(check) for check in checks],
        "measure": found.measure.key,
        "policy": found.policy,
        "all": found.made._asdict(),
        "cells": {cell: made._asdict() for cell, made in found.made_by_cell.items()},
        "warnings": list(found.warnings),
    }
