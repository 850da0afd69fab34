from __future__ import annotations

from argparse import Namespace
from typing import Any

from runner import replay
from runner.cancelling import standing
from runner.records import RunResult, Trial
from runner.reports.figures import number
from runner.selection import name_of

from .coverage import counted, told_coverage, told_flags
from .places import find_run
from .terminal import console, plural, print_json, seconds, text
from .writing import write

OUTCOMES = ("solved", "unsolved", "measured")


def command(options: Namespace) -> int:
    from runner.statistics.policy import policy_named
    from runner.statistics.summary import summary

    policy_named(options.policy)
    folder = find_run(options.run, options.bench)
    result = replay.read(folder)
    made = summary(result, options.policy)
    made["state"] = standing(folder, made["state"])
    if options.markdown or options.junit:
        _write(options, result, made)
        if not options.json or "-" in (str(options.markdown), str(options.junit)):
            return 0
    if options.trials:
        rows = trial_rows(result)
        plans = list(result.manifest.plans)
        print_json({"run": result.manifest.run, "plans": plans, "trials": rows}) if options.json else _show_trials(rows)
    elif options.json:
        print_json(made)
    else:
        show(made)
    return 0


def _write(options: Namespace, result: RunResult, made: dict[str, Any]) -> None:
    from runner.reports.junit import entries_of, junit
    from runner.reports.markdown import of_run

    if options.markdown:
        figures = [(cell, [figure(m, cell["measures"][m["key"]]) for m in made["measures"]]) for cell in made["cells"]]
        write(options.markdown, of_run(made, figures, _footnotes(made)))
    if options.junit:
        write(options.junit, junit(f"{made['bench']} {made['run']}", entries_of(result)))


def trial_rows(result: RunResult) -> list[dict[str, Any]]:
    """Describe every trial by its index, which `diff`, `open`, `transcript` and `rerun` take."""
    return [_trial_row(result, trial) for trial in result.trials]


def _trial_row(result: RunResult, trial: Trial) -> dict[str, Any]:
    scenario, case, cell, number = name_of(result.manifest, trial.planned.index)
    final = trial.final
    return {
        "index": trial.planned.index,
        "scenario": f"{scenario}[{case}]" if case else scenario,
        "cell": cell,
        "trial": number,
        "state": trial.state,
        "outcome": final.outcome if final else None,
        "fault": final.fault if final else None,
        "phase": final.phase if final else None,
        "seconds": final.seconds if final else None,
        "cost": trial.usage.cost,
        "kept": bool(final and final.kept),
        "reason": trial.reason,
        "plan": trial.planned.plan,
        "collected": [entry.to_json() for entry in final.collected] if final else [],
    }


def _show_trials(rows: list[dict[str, Any]]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("#", "scenario", "cell", "trial", "ended", "time", "reason"):
        table.add_column(name, overflow="fold", justify="right" if name in ("#", "time") else "left")
    for row in rows:
        ended = " ".join(filter(None, (row["state"], row["outcome"] or row["fault"])))
        spent = "" if row["seconds"] is None else seconds(row["seconds"])
        shown = (row["index"], row["scenario"], row["cell"], row["trial"], ended, spent, row["reason"])
        table.add_row(*map(text, shown))
    console().print(table)


def show(made: dict[str, Any]) -> None:
    """Print the table of cells x measures, and under it everything a reader must know about its numbers."""
    out = console()
    out.print(text(f"{made['bench']} {made['version']} · run {made['run']} · {made['state']}"))
    if made["regraded"]:
        out.print(text(f"regraded from {made['parent']}: no agent ran, costs and times are there"))
    out.print(text(f"{plural(made['planned'], 'trial')}: {counted(made['counts'])}"))
    if made["state"] == "interrupted":
        out.print(text(f"It can go on: benchsite run --resume {made['run']}"))
    out.print()
    out.print(_table(made))
    out.print()
    for line in _footnotes(made):
        out.print(text(line))


def _table(made: dict[str, Any]) -> Any:
    from rich.table import Table

    varying = _varying(made)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in varying or ["cell"]:
        table.add_column(text(name), overflow="fold")
    for measure in made["measures"]:
        table.add_column(text(measure["label"] or measure["key"]), overflow="fold")
    table.add_column("scored", justify="right")
    table.add_column("left out", overflow="fold")
    for cell in made["cells"]:
        names = [cell["axes"].get(axis, "") for axis in varying] or [cell["cell"]]
        figures = [figure(measure, cell["measures"][measure["key"]]) for measure in made["measures"]]
        scored = cell["states"].get("scored", 0)
        table.add_row(*map(text, names), *map(text, figures), f"{scored}/{cell['planned']}", text(left_out(cell)))
    return table


def _varying(made: dict[str, Any]) -> list[str]:
    axes = list(dict.fromkeys(axis for cell in made["cells"] for axis in cell["axes"]))
    return [axis for axis in axes if len({cell["axes"].get(axis) for cell in made["cells"]}) > 1]


def left_out(cell: dict[str, Any]) -> str:
    """Name what is not in the numbers by state; faults say what the errors were."""
    counts = {state: n for state, n in cell["states"].items() if state not in ("scored", *OUTCOMES)}
    faults = f" ({counted(cell['faults'])})" if cell["faults"] else ""
    return counted(counts) + faults


def figure(measure: dict[str, Any], found: dict[str, Any]) -> str:
    """Write one figure with its own n: "67 % [35, 88] 6/9", "2.3 [1.1, 3.5] n=9", "patch 4, rewrite 1"."""
    if "shares" in found:
        return counted_shares(found["shares"]) if found["n"] else "-"
    if "macro" not in found:
        return f"n={found['n']}"
    if found["macro"] is None:
        return "-"
    rate = measure["type"] == "bool"
    unit = f" {measure['unit']}" if measure["unit"] and not rate else ""
    middle = f"{found['macro'] * 100:.0f} %" if rate else f"{number(found['macro'])}{unit}"
    span = "" if found["lo"] is None else f" [{_bound(found['lo'], rate)}, {_bound(found['hi'], rate)}]"
    return f"{middle}{span} {found['k']:.0f}/{found['n']}" if rate else f"{middle}{span} n={found['n']}"


def counted_shares(shares: dict[str, int]) -> str:
    return ", ".join(f"{value} {count}" for value, count in shares.items())


def _bound(value: float, rate: bool) -> str:
    return f"{value * 100:.0f}" if rate else number(value)


def _cautions(made: dict[str, Any]) -> list[str]:
    """Say the words of caution once for all measures they are about; a figure that is not there needs none."""
    about: dict[str, list[str]] = {}
    for key in (measure["key"] for measure in made["measures"]):
        figures = [cell["measures"][key] for cell in made["cells"] if cell["measures"][key].get("n")]
        notes = {note for figure in figures for note in figure.get("note", "").split("; ") if note}
        if notes:
            about.setdefault(", ".join(sorted(notes)), []).append(key)
    return [f"{notes}: {', '.join(keys)}." for notes, keys in about.items()]


def _footnotes(made: dict[str, Any]) -> list[str]:
    from runner.statistics.judged import judge_sentences

    policy = made["policy"]
    lines = [f"{policy['name']}: {policy['sentence']}", *_cautions(made)]
    lines += [f"{cell['cell']}: {cell['stopped']}" for cell in made["cells"] if cell["stopped"]]
    lines += [*told_coverage(made), *told_flags(made), *judge_sentences(made["judge"])]
    return [line.replace("\n", " ") for line in lines]
