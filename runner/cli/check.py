from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from .run import CANCELLED, bench_option
from .terminal import console, plural, print_json, text
from .watching import Watch

if TYPE_CHECKING:
    from runner.checking import Checked

UNSOUND = 1


def command(options: Namespace) -> int:
    from runner.checking import check

    with Watch(error=options.json) as watch:
        checked = check(
            options.bench, scenarios=tuple(options.scenario), environment=options.environment, workers=options.workers,
            on_prepared=watch.prepared, on_event=watch.event, cancel=watch.cancel,
        )  # fmt: skip
    if options.json:
        run = checked.result.manifest.run
        print_json({"ok": checked.ok, "run": run, "cases": [asdict(case) for case in checked.cases]})
    else:
        _show(checked, Path(options.bench))
    if checked.result.state == "cancelled":
        return CANCELLED
    return 0 if checked.ok else UNSOUND


def _show(checked: Checked, bench: Path) -> None:
    from rich.table import Table

    out = console()
    headline = checked.result.manifest.headline
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("scenario", "oracle", "noop", "verdict"):
        table.add_column(name, overflow="fold")
    for case in checked.cases:
        name = f"{case.scenario}[{case.case}]" if case.case else case.scenario
        verdict = text("sound", "green") if not case.problem else text("unsound", "red")
        table.add_row(text(name), text(case.oracle), text(case.noop), verdict)
    out.print()
    out.print(table)
    out.print()
    wrong = [case for case in checked.cases if case.problem]
    for case in wrong:
        out.print(text(f"{case.file}:{case.line}: {case.problem}"))
    if wrong:
        where = f"benchsite result {checked.result.manifest.run}{bench_option(bench)}"
        out.print(text(f"{plural(len(wrong), 'case')} of {len(checked.cases)} unsound. See it: {where}"))
    elif checked.ok:
        said = f"the bench's own solution reaches {headline.key if headline else ''}, doing nothing does not"
        out.print(text(f"The bench is sound: in {plural(len(checked.cases), 'case')} {said}."))
