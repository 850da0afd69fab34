"""Options that several commands share, each said once."""

from __future__ import annotations

import argparse
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path

from runner.definition import Collect
from runner.plans import EvaluationRequest

WHICH_TRIAL = "a trial: RUN:INDEX or RUN/INDEX; INDEX alone means the latest run (`result --trials` lists them)"
WHICH_RUN = "a run: its id, the beginning or end of its id, `latest` (default), or a path to a run or a bench"
Commands = argparse._SubParsersAction  # the only name argparse has for it


def add_command(commands: Commands[ArgumentParser], name: str, sentence: str, epilog: str = "") -> ArgumentParser:
    parser: ArgumentParser = commands.add_parser(
        name, help=sentence, description=sentence, epilog=epilog, formatter_class=RawDescriptionHelpFormatter
    )
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    return parser


def with_json(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout, for machines")


def with_bench(parser: ArgumentParser, *, positional: bool) -> None:
    if positional:
        parser.add_argument(
            "bench", nargs="?", type=Path, default=Path(), metavar="BENCH", help="bench folder (default: here)"
        )
    else:
        parser.add_argument("--bench", type=Path, default=Path(), metavar="FOLDER", help="bench folder (default: here)")


def with_plan(parser: ArgumentParser) -> None:
    """Add the options that shape a plan."""
    parser.add_argument("--trials", type=positive, metavar="N", help="trials of each case in each cell")
    with_environment(parser)
    parser.add_argument("--evaluation", choices=("none", "reuse", "fresh"), help="evaluation mode of every scenario")
    parser.add_argument(
        "--artifact", action="append", metavar="PATH",
        help="a path to collect, in place of those the scenarios declare (can be repeated)",
    )  # fmt: skip
    parser.add_argument(
        "--collect", action="append", metavar="COMMAND",
        help="a command to run before, in place of those the scenarios declare; 60 s each (can be repeated)",
    )  # fmt: skip
    parser.add_argument("--seed", type=int, metavar="N", help="seed of order and trials (default: drawn and recorded)")
    parser.add_argument(
        "--world", choices=("auto", "copy", "overlay"),
        help="how trials get their worlds (default: BENCHSITE_WORLD, or auto: a large one is an overlay if it can be)",
    )  # fmt: skip


def evaluation_of(options: argparse.Namespace) -> EvaluationRequest:
    artifacts, collect = options.artifact, options.collect
    return EvaluationRequest(
        options.evaluation,
        None if artifacts is None else tuple(artifacts),
        None if collect is None else tuple(map(Collect, collect)),
    )


def with_environment(parser: ArgumentParser) -> None:
    parser.add_argument("--environment", choices=("auto", "local", "sandbox", "container"), help="where agents run")


def with_selection(parser: ArgumentParser) -> None:
    with_scenarios(parser)
    with_cells(parser)
    parser.add_argument("--only-failed", metavar="RUN", help="only trials that errored or did not run in this run")


def with_scenarios(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--scenario", action="append", default=[], metavar="PATTERN",
        help="only these scenarios: an id, or id[case]; * is a wildcard (can be repeated)",
    )  # fmt: skip


def with_cells(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--cell", action="append", default=[], metavar="PATTERN",
        help="only these cells: AXIS=VALUE, several with commas, or a cell id; * is a wildcard (can be repeated)",
    )  # fmt: skip


def with_workers(parser: ArgumentParser) -> None:
    parser.add_argument("--workers", type=positive, metavar="N", help="trials at one time (default: one a core)")


def with_tags(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--tag", action="append", default=[], metavar="NAME", help="a name that the run keeps (can be repeated)"
    )


def with_run(parser: ArgumentParser) -> None:
    parser.add_argument("run", nargs="?", default="latest", metavar="RUN", help=WHICH_RUN)
    with_bench(parser, positional=False)


def with_trial(parser: ArgumentParser) -> None:
    parser.add_argument("trial", metavar="TRIAL", help=WHICH_TRIAL)
    with_bench(parser, positional=False)


def positive(text: str) -> int:
    number = int(text) if text.isdecimal() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1")
    return number
