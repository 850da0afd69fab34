from __future__ import annotations

from argparse import Namespace
from typing import Any

from runner import replay

from .places import find_run
from .terminal import console, plural, print_json, text

OUTCOMES = ("solved", "unsolved", "measured")


def command(options: Namespace) -> int:
    from runner.statistics.policy import policy_named
    from runner.statistics.summary import summary

    policy_named(options.policy)
    result = replay.read(find_run(options.run, options.bench))
    made = summary(result, options.policy)
    if options.json:
        print_json(made)
    else:
        show(made)
    return 0


def show(made: dict[str, Any]) -> None:
    """Print the table of cells x measures, and under it everything a reader must know about its numbers."""
    out = console()
    out.print(text(f"{made['bench']} {made['version']} · run {made['run']} · {made['state']}"))
    out.print(text(f"{plural(made['planned'], 'trial')}: {counted(made['counts'])}"), "")
    out.print(_table(made), "")
    for line in _footnotes(made):
        out.print(text(line))


def counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {state}" for state, count in counts.items())


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
    middle = f"{found['macro'] * 100:.0f} %" if rate else f"{found['macro']:.4g}{unit}"
    span = "" if found["lo"] is None else f" [{_bound(found['lo'], rate)}, {_bound(found['hi'], rate)}]"
    return f"{middle}{span} {found['k']:.0f}/{found['n']}" if rate else f"{middle}{span} n={found['n']}"


def counted_shares(shares: dict[str, int]) -> str:
    return ", ".join(f"{value} {count}" for value, count in shares.items())


def _bound(value: float, rate: bool) -> str:
    return f"{value * 100:.0f}" if rate else f"{value:.4g}"


def _cautions(made: dict[str, Any]) -> list[str]:
    """Say each word of caution once, with the measures it is about."""
    about: dict[str, list[str]] = {}
    for key in (measure["key"] for measure in made["measures"]):
        notes = {note for cell in made["cells"] for note in cell["measures"][key].get("note", "").split("; ") if note}
        for note in sorted(notes):
            about.setdefault(note, []).append(key)
    return [f"{note}: {', '.join(keys)}." for note, keys in about.items()]


def _footnotes(made: dict[str, Any]) -> list[str]:
    policy = made["policy"]
    lines = [f"{policy['name']}: {policy['sentence']}", *_cautions(made)]
    lines += [f"{cell['cell']}: {cell['stopped']}" for cell in made["cells"] if cell["stopped"]]
    for key, seen in made["coverage"].items():
        if seen["invalid"] or seen["missing"].get("not_observed"):
            unseen = seen["missing"].get("not_observed", 0)
            lines.append(f"{key}: {seen['invalid']} invalid, {unseen} not observed, of {seen['expected']} planned.")
    return [line.replace("\n", " ") for line in lines]
