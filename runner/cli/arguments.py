"""What can be written on the command line. Nothing heavy is imported here, so that --help is instant."""

from __future__ import annotations

import argparse
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

Command = Callable[[Namespace], int]

COMMANDS: dict[str, str] = {
    "init": "runner.cli.init",
    "prepare": "runner.cli.prepare",
    "run": "runner.cli.run",
    "result": "runner.cli.result",
    "list": "runner.cli.listing",
    "bundle": "runner.cli.bundle",
    "push": "runner.cli.push",
    "mock-model": "runner.cli.mock_model",
}
EXITS = (
    "exit codes: 0 every trial scored, excluded or skipped; 3 some errored or were not run; "
    "2 could not start; 130 cancelled"
)
WHICH_RUN = "a run: its id, the beginning or end of its id, `latest` (default), or a path to a run or a bench"


def parse(argv: Sequence[str] | None = None) -> Namespace:
    return _parser().parse_args(argv)


def command_of(name: str) -> Command:
    command: Command = import_module(COMMANDS[name]).command
    return command


def _parser() -> ArgumentParser:
    parser = ArgumentParser(prog="benchsite", description="Run benchmarks of coding agents and keep the evidence.")
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and stop")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for add in (_init, _prepare, _run, _result, _list, _bundle, _push, _mock_model):
        add(commands)
    return parser


class _Version(argparse.Action):
    def __call__(self, parser: ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"benchsite {version('benchsite')}")
        parser.exit()


_Commands = argparse._SubParsersAction  # the only name argparse has for it


def _command(commands: _Commands[ArgumentParser], name: str, sentence: str, epilog: str = "") -> ArgumentParser:
    parser: ArgumentParser = commands.add_parser(name, help=sentence, description=sentence, epilog=epilog)
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    return parser


def _json(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout, for machines")


def _bench(parser: ArgumentParser, *, positional: bool) -> None:
    if positional:
        parser.add_argument(
            "bench", nargs="?", type=Path, default=Path(), metavar="BENCH", help="bench folder (default: here)"
        )
    else:
        parser.add_argument("--bench", type=Path, default=Path(), metavar="FOLDER", help="bench folder (default: here)")


def _init(commands: _Commands[ArgumentParser]) -> None:
    parser = _command(commands, "init", "Make a small bench that runs as it is.")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where; it must be new or empty")
    parser.add_argument("--name", help="OWNER/NAME of the bench (default: from the folder)")
    _json(parser)


def _prepare(commands: _Commands[ArgumentParser]) -> None:
    parser = _command(commands, "prepare", "Check a bench without running an agent, and say what a run would be.")
    _bench(parser, positional=True)
    _planned(parser)
    _json(parser)


def _planned(parser: ArgumentParser) -> None:
    """Add the options that shape a plan."""
    parser.add_argument("--trials", type=_positive, metavar="N", help="trials of each case in each cell")
    parser.add_argument("--environment", choices=("auto", "local", "sandbox", "container"), help="where agents run")
    parser.add_argument("--evaluation", choices=("none", "reuse", "fresh"), help="evaluation mode of every scenario")
    parser.add_argument("--seed", type=int, metavar="N", help="seed of order and trials (default: drawn and recorded)")


def _run(commands: _Commands[ArgumentParser]) -> None:
    parser = _command(commands, "run", "Run every case in every cell, or go on with a run.", EXITS)
    _bench(parser, positional=True)
    _planned(parser)
    parser.add_argument("--workers", type=_positive, metavar="N", help="trials at one time")
    parser.add_argument("--resume", metavar="RUN", help="run what is missing of this run (id, part of it, or latest)")
    _json(parser)


def _result(commands: _Commands[ArgumentParser]) -> None:
    parser = _command(commands, "result", "Show a run: cells x measures, with n and what was left out.")
    parser.add_argument("run", nargs="?", default="latest", metavar="RUN", help=WHICH_RUN)
    _bench(parser, positional=False)
    parser.add_argument("--policy", default="scored/1", metavar="NAME", help="scored/1 (default) or errors-fail/1")
    _json(parser)


def _list(commands: _Commands[ArgumentParser]) -> None:
    parser = _command(commands, "list", "List the runs of a bench, the newest first.")
    _bench(parser, positional=True)
    _json(parser)


def _bundle(commands: _Commands[ArgumentParser]) -> None:
    parser = _command(commands, "bundle", "Write a run as one zip file that a site takes.")
    parser.add_argument("run", nargs="?", default="latest", metavar="RUN", help=WHICH_RUN)
    _bench(parser, positional=False)
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="where (default: RUN.zip here)")
    _json(parser)


def _push(commands: _Commands[ArgumentParser]) -> None:
    parser = _command(
        commands,
        "push",
        "Send a run to a site; what the site has already is not sent again.",
        "The token is read from the variable BENCHSITE_TOKEN, from --token-file, or asked for.",
    )
    parser.add_argument("run", nargs="?", default="latest", metavar="RUN", help=WHICH_RUN)
    _bench(parser, positional=False)
    parser.add_argument("--to", required=True, metavar="URL", help="address of the site")
    parser.add_argument("--token-file", type=Path, metavar="FILE", help="a file that holds the token alone")
    _json(parser)


def _mock_model(commands: _Commands[ArgumentParser]) -> None:
    parser = _command(
        commands, "mock-model", "Serve scripted replies by the model protocols, for agents without a network."
    )
    parser.add_argument("--script", type=Path, required=True, metavar="FILE", help="the replies")
    parser.add_argument("--functions", type=Path, metavar="FILE", help="a Python file whose functions the replies name")
    parser.add_argument(
        "--port", type=int, default=8707, metavar="N", help="port on 127.0.0.1 (default: 8707; 0 takes a free one)"
    )


def _positive(text: str) -> int:
    number = int(text) if text.isdecimal() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1")
    return number
