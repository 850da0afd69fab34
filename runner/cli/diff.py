from __future__ import annotations

import sys
from argparse import Namespace
from typing import TYPE_CHECKING

from .places import find_trial
from .terminal import clean, console

if TYPE_CHECKING:
    from rich.text import Text

STYLES = (("+++", "bold"), ("---", "bold"), ("diff ", "bold"), ("@@", "cyan"), ("+", "green"), ("-", "red"))


def command(options: Namespace) -> int:
    """Off a terminal the patch is written byte for byte, for `git apply`; on one it is made harmless and coloured."""
    from runner.evidence import patch_of

    run_dir, index = find_trial(options.trial, options.bench)
    patch = patch_of(run_dir, index, options.stage)
    if not sys.stdout.isatty():
        sys.stdout.buffer.write(patch)
        return 0
    if not patch:
        print("No change.")
    out = console()
    for line in patch.decode("utf-8", "replace").split("\n")[: None if patch else 0]:
        out.print(_coloured(line), soft_wrap=True)
    return 0


def _coloured(line: str) -> Text:
    from rich.text import Text

    style = next((style for start, style in STYLES if line.startswith(start)), "")
    return Text("\t".join(map(clean, line.split("\t"))), style=style)
