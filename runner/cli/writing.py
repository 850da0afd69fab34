"""A report goes to a file, whole or not at all, or to the standard output."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from runner.errors import RunnerError


def write(target: Path, text: str) -> None:
    """Write text; `-` is the standard output."""
    if str(target) == "-":
        sys.stdout.write(text)
        return
    beside = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        if target.exists() and not target.is_file():
            target.write_text(text, encoding="utf-8")  # a device or a pipe cannot be replaced
            return
        beside.write_text(text, encoding="utf-8")
        beside.replace(target)
    except OSError as error:
        raise RunnerError(f"{target} cannot be written: {error.strerror or error}.") from error
    finally:
        beside.unlink(missing_ok=True)
