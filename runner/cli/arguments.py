"""What can be written on the command line. Nothing heavy is imported here, so that --help is instant."""

from __future__ import annotations

import argparse
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

from .looking import LOOKING
from .options import (
    Commands,
    add_command,
    positive,
    with_bench,
    with_cells,
    with_environment,
    with_json,
    with_plan,
    with_run,
    with_scenarios,
    with_selection,
    with_tags,
    with_trial,
    with_workers,
)  # fmt: skip

Command = Callable[[Namespace], int]

COMMANDS: dict[str, str] = {
    "init": "runner.cli.init",
    "prepare": "runner.cli.prepare",
    "check": "runner.cli.check",
    "doctor": "runner.cli.doctor",
    "try": "runner.cli.trying",
    "run": "runner.cli.run",
    "cancel": "runner.cli.cancel",
    "rerun": "runner.cli.rerun",
    "regrade": "runner.cli.regrade",
    "result": "runner.cli.result",
    "gate": "runner.cli.gate",
    "list": "runner.cli.listing",
    "export": "runner.cli.export",
    "transcript": "runner.cli.transcript",
    "diff": "runner.cli.diff",
    "open": "runner.cli.open",
    "replay": "runner.cli.replay",
    "bundle": "runner.cli.bundle",
    "push": "runner.cli.push",
    "clean": "runner.cli.clean",
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
REGRADE_NOTE = (
    "Each request with the prompt that was recorded puts back what the agent changed and gives the reply it gave.\n"
    "A trial that asks something else, or whose files were not kept, ends as run_error/regrade.\n\n"
)


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
        _init, _prepare, _check, _doctor, _try, _run, _cancel, _rerun, _regrade, *LOOKING, _clean, _mock_model,
    )  # fmt: skip
    for add in adding:
        add(commands)
    return parser


class _Version(argparse.Action):
    def __call__(self, parser: ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"benchsite {version('benchsite')}")
        parser.exit()


def _init(commands: Commands[ArgumentParser]) -> None:
    parser = add_command(commands, "init", "Make a small bench that runs as it is.")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where; it must be new or empty")
    parser.add_argument("--name", help="OWNER/NAME of the bench (default: from the folder)")
    with_json(parser)


def _prepare(commands: Commands[ArgumentParser]) -> None:
    parser = add_command(commands, "prepare", "Check a bench without running an agent, and say what a run would be.")
    with_bench(parser, positional=True)
    with_plan(parser)
    with_json(parser)


def _run(commands: Commands[ArgumentParser]) -> None:
    parser = add_command(commands, "run", "Run every case in every cell, or go on with a run.", RUN_EXAMPLES + EXITS)
    with_bench(parser, positional=True)
    with_plan(parser)
    with_selection(parser)
    with_workers(parser)
    with_tags(parser)
    parser.add_argument("--fail-fast", action="store_true", help="let no trial begin after the first error")
    parser.add_argument("--dry-run", action="store_true", help="show the plan as a table and run nothing")
    parser.add_argument("--resume", metavar="RUN", help="run what is missing of this run (id, part of it, or latest)")
    with_json(parser)


def _doctor(commands: Commands[ArgumentParser]) -> None:
    parser = add_command(commands, "doctor", "Say whether a bench can run here, and what is missing.", DOCTOR_EXITS)
    with_bench(parser, positional=True)
    with_environment(parser)
    with_json(parser)


def _clean(commands: Commands[ArgumentParser]) -> None:
    parser = add_command(
        commands,
        "clean",
        "Remove the worlds, sandboxes, containers and control groups that dead runners left behind.",
        "What lives is never touched.\nexit codes: 0 nothing is left; 1 something could not be removed",
    )
    parser.add_argument("--dry-run", action="store_true", help="name what would be removed, and remove nothing")
    with_json(parser)


def _check(commands: Commands[ArgumentParser]) -> None:
    parser = add_command(
        commands,
        "check",
        "Check the bench itself: its own solution (oracle) must reach the headline, doing nothing (noop) must not.",
        "The solution of a scenario lies in fixtures/solution/SCENARIO/ (files), SCENARIO.patch or SCENARIO.txt.\n"
        "exit codes: 0 sound; 1 unsound; 2 could not start; 130 cancelled",
    )
    with_bench(parser, positional=True)
    with_scenarios(parser)
    with_environment(parser)
    with_workers(parser)
    with_json(parser)


def _try(commands: Commands[ArgumentParser]) -> None:
    parser = add_command(
        commands,
        "try",
        "Run one trial in the foreground, tell what happens in words, and keep its world.",
        "It is kept in .bench/tries, apart from the runs.\n\nexample: benchsite try fix_total --agent oracle --pdb\n\n"
        + EXITS,
    )
    parser.add_argument("scenario", metavar="SCENARIO", help="a scenario's id, or a glob: its first match is run")
    with_bench(parser, positional=False)
    parser.add_argument("--agent", metavar="NAME", help="the agent (default: the first of the matrix)")
    parser.add_argument("--case", metavar="KEY", help="the case (default: the first)")
    parser.add_argument("--cell", metavar="PATTERN", help="which cell of the agent: AXIS=VALUE,... or a cell id")
    with_environment(parser)
    parser.add_argument("--evaluation", choices=("none", "reuse", "fresh"), help="evaluation mode")
    parser.add_argument("--seed", type=int, metavar="N", help="seed of the trial (default: drawn)")
    parser.add_argument("--pdb", action="store_true", help="open the debugger where the scenario raises")
    with_json(parser)


def _cancel(commands: Commands[ArgumentParser]) -> None:
    parser = add_command(
        commands,
        "cancel",
        "Cancel one trial of a run that goes on in another terminal, or all that is left of the run.",
        "One trial is RUN/INDEX, or --trial INDEX. A cancelled trial is run again by `run --resume`.",
    )
    with_run(parser)
    parser.add_argument("--trial", type=int, metavar="N", help="the trial's index (`result --trials` lists them)")
    with_json(parser)


def _rerun(commands: Commands[ArgumentParser]) -> None:
    parser = add_command(
        commands, "rerun", "Run the case of a trial again in its cell, with the seed it had: a new run.", EXITS
    )
    with_trial(parser)
    parser.add_argument("--trials", type=positive, metavar="N", help="so many trials (default: that one)")
    with_workers(parser)
    with_tags(parser)
    with_json(parser)


def _regrade(commands: Commands[ArgumentParser]) -> None:
    parser = add_command(
        commands,
        "regrade",
        "Check the trials of a run again with the scenarios as they are now; no agent runs. Makes a new run.",
        REGRADE_NOTE + EXITS,
    )
    with_run(parser)
    with_scenarios(parser)
    with_cells(parser)
    with_workers(parser)
    with_tags(parser)
    with_json(parser)


def _mock_model(commands: Commands[ArgumentParser]) -> None:
    parser = add_command(
        commands, "mock-model", "Serve scripted replies by the model protocols, for agents without a network."
    )
    parser.add_argument("--script", type=Path, required=True, metavar="FILE", help="the replies")
    parser.add_argument("--functions", type=Path, metavar="FILE", help="a Python file whose functions the replies name")
    parser.add_argument(
        "--port", type=int, default=8707, metavar="N", help="port on 127.0.0.1 (default: 8707; 0 takes a free one)"
    )
