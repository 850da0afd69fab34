"""The workspace's own test suite, run inside the trial's environment."""

from __future__ import annotations

import functools
import os
import re
from dataclasses import dataclass
from pathlib import Path

from runner.environments.base import Session
from runner.errors import BenchError
from runner.paths import StrPath
from runner.templates import split

NOT_STARTED = frozenset({126, 127})
PYTEST_BROKEN = frozenset({3, 4})
"""pytest's internal and usage errors: on the untouched world they say that the suite cannot start at all."""
SUITE_ENV = {"PYTHONDONTWRITEBYTECODE": "1", "PYTEST_ADDOPTS": "-p no:cacheprovider"}
"""The suite leaves no caches behind: they would show up as changes."""


@dataclass(frozen=True)
class SuiteRun:
    passed: bool
    exit_code: int | None
    timed_out: bool
    could_start: bool
    file: str
    over: tuple[str, ...] = ()
    """Limits that were reached while it ran."""

    @property
    def output(self) -> Path:
        """The file with what it printed."""
        return Path(self.file)


@functools.lru_cache(maxsize=16)
def suite_argv(suite: str, python: str) -> tuple[str, ...]:
    """Split the declared command and fill each argument; no shell is involved. Worked out by a server once."""
    try:
        words = split(suite)
    except ValueError as error:
        raise BenchError(f"The suite {suite!r} cannot be split into arguments: {error}.") from error
    if not words:
        raise BenchError("The bench declares no suite; write suite='{python} -m pytest -q' in define_bench.")
    return tuple(word.replace("{python}", python) for word in words)


def run_suite(
    session: Session, suite: str, python: str, out: StrPath, timeout: float, *, untouched: bool = False
) -> SuiteRun:
    """Run the suite once; `out`, a file or a folder, takes what it prints. `untouched`: no agent was here yet."""
    argv = [*suite_argv(suite, python)]
    out = f"{os.fspath(out)}/suite.txt" if os.path.isdir(out) else os.fspath(out)  # noqa: PTH112
    done = session.exec(argv, env=dict(SUITE_ENV), stdout=out, stderr=out, timeout=timeout)
    started = done.exit_code not in NOT_STARTED and not _module_missing(argv, done.exit_code, out)
    if untouched and "pytest" in suite and done.exit_code in PYTEST_BROKEN:
        started = False
    return SuiteRun(done.ok, done.exit_code, done.timed_out, started, out, done.over)


def _module_missing(argv: list[str], exit_code: int | None, out: str) -> bool:
    """`python -m NAME` answers 1, like a failing suite, when there is no such module; its words tell them apart."""
    if exit_code != 1 or "-m" not in argv[:-1]:
        return False
    module = argv[argv.index("-m") + 1].partition(".")[0]
    with open(out, "rb") as file:  # noqa: PTH123
        said = file.read(4096).decode(errors="replace").strip()
    return re.fullmatch(rf".*: No module named '?{re.escape(module)}'?", said) is not None
