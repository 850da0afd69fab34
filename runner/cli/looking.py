"""What can be written after the commands that look at a run, or send it on."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path

from .options import WHICH_RUN, Commands, add_command, with_bench, with_json, with_run, with_trial

GATE_EXITS = (
    "example: benchsite gate --baseline main.zip --max-drop 5 --min-coverage 90 --markdown summary.md\n\n"
    "exit codes: 0 passed; 1 not passed, and the output says why; 2 nothing could be compared"
)


def _result(commands: Commands[ArgumentParser]) -> None:
    parser = add_command(commands, "result", "Show a run: cells x measures, with n and what was left out.")
    with_run(parser)
    parser.add_argument("--trials", action="store_true", help="list the trials with their indexes instead")
    parser.add_argument("--policy", default="scored/1", metavar="NAME", help="scored/1 (default) or errors-fail/1")
    _reports(parser)
    with_json(parser)


def _reports(parser: ArgumentParser) -> None:
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write a summary for a pull request; - prints it")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write JUnit XML for a CI server; - prints it")


def _gate(commands: Commands[ArgumentParser]) -> None:
    parser = add_command(
        commands, "gate", "Compare a run with a baseline, and fail where it is worse than a rule allows.", GATE_EXITS
    )
    with_run(parser)
    parser.add_argument("--baseline", required=True, metavar="RUN", help="a run, or a bundle of one (FILE.zip)")
    parser.add_argument(
        "--max-drop", metavar="D", help="largest drop allowed: points of a rate, else the measure's unit"
    )
    parser.add_argument(
        "--rule", choices=("seen", "sure", "safe"), default="seen",
        help="seen: fail when the drop seen is larger (default); sure: fail only when all of its 95 %% interval is; "
        "safe: pass only when none of it is",
    )  # fmt: skip
    parser.add_argument("--each-cell", action="store_true", help="ask --max-drop of each cell, not of all together")
    parser.add_argument("--require", metavar="F", help="least figure (most, where less is better): per cent of a rate")
    parser.add_argument(
        "--min-coverage", type=float, metavar="PERCENT", help="least share of planned trials that count"
    )
    parser.add_argument("--max-cost-rise", type=float, metavar="PERCENT", help="most a trial may cost more than before")
    parser.add_argument("--measure", metavar="KEY", help="what is compared (default: the headline)")
    parser.add_argument("--policy", default="scored/1", metavar="NAME", help="scored/1 (default) or errors-fail/1")
    _reports(parser)
    with_json(parser)


def _list(commands: Commands[ArgumentParser]) -> None:
    parser = add_command(commands, "list", "List the runs of a bench, the newest first.")
    with_bench(parser, positional=True)
    with_json(parser)


def _export(commands: Commands[ArgumentParser]) -> None:
    parser = add_command(
        commands,
        "export",
        "Write trials x measures as a table: one row a planned trial, CSV on stdout unless a file is named.",
        "A measure has the values of scored trials alone, so that a column's mean is one over what counts.",
    )
    parser.add_argument("runs", nargs="*", default=["latest"], metavar="RUN", help=WHICH_RUN)
    with_bench(parser, positional=False)
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="FILE.csv, FILE.json or FILE.parquet")
    parser.add_argument("--every", action="store_true", help="values of trials that do not count, too")


def _transcript(commands: Commands[ArgumentParser]) -> None:
    parser = add_command(commands, "transcript", "Show what was said and done in a trial.")
    with_trial(parser)
    parser.add_argument("--full", action="store_true", help="do not shorten long steps")
    with_json(parser)


def _diff(commands: Commands[ArgumentParser]) -> None:
    parser = add_command(
        commands,
        "diff",
        "Show what the agent of a trial changed, as a git patch.",
        "example: benchsite diff latest:3 | git apply",
    )
    with_trial(parser)
    parser.add_argument(
        "--stage", choices=("agent", "evaluation"), default="agent",
        help="whose changes: the agent's (default), or what suite, scenario and collect commands wrote after it",
    )  # fmt: skip


def _open(commands: Commands[ArgumentParser]) -> None:
    parser = add_command(
        commands, "open", "Put the world of a trial, as its agent left it, into a new folder and print where."
    )
    with_trial(parser)
    parser.add_argument("--to", type=Path, metavar="DIR", help="a new or empty folder (default: one here)")
    with_json(parser)


def _replay(commands: Commands[ArgumentParser]) -> None:
    parser = add_command(
        commands,
        "replay",
        "Prove that a run's stored result is what its journal says, and that every blob is what its digest says.",
        "exit codes: 0 all agrees; 1 something differs; 2 the run cannot be read",
    )
    with_run(parser)
    with_json(parser)


def _bundle(commands: Commands[ArgumentParser]) -> None:
    parser = add_command(commands, "bundle", "Write a run as one zip file that a site takes.")
    with_run(parser)
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="where (default: RUN.zip here)")
    with_json(parser)


def _push(commands: Commands[ArgumentParser]) -> None:
    parser = add_command(
        commands,
        "push",
        "Send a run to a site; what the site has already is not sent again.",
        "The token is read from the variable BENCHSITE_TOKEN, from --token-file, or asked for.",
    )
    with_run(parser)
    parser.add_argument("--to", required=True, metavar="URL", help="address of the site")
    parser.add_argument("--token-file", type=Path, metavar="FILE", help="a file that holds the token alone")
    with_json(parser)


LOOKING = (_result, _gate, _list, _export, _transcript, _diff, _open, _replay, _bundle, _push)
"""In the order in which the help lists them."""
