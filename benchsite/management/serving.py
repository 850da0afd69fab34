"""Serving on this machine: migrate, collect what changed, hand over to gunicorn."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from argparse import ArgumentTypeError
from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command

from benchsite.flows.incoming import wake_if_waiting
from runner.digests import digest
from runner.errors import RunnerError


def serve(port: int, say: Callable[[str], None]) -> None:
    """Become gunicorn, with debugging off; the key that local use keeps is good for that."""
    refuse_taken(port)
    call_command("migrate", verbosity=0)
    wake_if_waiting()
    env = {**os.environ, "BENCHSITE_DEBUG": "0", "BENCHSITE_BIND": f"127.0.0.1:{port}"}
    if settings.DEBUG and not env.get("BENCHSITE_SECRET_KEY") and not env.get("BENCHSITE_SECRET_KEY_FILE"):
        env["BENCHSITE_SECRET_KEY_FILE"] = str(settings.DATA / "secret_key")
    _collect(env, say)
    say(f"Serving at http://127.0.0.1:{port}  (Ctrl-C stops)")
    os.chdir(settings.BASE_DIR)
    os.execve(sys.executable, [sys.executable, "-m", "gunicorn", "benchsite.wsgi:application"], env)


def port_of(text: str) -> int:
    """Read the value of `--port`."""
    if text.isdecimal() and 0 < int(text) < 65_536:
        return int(text)
    raise ArgumentTypeError(f"{text!r} is no port; give a number from 1 to 65535")


def refuse_taken(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise RunnerError(
                f"Port {port} cannot be served from ({error.strerror}); choose another: make serve PORT={port + 1}"
            ) from error


def _collect(env: dict[str, str], say: Callable[[str], None]) -> None:
    """Hashing and compressing takes long, so it is done only when a file's size or time is another than last time."""
    stamp, now = Path(settings.STATIC_ROOT) / ".inputs", _inputs()
    if stamp.exists() and stamp.read_text(encoding="utf-8") == now:
        return
    say("Collecting static files (only when they changed) ...")
    left_out = [word for pattern in ("*.map", "redoc*") for word in ("--ignore", pattern)]
    arguments = [sys.executable, "manage.py", "collectstatic", "--noinput", "--clear", "--verbosity", "0", *left_out]
    if subprocess.run(arguments, env=env, cwd=settings.BASE_DIR, check=False).returncode:
        raise RunnerError("The static files could not be collected; the reason stands above.")
    stamp.write_text(now, encoding="utf-8")


def _inputs() -> str:
    found = []
    for finder in get_finders():
        for path, storage in finder.list(None):
            stat = os.stat(storage.path(path))  # noqa: PTH116  a stat, thousands of times
            found.append([path, stat.st_size, stat.st_mtime_ns])
    return digest(sorted(found))
