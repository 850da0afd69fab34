"""Commands of a bench in an environment: what they said and how they ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from runner.environments.base import Session
from runner.errors import RunnerError

from .outputs import bounded

if TYPE_CHECKING:
    from .live import LiveTrial

OUTPUT_LIMIT = 8 << 20


@dataclass(frozen=True)
class Execution:
    """How a command of the verifier ended. Output beyond 8 MiB a stream is left out."""

    exit_code: int | None
    timed_out: bool
    stdout: str
    stderr: str
    seconds: float


def execute(
    trial: LiveTrial,
    session: Session,
    out: Path,
    name: str,
    argv: list[str],
    *,
    timeout: float,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
    stdin: str | bytes | None = None,
) -> Execution:
    """Run a command; `name` is that of its output's files in `out`. A broken environment ends the trial."""
    streams = [out / f"{name}.{stream}" for stream in ("stdout", "stderr")]
    try:
        done = session.exec(
            argv,
            env=dict(env or {}),
            stdin=_given(out / f"{name}.stdin", stdin),
            stdout=streams[0],
            stderr=streams[1],
            cwd=cwd,
            timeout=timeout,
        )
    except (RunnerError, OSError) as error:
        raise trial.fail("environment", f"The environment failed: {error}") from error
    trial.limited(done.over)
    return Execution(done.exit_code, done.timed_out, _text(streams[0]), _text(streams[1]), done.seconds)


def _given(file: Path, stdin: str | bytes | None) -> Path | None:
    if stdin is None:
        return None
    file.write_bytes(stdin if isinstance(stdin, bytes) else stdin.encode("utf-8", "surrogateescape"))
    return file


def _text(file: Path) -> str:
    try:
        return bounded(file, file.stat().st_size, OUTPUT_LIMIT).decode("utf-8", "replace")
    except FileNotFoundError:
        return ""
