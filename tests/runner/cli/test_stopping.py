from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import termios
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from runner.journal import read_events
from runner.replay import read

from .make import benchsite, command_line, environment, json_of, make_bench


def started(bench: Path, **streams: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command_line("run", bench, "--workers", 2), env=environment(), **streams)  # type: ignore[call-overload, no-any-return]


def eventually(true: Callable[[], bool], seconds: float = 60) -> None:
    limit = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < limit, "it never came true"
        time.sleep(0.02)


def trials_begun(bench: Path) -> int:
    runs = list((bench / ".bench" / "runs").glob("*"))
    return sum(event["type"] == "trial.started" for run in runs for event in read_events(run))


def left_over(marker: str) -> list[str]:
    """Name the processes whose environment or command line speaks of the marker."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                told = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
            except OSError:
                continue
            if marker.encode() in told:
                found.append(told[:200].decode(errors="replace"))
    return found


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    return make_bench(tmp_path / "bench", agents='["slow", "loop"]')


def the_run(bench: Path) -> Path:
    (run,) = (bench / ".bench" / "runs").iterdir()
    return run


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_signal_cancels_cleanly(bench: Path, number: signal.Signals) -> None:
    process = started(bench, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    eventually(lambda: trials_begun(bench) == 2)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Press Ctrl-C again" in err
    assert b"cancelled: 4 cancelled" in out
    result = read(the_run(bench))
    assert (result.state, result.counts) == ("cancelled", {"cancelled": 4})
    eventually(lambda: left_over(str(bench)) == [])


def test_a_second_signal_ends_everything_at_once(bench: Path) -> None:
    process = started(bench, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    eventually(lambda: trials_begun(bench) == 2)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 130
    eventually(lambda: left_over(str(bench)) == [])


def test_a_cancelled_run_can_be_gone_on_with(bench: Path) -> None:
    process = started(bench, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    eventually(lambda: trials_begun(bench) == 2)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130
    listed = json_of("list", bench)["runs"]
    assert [(row["state"], row["counts"]) for row in listed] == [("cancelled", {"cancelled": 4})]
    assert "4 cancelled" in benchsite("result", bench).stdout


def test_ctrl_c_typed_at_a_terminal_cancels_and_the_progress_is_live(bench: Path) -> None:
    """At a terminal every process of the group gets the signal, not the runner alone."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        command_line("run", bench, "--workers", 2),
        env=environment(TERM="xterm", COLUMNS="120"),
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        preexec_fn=_take_terminal,
    )
    os.close(slave)
    shown = bytearray()
    eventually(lambda: _read(master, shown) and trials_begun(bench) == 2 and b"2 running" in shown)
    os.write(master, b"\x03")
    eventually(lambda: _read(master, shown) and process.poll() is not None)
    os.close(master)
    assert process.returncode == 130
    assert b"Press Ctrl-C again" in shown
    assert b"4 cancelled" in shown
    assert b"Traceback" not in shown
    assert read(the_run(bench)).counts == {"cancelled": 4}


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_in_the_debugger_leaves_a_terminal_that_shows_what_one_types(tmp_path: Path, times: int) -> None:
    """The debugger switches that off while it waits for a line, and is ended before it could switch it on again."""
    bench = make_bench(tmp_path / "bench", scenario="def bench_ask(workspace, agent):\n    raise ValueError('no')\n")
    master, slave = pty.openpty()
    before, shown = termios.tcgetattr(slave), bytearray()
    process = subprocess.Popen(
        command_line("try", "ask", "--bench", bench, "--pdb"), env=environment(TERM="xterm"),
        stdin=slave, stdout=slave, stderr=slave, start_new_session=True, preexec_fn=_take_terminal,
    )  # fmt: skip
    eventually(lambda: _read(master, shown) and b"(Pdb) " in shown)
    if find_spec("readline"):  # without it the debugger reads lines as they come, and switches nothing off
        eventually(lambda: termios.tcgetattr(slave) != before)
    for _ in range(times):
        process.send_signal(signal.SIGINT)
    eventually(lambda: _read(master, shown) and process.poll() is not None)
    assert (process.returncode, termios.tcgetattr(slave)) == (130, before)
    os.close(slave)
    os.close(master)


def _take_terminal() -> None:
    import fcntl

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _read(master: int, shown: bytearray) -> bool:
    while select.select([master], [], [], 0)[0]:
        try:
            data = os.read(master, 65536)
        except OSError:
            break
        if not data:
            break
        shown += data
    return True
