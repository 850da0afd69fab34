"""What can be written on the command line. Nothing heavy is imported here, so that --help is instant."""

from __future__ import annotations

import argparse
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

Command = Callable[[Namespace], int]

COMMANDS: dict[str, str] = {
    "init": "runner.cli.init",
    "prepare": "runner.cli.prepare",
    "check": "runner.cli.check",
    "doctor": "runner.cli.doctor",
    "try": "runner.cli.trying",
    "run": "runner.cli.run",
    "rerun": "runner.cli.rerun",
    "result": "runner.cli.result",
    "list": "runner.cli.listing",
    "transcript": "runner.cli.transcript",
    "diff": "runner.cli.diff",
    "open": "runner.cli.open",
    "replay": "runner.cli.replay",
    "bundle": "runner.cli.bundle",
    "push": "runner.cli.push",
    "mock-model": "runner.cli.mock_model",
}
EXITS = (
    "exit codes: 0 every trial scored, excluded or skipped; 3 some errored or were not run;\n"
    "            2 could not start; 130 cancelled"
)
DOCTOR_EXITS = "exit codes: 0 the bench can run here; 1 it cannot, and the output says why"
RUN_EXAMPLES = """\
examples:
  benchsite run --trials 5 --workers 4
  benchsite run --cell 'agent=codex,model=*' --scenario 'parser/*' --dry-run
  benchsite run --only-failed latest
  benchsite run --resume latest

"""
WHICH_TRIAL = "a trial: RUN:INDEX or RUN/INDEX; INDEX alone means the latest run (`result --trials` lists them)"
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
    adding = (
        _init, _prepare, _check, _doctor, _try, _run, _rerun, _result, _list, _transcript, _diff, _open, _replay,
        _bundle, _push, _mock_model,
    )  # fmt: skip
    for add in adding:
        add(commands)
    return parser


class _Version(argparse.Action):
    def __call__(self, parser: ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"benchsite {version('benchsite')}")
        parser.exit()


_Commands = argparse._SubParsersAction  # the only name argparse has for it


def _command(commands: _Commands[ArgumentParser], name: str, sentence: str, epilog: str = "") -> ArgumentParser:
    parser: ArgumentParser = commands.add_parser(
        name, help=sentence, description=sentence, epilog=epilog, formatter_class=RawDescriptionHelpFormatter
    )
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
    _environment(parser)
    parser.add_argument("--evaluation", choices=("none", "reuse", "fresh"), help="evaluation mode of every scenario")
    parser.add_argument("--seed", type=int, metavar="N", help="seed of order and trials (default: drawn and recorded)")


def _environment(parser: ArgumentParser) -> None:
    parser.add_argument("--environment", choices=("auto", "local", "sandbox", "container"), help="where agents run")


def _run(commands: _Commands[ArgumentParser]) -> None:
    parser = _command(commands, "run", "Run every case in every cell, or go on with a run.", RUN_EXAMPLES + EXITS)
    _bench(parser, positional=True)
    _planned(parser)
    _selected(parser)
    _workers(parser)
    _tagged(parser)
    parser.add_argument("--fail-fast", action="store_true", help="let no trial begin after the first error")
    parser.add_argument("--dry-run", action="store_true", help="show the plan as a table and run nothing")
    parser.add_argument("--resume", metavar="RUN", help="run what is missing of this run (id, part of it, or latest)")
    _json(parser)


def _selected(parser: ArgumentParser) -> None:
    _scenarios(parser)
    parser.add_argument(
        "--cell", action="append", default=[], metavar="PATTERN",
        help="only these cells: AXIS=VALUE, several with commas, or a cell id; * is a wildcard (can be repeated)",
    )  # fmt: skip
    parser.add_argument("--only-failed", metavar="RUN", help="only trials that errored or did not run in this run")


def _scenarios(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--scenario", action="append", default=[], metavar="PATTERN",
        help="only these scenarios: an id, or id[case]; * is a wildcard (can be repeated)",
    )  # fmt: skip


def _workers(parser: ArgumentParser) -> None:
    parser.add_argument("--workers", type=_positive, metavar="N", help="trials at one time (default: one a core)")


def _tagged(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--tag", action="append", default=[], metavar="NAME", help="a name that the run keeps (can be repeated)"
    )


