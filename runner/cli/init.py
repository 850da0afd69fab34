from __future__ import annotations

from argparse import Namespace

from .terminal import clean, print_json


def command(options: Namespace) -> int:
    from runner.init import init

    made = init(options.folder, options.name)
    if options.json:
        print_json({"bench": str(options.folder.resolve()), "files": [str(path) for path in made]})
        return 0
    for path in made:
        print(clean(str(path)))
    print(clean(f"Run it: benchsite run {options.folder}"))
    return 0
