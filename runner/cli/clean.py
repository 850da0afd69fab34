from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict

from .terminal import clean as tidy
from .terminal import console, print_json, text

WORDS = {
    "sandbox": "the sandbox of process",
    "container": "the container",
    "group": "the control group",
    "world": "the world",
}


def command(options: Namespace) -> int:
    """0 when nothing is left behind any more (or would be), 1 when something could not be removed."""
    from runner.cleaning import clean

    found = clean(dry_run=options.dry_run)
    failed = [left for left, trouble in found if trouble]
    if options.json:
        kept = options.dry_run
        rows = [{**asdict(left), "removed": not (kept or trouble), "trouble": trouble} for left, trouble in found]
        print_json({"left": rows, "dry_run": options.dry_run})
        return 1 if failed else 0
    out = console()
    for left, trouble in found:
        did = "would remove" if options.dry_run else "could not remove" if trouble else "removed"
        size = f" ({left.size / 1e6:,.1f} MB)" if left.size else ""
        line = f"{did} {WORDS[left.kind]} {tidy(left.name)}{size}{f': {tidy(trouble)}' if trouble else ''}"
        out.print(text(line, "yellow" if trouble else ""), soft_wrap=True)
    if not found:
        out.print(text("Nothing was left behind."))
    return 1 if failed else 0