def _doctor(commands: _Commands[ArgumentParser]) -> None:
    parser = _command(commands, "doctor", "Say whether a bench can run here, and what is missing.", DOCTOR_EXITS)
    _bench(parser, positional=True)
    parser.add_argument("--environment", choices=("auto", "local", "sandbox", "container"), help="where agents run")
    _json(parser)


def _check(commands: _Commands[ArgumentParser]) -> None:
    parser = _command(
        commands,
        "check",
        "Check the bench itself: its own solution (oracle) must reach the headline, doing nothing (noop) must not.",
        "The solution of a scenario lies in fixtures/solution/SCENARIO/ (files), SCENARIO.patch or SCENARIO.txt.\n"
        "exit codes: 0 sound; 1 unsound; 2 could not start; 130 cancelled",
    )
    _bench(parser, positional=True)
    _scenarios(parser)
    _environment(parser)
    _workers(parser)
    _json(parser)


def _try(commands: _Commands[ArgumentParser]) -> None:
    parser = _command(
        commands,
        "try",
        "Run one trial in the foreground, tell what happens in words, and keep its world.",
        "It is kept in .bench/tries, apart from the runs.\n\nexample: benchsite try fix_total --agent oracle --pdb\n\n"
        + EXITS,
    )
    parser.add_argument("scenario", metavar="SCENARIO", help="a scenario's id, or a glob: its first match is run")
    _bench(parser, positional=False)
    parser.add_argument("--agent", metavar="NAME", help="the agent (default: the first of the matrix)")
    parser.add_argument("--case", metavar="KEY", help="the case (default: the first)")
    parser.add_argument("--cell", metavar="PATTERN", help="which cell of the agent: AXIS=VALUE,... or a cell id")
    _environment(parser)
    parser.add_argument("--evaluation", choices=("none", "reuse", "fresh"), help="evaluation mode")
    parser.add_argument("--seed", type=int, metavar="N", help="seed of the trial (default: drawn)")
    parser.add_argument("--pdb", action="store_true", help="open the debugger where the scenario raises")
    _json(parser)


def _rerun(commands: _Commands[ArgumentParser]) -> None:
    parser = _command(
        commands, "rerun", "Run the case of a trial again in its cell, with the seed it had: a new run.", EXITS
    )
    _trial(parser)
    parser.add_argument("--trials", type=_positive, metavar="N", help="so many trials (default: that one)")
    _workers(parser)
    _tagged(parser)
    _json(parser)


def _trial(parser: ArgumentParser) -> None:
    parser.add_argument("trial", metavar="TRIAL", help=WHICH_TRIAL)
    _bench(parser, positional=False)


def _transcript(commands: _Commands[ArgumentParser]) -> None:
    parser = _command(commands, "transcript", "Show what was said and done in a trial.")
    _trial(parser)
    parser.add_argument("--full", action="store_true", help="do not shorten long steps")
    _json(parser)


def _diff(commands: _Commands[ArgumentParser]) -> None:
    parser = _command(
        commands,
        "diff",
        "Show what the agent of a trial changed, as a git patch.",
        "example: benchsite diff latest:3 | git apply",
    )
    _trial(parser)
    parser.add_argument(
        "--stage", choices=("agent", "evaluation"), default="agent",
        help="whose changes: the agent's (default), or what suite, scenario and collect commands wrote after it",
    )  # fmt: skip


def _open(commands: _Commands[ArgumentParser]) -> None:
    parser = _command(
        commands, "open", "Put the world of a trial, as its agent left it, into a new folder and print where."
    )
    _trial(parser)
    parser.add_argument("--to", type=Path, metavar="DIR", help="a new or empty folder (default: one here)")
    _json(parser)


def _replay(commands: _Commands[ArgumentParser]) -> None:
    parser = _command(
        commands,
        "replay",
        "Prove that a run's stored result is what its journal says, and that every blob is what its digest says.",
        "exit codes: 0 all agrees; 1 something differs; 2 the run cannot be read",
    )
    parser.add_argument("run", nargs="?", default="latest", metavar="RUN", help=WHICH_RUN)
    _bench(parser, positional=False)
    _json(parser)


def _result(commands: _Commands[ArgumentParser]) -> None:
    parser = _command(commands, "result", "Show a run: cells x measures, with n and what was left out.")
    parser.add_argument("run", nargs="?", default="latest", metavar="RUN", help=WHICH_RUN)
    _bench(parser, positional=False)
    parser.add_argument("--trials", action="store_true", help="list the trials with their indexes instead")
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
