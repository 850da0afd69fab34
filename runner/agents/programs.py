"""Finding programs: the real files behind a name on PATH, and the version they tell."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from runner.errors import AgentMissing

from .base import last_line

VERSION_SECONDS = 30


@dataclass(frozen=True)
class Program:
    """`argv` starts it wherever `places` are shown, whatever PATH holds there."""

    argv: tuple[str, ...]
    places: tuple[Path, ...]


def find_program(name: str, install: str) -> Program:
    """Resolve a name on PATH to its real files; `install` is what the sentence advises when there are none."""
    found = shutil.which(name)
    if found is None:
        raise AgentMissing(f"The program {name!r} was not found on PATH; install it with `{install}`.")
    real = Path(found).resolve()
    interpreter = _script_interpreter(real)
    if interpreter is None:
        return Program((str(real),), places(real))
    located = shutil.which(interpreter)
    if located is None:
        raise AgentMissing(f"The program {name!r} needs {interpreter!r}, which was not found on PATH.")
    runs_it = Path(located).resolve()
    return Program((str(runs_it), str(real)), (*places(real), runs_it))


def places(program: Path) -> tuple[Path, ...]:
    """What must be shown for a program to run: its node_modules, its virtual environment with the Python that this
    was made of, or the file alone, with the installation whose Python its first line names."""
    real = program.resolve()
    for parent in real.parents:
        if parent.name == "node_modules":
            return (parent,)
    for prefix in (program.absolute().parent.parent, real.parent.parent):
        if (prefix / "pyvenv.cfg").is_file():
            return (prefix, real, *_installation((prefix / "bin" / "python").resolve()))
    named = re.match(r"#!\s*(/\S*/python[\d.]*)\s*$", _first_line(real))
    python = _installation(Path(named[1]).resolve()) if named else ()
    return (*dict.fromkeys((program.absolute(), real)), *python)


def _installation(python: Path) -> tuple[Path, ...]:
    """Where a Python lives that is not the system's: pyenv's and uv's lie in a home, which is not shown."""
    prefix = python.parent.parent
    return (prefix,) if python.is_file() and not prefix.is_relative_to("/usr") and prefix != Path.home() else ()


def _first_line(file: Path) -> str:
    """A program may be one that this user can run and not read; then nothing is known of how it starts."""
    try:
        with file.open("rb") as content:
            return content.readline(200).decode("utf-8", "replace")
    except PermissionError:
        return ""


def _script_interpreter(real: Path) -> str | None:
    """Read `node` out of `#!/usr/bin/env node`: in an environment with a bare PATH that line finds nothing."""
    found = re.match(r"#!\s*\S*/env\s+(?:-S\s+)?([\w.-]+)", _first_line(real))
    return found[1] if found else None


def ask_version(argv: Sequence[str], env: Mapping[str, str] | None = None) -> str:
    """Run a version command in a home of its own and give the number in what it prints, or else its last line."""
    return _ask_version(tuple(argv), tuple(sorted((env or {}).items())), _stamp(argv))


Stamp = tuple[tuple[int, int, int], ...]


def _stamp(argv: Sequence[str]) -> Stamp:
    """Changes when a file of the command does: a version may be remembered only as long as they all stay the same."""
    found = [Path(path) for path in (shutil.which(argv[0]), *argv[1:]) if path and os.path.isfile(path)]  # noqa: PTH113
    prefix = found[0].parent.parent if found else Path()
    packages = prefix.glob("lib/python*/site-packages") if (prefix / "pyvenv.cfg").is_file() else ()
    return tuple((s.st_mtime_ns, s.st_size, s.st_ino) for s in (path.stat() for path in (*found, *packages)))


@lru_cache(maxsize=64)
def _ask_version(argv: tuple[str, ...], env: tuple[tuple[str, str], ...], stamp: Stamp) -> str:
    with tempfile.TemporaryDirectory(prefix="benchsite-version-") as home:
        surroundings = {"PATH": os.environ.get("PATH", os.defpath), "HOME": home, "LANG": "C.UTF-8", **dict(env)}
        try:
            done = subprocess.run(
                argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=VERSION_SECONDS, env=surroundings, cwd=home
            )
        except FileNotFoundError as error:
            raise AgentMissing(f"The version command {argv[0]!r} was not found on PATH.") from error
        except subprocess.TimeoutExpired as error:
            raise AgentMissing(f"`{' '.join(argv)}` gave no answer within {VERSION_SECONDS} seconds.") from error
        except OSError as error:
            raise AgentMissing(f"`{' '.join(argv)}` could not be run: {error.strerror}.") from error
    output = (done.stdout or done.stderr).decode("utf-8", "replace")
    if done.returncode != 0:
        raise AgentMissing(f"`{' '.join(argv)}` ended with exit code {done.returncode}: {last_line(output)}")
    return version_in(output)


def version_in(output: str) -> str:
    """Take the number out of what a version command printed, or else its last line."""
    found = re.search(r"\d+\.\d+[\w.+-]*", output)
    return found[0] if found else last_line(output, 100)
