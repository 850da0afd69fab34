from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

from runner.errors import RunnerError

from .places import find_run
from .terminal import clean, print_json


def command(options: Namespace) -> int:
    from runner.exchange.push import push

    run_dir = find_run(options.run, options.bench)
    quiet = options.json
    given = token(options.token_file)
    pushed = push(run_dir, options.to, given, on_progress=_reporter(quiet=quiet), on_wait=_waiter(quiet=quiet))
    if options.json:
        print_json(pushed.__dict__)
        return 0
    print(clean(f"Sent {pushed.sent} blobs, {pushed.bytes:,} bytes; the run is {pushed.verdict}."))
    if pushed.held:
        print(f"{pushed.held} of them look as if they held a secret; they are shown once a curator releases them.")
    print(clean(pushed.url))
    return 0


def token(file: Path | None) -> str:
    """Find the token: a file, the environment or a person; never an argument, which all users of a machine can read."""
    if file is not None:
        try:
            found = file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise RunnerError(f"The token file {file} cannot be read: {error}.") from error
    elif os.environ.get("BENCHSITE_TOKEN"):
        found = os.environ["BENCHSITE_TOKEN"].strip()
    elif sys.stdin.isatty():
        import getpass

        found = getpass.getpass("Token: ").strip()
    else:
        found = ""
    if not found or not found.isascii() or not found.isprintable() or " " in found:
        raise RunnerError(
            "There is no token to send with: make one on the site at /settings/tokens/, then set BENCHSITE_TOKEN or "
            "give --token-file FILE."
        )
    return found


def _reporter(*, quiet: bool) -> Callable[..., None]:
    """Rewrite one line on a terminal; elsewhere say only how much there is to send."""
    live = sys.stderr.isatty()

    def report(progress: object) -> None:
        from runner.exchange.push import Progress

        assert isinstance(progress, Progress)
        if quiet or not (live or progress.blobs == 0):
            return
        said = f"{progress.blobs}/{progress.of} blobs, {progress.bytes:,} of {progress.of_bytes:,} bytes"
        print(f"\r{said}" if live else said, end="" if live and progress.blobs < progress.of else "\n", file=sys.stderr)

    return report


def _waiter(*, quiet: bool) -> Callable[..., None]:
    """Say each state once, and every tenth of the way."""
    last: tuple[str, int] | None = None

    def report(waiting: object) -> None:
        nonlocal last
        from runner.exchange.push import Waiting

        assert isinstance(waiting, Waiting)
        state = waiting.state, waiting.percent // 10
        if quiet or state == last:
            return
        if last is None:
            print(clean(f"The run is large: {waiting.page} shows how far the site is with it."), file=sys.stderr)
        words = {"queued": f"it waits, {waiting.ahead} before it", "ingesting": f"ingesting, {waiting.percent} %"}
        print(clean(f"The site takes it in: {words.get(waiting.state, waiting.state)}"), file=sys.stderr)
        last = state

    return report
