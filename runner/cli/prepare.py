from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from runner.surroundings import limits_in_words

from .options import evaluation_of
from .sizes import size_line
from .terminal import console, print_json, text

if TYPE_CHECKING:
    from runner.prepare import Prepared


def command(options: Namespace) -> int:
    from runner.prepare import prepare

    prepared = prepare(
        options.bench,
        trials=options.trials,
        environment=options.environment,
        evaluation=evaluation_of(options),
        seed=options.seed,
        world=options.world,
    )
    if options.json:
        manifest = prepared.manifest.to_json()
        print_json({"environment": prepared.environment, "warnings": list(prepared.warnings), "manifest": manifest})
    else:
        _show(prepared)
    return 0


def _show(prepared: Prepared) -> None:
    out, manifest = console(), prepared.manifest
    out.print(text(f"{manifest.bench} {manifest.version}"))
    out.print(text(size_line(manifest)))
    out.print(text(f"environment  {prepared.environment}, isolation {manifest.isolation}"))
    out.print(text(f"world        {manifest.host.get('world', 'copy')}"))
    out.print(text(f"definition   {manifest.definition[:16]}"))
    for scenario in manifest.scenarios:
        cases = f"  {len(scenario.cases)} cases" if len(scenario.cases) > 1 else ""
        out.print(text(f"scenario     {scenario.id}  {scenario.file}:{scenario.line}{cases}"))
    for words in dict.fromkeys(filter(None, map(limits_in_words, manifest.plans))):
        out.print(text(f"limits       {words}"))
    for measure in manifest.measures:
        said = ", ".join(filter(None, (measure.type, measure.objective, measure.unit, measure.aggregate)))
        out.print(text(f"measure      {measure.key}  {said}"))
    for cell in manifest.cells:
        out.print(text(f"cell         {cell.id}"))
    for warning in prepared.warnings:
        out.print(text(f"warning      {warning}", "yellow"))
