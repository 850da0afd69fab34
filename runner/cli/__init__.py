"""The command `benchsite`, the same as `python -m runner`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

COULD_NOT_START, INTERRUPTED, CANCELLED = 2, 3, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and give its exit code (EXITS in arguments.py says which)."""
    from .arguments import command_of, parse

    for stream in (sys.stdout, sys.stderr):
        # A terminal that can't show a character gets its escape, never a traceback.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    options = parse(argv)
    try:
        code = command_of(options.command)(options)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return CANCELLED
    except BrokenPipeError:
        # The reader (`| head`) has seen enough; the interpreter's own flush at exit must not complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        return _refused(error, debug=options.debug)
    return code


def _refused(error: Exception, *, debug: bool) -> int:
    from runner.errors import DiskFull, RunInterrupted, RunnerError, is_disk_full, is_refused

    from .terminal import clean

    if isinstance(error, OSError) and is_refused(error):
        error = RunnerError(_refused_place(error))
    known = isinstance(error, RunnerError) or is_disk_full(error)
    if debug or not known:
        import traceback

        print(clean("".join(traceback.format_exception(error)), lines=True), file=sys.stderr)
    if known and not isinstance(error, RunnerError):
        error = DiskFull(getattr(error, "filename", None) or "")
    if known:
        print(clean(str(error), lines=True), file=sys.stderr)
    else:
        print(f"This is a fault in benchsite itself, not in your bench: {type(error).__name__}.", file=sys.stderr)
    return INTERRUPTED if isinstance(error, RunInterrupted) else COULD_NOT_START


def _refused_place(error: OSError) -> str:
    from runner.worlds.places import worlds_root

    file = os.fsdecode(error.filename)
    hint = " Set BENCHSITE_WORLDS to a folder of your own." if file.startswith(str(worlds_root())) else ""
    return f"{file} cannot be read or written ({error.strerror}).{hint}"
