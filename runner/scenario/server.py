"""The process that knows the scenarios: it imports them once, then reports them or runs trials of them.

`python -m runner.scenario.server` with one of
  --collect FILE --root R --tests GLOB --stay FD   write down what there is, then wait for the run to serve over FD
  --serve FD --run-dir DIR               fork a child for every job that comes over the socket FD
  --once FD --run-dir DIR --job JSON     run one trial in this very process, events to the pipe FD
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from runner.standby import COLLECTED, MESSAGE

from .collecting import pytest_args, report_json, scenario_files
from .plugin import Gathered

NO_BYTECODE = sys.dont_write_bytecode
"""What the user asked of Python."""


def main(argv: list[str] | None = None) -> int:
    options = _parser().parse_args(argv)
    if options.collect is not None:
        return _collect(options.root.resolve(), options.tests, options.collect, options.stay)
    from .serving import once, serve

    if options.once is not None:
        return once(options.run_dir, options.once, json.loads(options.job))
    return serve(options.run_dir, options.serve)


def run_pytest(root: Path, files: list[Path], serve: Callable[[Gathered], None]) -> int:
    """Let pytest collect the files; it then calls `serve` where it would otherwise run them."""
    os.environ.pop("PYTEST_ADDOPTS", None)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    sys.path[:0] = [str(root / "tests"), str(root)]
    sys.dont_write_bytecode = True  # the sealed bench is read-only
    gathered = Gathered(root, serve)
    return int(pytest.main(pytest_args(root, files), plugins=[gathered]))


def _collect(root: Path, tests: str, answer: Path, descriptor: int) -> int:
    def report(gathered: Gathered) -> None:
        aside = answer.with_suffix(".new")
        aside.write_text(report_json(gathered.cases, gathered.complaints), encoding="utf-8")
        aside.replace(answer)
        with socket.socket(fileno=descriptor) as channel:
            channel.send(COLLECTED)
            stay(channel, gathered)

    run_pytest(root, scenario_files(root, tests), report)
    return 0 if answer.exists() else 1


def stay(channel: socket.socket, gathered: Gathered) -> None:
    """Import what trials need and tidy up while the runner goes on with its plan, then serve the run it names."""
    sys.dont_write_bytecode = NO_BYTECODE  # what follows is no bench's: the next run shall not compile it again
    from runner.processes import keeper_script

    from .serving import take_up

    sys.dont_write_bytecode = True
    keeper_script()
    gc.collect()
    try:
        run_dir = channel.recv(MESSAGE)
    except OSError:
        return
    if run_dir:
        take_up(Path(os.fsdecode(run_dir)), channel, gathered)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="runner.scenario.server")
    parser.add_argument("--collect", type=Path)
    parser.add_argument("--serve", type=int)
    parser.add_argument("--once", type=int)
    parser.add_argument("--root", type=Path)
    parser.add_argument("--tests")
    parser.add_argument("--stay", type=int)
    parser.add_argument("--run-dir", type=Path)
    parser.add_argument("--job")
    return parser


if __name__ == "__main__":
    sys.exit(main())
