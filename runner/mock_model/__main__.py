"""`python -m runner.mock_model --script FILE --port N`: prints its address, serves until interrupted."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from runner.errors import RunnerError

from .functions import load_functions
from .server import MockModel

DEFAULT_PORT = 8707


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="benchsite mock-model", description="Answer as a model would, from a file.")
    parser.add_argument("--script", type=Path, required=True, help="the reply file (JSON)")
    parser.add_argument("--functions", type=Path, help="a Python file with the functions that the replies name")
    parser.add_argument("--port", type=int, default=DEFAULT_PORT, help=f"default {DEFAULT_PORT}; 0 takes a free one")
    given = parser.parse_args(argv)
    try:
        functions = load_functions(given.functions) if given.functions else None
        model = MockModel(given.script, given.port, functions)
    except RunnerError as error:
        print(error, file=sys.stderr)
        return 2
    print(model.url, flush=True)
    model.serve()
    return 0


if __name__ == "__main__":
    sys.exit(main())
