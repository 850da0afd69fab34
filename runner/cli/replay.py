from __future__ import annotations

from argparse import Namespace

from .places import find_run
from .terminal import clean, plural, print_json

DIFFERENT = 1


def command(options: Namespace) -> int:
    from runner.stored import verify

    found = verify(find_run(options.run, options.bench))
    if options.json:
        print_json(
            {
                "run": found.result.manifest.run, "state": found.result.state, "events": found.events,
                "trials": len(found.result.trials), "blobs": found.blobs, "stored": found.stored,
                "problems": list(found.problems),
            }
        )  # fmt: skip
        return DIFFERENT if found.problems else 0
    print(clean(f"Run {found.result.manifest.run}, {found.result.state}"))
    print(f"{plural(found.events, 'event')} folded to {plural(len(found.result.trials), 'trial')}")
    for problem in found.problems:
        print(clean(problem))
    if found.problems:
        return DIFFERENT
    stored = (
        "The stored result is what the journal says" if found.stored else "No result is stored: the run did not end"
    )
    print(f"{stored}; {plural(found.blobs, 'blob')} checked by digest.")
    return 0
