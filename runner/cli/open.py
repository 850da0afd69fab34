from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict
from pathlib import Path

from .places import find_trial
from .terminal import clean, plural, print_json

SOURCES = {
    "kept": "the kept world, copied",
    "stored": "rebuilt from the stored files of the kept world",
    "rebuilt": "rebuilt from the template and what the agent changed",
}
SHOWN = 50


def command(options: Namespace) -> int:
    from runner.evidence import open_world

    run_dir, index = find_trial(options.trial, options.bench)
    target = options.to or Path(f"trial-{run_dir.resolve().name[-6:].lower()}-{index}")
    opened = open_world(run_dir, index, target)
    if options.json:
        print_json({**asdict(opened), "path": str(opened.path)})
        return 0
    print(clean(str(opened.path)))
    print(f"{plural(opened.files, 'file')}: {SOURCES[opened.source]}.")
    for line in opened.missing[:SHOWN]:
        print(clean(f"not as it was left  {line}"))
    if len(opened.missing) > SHOWN:
        print(f"and {len(opened.missing) - SHOWN} more")
    return 0
