from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .places import find_trial
from .terminal import clean, console, print_json, seconds, text

if TYPE_CHECKING:
    from runner.records import Request
    from runner.transcript import Step

STYLES = {"tool_call": "cyan", "observation": "dim", "reasoning": "italic"}
SHORT = 4000
"""Characters of a step that are shown; --full shows all of them."""


def command(options: Namespace) -> int:
    from runner.evidence import transcript_of

    run_dir, index = find_trial(options.trial, options.bench)
    found = list(transcript_of(run_dir, index))
    if options.json:
        print_json([{"request": request.number, "steps": [s.to_json() for s in steps]} for request, steps in found])
        return 0
    out = console()
    for request, steps in found:
        out.print(text(_head(request), "bold"))
        for step in steps:
            for line in step_lines(step, None if options.full else SHORT):
                out.print(text(line, STYLES.get(step.kind, "")), soft_wrap=True)
    if not found:
        print("The agent was not asked anything.", file=sys.stderr)
    return 0


def _head(request: Request) -> str:
    ended = "timed out" if request.timed_out else f"exit {request.exit_code}"
    return f"Request {request.number}: {ended} after {seconds(request.seconds)}"


def step_lines(step: Step, limit: int | None) -> Iterator[str]:
    """Write a step as lines: who, what kind, and the text set in below it. Every line is cleaned."""
    exit_code = "" if step.exit_code is None else f" exit {step.exit_code}"
    yield clean(f"  {step.role} {step.kind.replace('_', ' ')} {step.tool or ''}{exit_code}".rstrip())
    said = step.text
    if step.arguments is not None:
        written = step.arguments if isinstance(step.arguments, str) else json.dumps(step.arguments, ensure_ascii=False)
        said = f"{said}\n{written}".strip("\n") if said != written else said
    shown = said if limit is None or len(said) <= limit else f"{said[:limit]}\n… {len(said) - limit:,} characters more"
    for line in shown.splitlines():
        yield f"      {clean(line)}"
