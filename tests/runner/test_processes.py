"""Every command can be ended with all it started, by us or by our own death."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from runner.processes import Keeper, ProcessLost, become_subreaper, kill_tree, opened, output_of, run_process

ENV = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
ESCAPING = """
import os, signal, sys, time
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:  # a daemon as the book has it: two forks, a session of its own, no parent
        open(sys.argv[1], "w").write(str(os.getpid()))
        while True:
            time.sleep(1)
    os._exit(0)
while not os.path.exists(sys.argv[1]) or not open(sys.argv[1]).read():
    time.sleep(0.01)
if sys.argv[2] == "stay":
    while True:
        time.sleep(1)
"""


@pytest.fixture
def escaping(tmp_path: Path) -> Callable[[str], list[str]]:
    """A program that leaves a daemon which ignores every polite signal; its pid stands in `pid`."""
    script = tmp_path / "escaping.py"
    script.write_text(ESCAPING)
    return lambda then: [sys.executable, "-S", str(script), str(tmp_path / "pid"), then]


@pytest.fixture
def one() -> Iterator[Keeper]:
    made = Keeper.here()
    yield made
    made.close()


def run(one: Keeper, argv: list[str], folder: Path, timeout: float | None = None) -> tuple[int | None, str]:
    with opened(None, folder / "printed", folder / "printed") as streams:
        done = one.run(argv, env=ENV, cwd=str(folder), streams=streams, timeout=timeout)
    return done.exit_code, (folder / "printed").read_text()


def is_alive(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:  # not there, or gone between opening and reading
        return False
    return stat.rpartition(")")[2].split()[0] not in ("Z", "X")


def ends(pid: int, within: float = 60) -> bool:
    limit = time.monotonic() + within
    while is_alive(pid):
        if time.monotonic() > limit:
            return False
        time.sleep(0.01)
    return True


def read_pid(tmp_path: Path) -> int:
    limit = time.monotonic() + 60
    while time.monotonic() < limit:
        if (tmp_path / "pid").exists() and (text := (tmp_path / "pid").read_text()):
            return int(text)
        time.sleep(0.01)
    raise AssertionError("the daemon never wrote its pid")


def test_a_command_has_its_streams_environment_and_folder(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("given\n")
    done = run_process(
        ["sh", "-c", "cat; pwd; echo $GREETING; echo oops >&2; exit 3"],
        cwd=tmp_path, env={**ENV, "GREETING": "hi"},
        stdin=tmp_path / "in", stdout=tmp_path / "out", stderr=tmp_path / "err", timeout=20,
    )  # fmt: skip
    assert (done.exit_code, done.signal, done.timed_out, done.ok) == (3, None, False, False)
    assert (tmp_path / "out").read_text() == f"given\n{tmp_path}\nhi\n"
    assert (tmp_path / "err").read_text() == "oops\n"


def test_nothing_of_the_runners_environment_and_descriptors_reaches_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_KEY", "s3cret")
    held = os.open(tmp_path, os.O_RDONLY)
    os.set_inheritable(held, True)
    try:
        _, said = output_of(["sh", "-c", "env; ls /proc/self/fd"], cwd=tmp_path, env=ENV)
    finally:
        os.close(held)
    assert "s3cret" not in said
    assert said.split()[-4:] == ["0", "1", "2", "3"], "3 is the directory that ls reads"


def test_a_signal_and_a_program_that_cannot_start_are_told_as_a_shell_tells_them(tmp_path: Path) -> None:
    assert run_process(["sh", "-c", "kill -9 $$"], cwd=tmp_path, env=ENV).signal == signal.SIGKILL
    done, said = output_of(["no-such-program"], cwd=tmp_path, env=ENV)
    assert (done.exit_code, said) == (127, "no-such-program: not found on PATH\n")
    (tmp_path / "plain").write_text("text")
    done, said = output_of([str(tmp_path / "plain")], cwd=tmp_path, env=ENV)
    assert done.exit_code == 126
    assert "Permission denied" in said
    done, said = output_of(["true"], cwd=tmp_path / "gone", env=ENV)
    assert done.exit_code == 126
    assert "gone" in said


def test_commands_start_with_default_signals(tmp_path: Path) -> None:
    done, said = output_of(["sh", "-c", "grep SigIgn /proc/self/status"], cwd=tmp_path, env=ENV)
    assert done.ok
    ignored = int(said.split()[1], 16)
    assert not ignored & (1 << (signal.SIGPIPE - 1) | 1 << (signal.SIGINT - 1) | 1 << (signal.SIGTERM - 1))


def test_a_timed_out_command_dies_with_a_daemon_in_its_own_session(
    tmp_path: Path, one: Keeper, escaping: Callable[[str], list[str]]
) -> None:
    with opened(None, None, None) as streams:
        done = one.run(escaping("stay"), env=ENV, cwd=str(tmp_path), streams=streams, timeout=4)
    assert (done.timed_out, done.exit_code) == (True, None)
    assert not is_alive(read_pid(tmp_path))


def test_what_a_command_leaves_running_lives_on_until_the_keeper_closes(
    tmp_path: Path, escaping: Callable[[str], list[str]]
) -> None:
    one = Keeper.here()
    try:
        assert run(one, escaping("go"), tmp_path)[0] == 0
        service = read_pid(tmp_path)
        assert is_alive(service)
        assert run(one, ["sleep", "60"], tmp_path, timeout=0.2)[0] is None
        assert is_alive(service), "a later command's timeout is not the service's fault"
        assert run(one, ["echo", "next"], tmp_path) == (0, "next\n")
    finally:
        one.close()
    assert not is_alive(service)


def test_running_one_process_leaves_none(tmp_path: Path, escaping: Callable[[str], list[str]]) -> None:
    assert run_process(escaping("go"), cwd=tmp_path, env=ENV).exit_code == 0
    assert not is_alive(read_pid(tmp_path))


def test_the_runners_sudden_death_ends_the_agents(tmp_path: Path, escaping: Callable[[str], list[str]]) -> None:
    runner = textwrap.dedent(f"""
        from runner.processes import run_process
        run_process({escaping("stay")!r}, cwd={str(tmp_path)!r}, env={ENV!r})
    """)
    process = subprocess.Popen([sys.executable, "-c", runner])
    try:
        daemon = read_pid(tmp_path)
        assert is_alive(daemon)
    finally:
        process.kill()
        process.wait()
    assert ends(daemon)


def test_an_exception_in_the_runner_ends_the_command(tmp_path: Path, one: Keeper) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupted)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(KeyboardInterrupt):
            run(one, ["sh", "-c", f"echo $$ > {tmp_path}/pid; exec sleep 100"], tmp_path)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert not is_alive(read_pid(tmp_path))
    assert run(one, ["echo", "still there"], tmp_path) == (0, "still there\n")


def test_a_keeper_that_was_killed_is_reported_as_lost(tmp_path: Path) -> None:
    one = Keeper.here()
    timer = threading.Timer(0.3, os.kill, (one.pid, signal.SIGKILL))
    timer.start()
    try:
        with pytest.raises(ProcessLost):
            run(one, ["sh", "-c", f"echo $$ > {tmp_path}/pid; exec sleep 30"], tmp_path)
        kill_tree(read_pid(tmp_path))
    finally:
        timer.join()
        one.close()


def test_a_process_with_threads_starts_its_keeper_afresh(tmp_path: Path) -> None:
    go = threading.Event()
    waiting = threading.Thread(target=go.wait)
    waiting.start()
    try:
        done, said = output_of(["echo", "hello"], cwd=tmp_path, env=ENV)
    finally:
        go.set()
        waiting.join()
    assert (done.exit_code, said) == (0, "hello\n")


def test_arguments_larger_than_a_socket_buffer_and_odd_bytes_arrive(tmp_path: Path, one: Keeper) -> None:
    odd = os.fsdecode(b"\xff\xfe")
    script = 'printf \'%s\' "$1" | od -An -tx1; printf \'%s\' "$BIG" | wc -c; printf \'%s\' "$BIG" "$BIG"'
    many = {f"V{number}": "x" * 100_000 for number in range(8)}
    with opened(None, tmp_path / "o", tmp_path / "o") as streams:
        done = one.run(
            ["sh", "-c", script, "sh", odd], env={**ENV, **many, "BIG": "y" * 1000}, cwd=str(tmp_path),
            streams=streams,
        )  # fmt: skip
    assert done.exit_code == 0
    assert (tmp_path / "o").read_text().split()[:3] == ["ff", "fe", "1000"]


def test_no_link_an_agent_planted_is_followed_for_a_stream(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("kept")
    (tmp_path / "out").symlink_to(precious)
    run_process(["echo", "x"], cwd=tmp_path, env=ENV, stdout=tmp_path / "out")
    assert precious.read_text() == "kept"
    assert (tmp_path / "out").read_text() == "x\n"
    (tmp_path / "in").symlink_to(precious)
    with pytest.raises(ProcessLost, match="in cannot be opened"):
        run_process(["cat"], cwd=tmp_path, env=ENV, stdin=tmp_path / "in")


def test_a_bomb_of_forks_is_ended(tmp_path: Path) -> None:
    script = tmp_path / "bomb.py"
    script.write_text(
        "import os, time\n"
        "for _ in range(5):\n"
        "    if os.fork() == 0:\n"
        "        os.setsid()\n"
        f"    open({str(tmp_path / 'pids')!r}, 'a').write(f'{{os.getpid()}}\\n')\n"
        "time.sleep(100)\n"
    )
    done = run_process([sys.executable, "-S", str(script)], cwd=tmp_path, env=ENV, timeout=4)
    assert done.timed_out
    assert not any(is_alive(int(pid)) for pid in (tmp_path / "pids").read_text().split())


def test_a_tree_is_killed_from_its_root(tmp_path: Path) -> None:
    process = subprocess.Popen(["sh", "-c", f"sh -c 'echo $$ > {tmp_path}/pid; sleep 100' & wait"])
    child = read_pid(tmp_path)
    kill_tree(process.pid)
    assert process.wait(60) == -signal.SIGKILL
    assert ends(child)


def test_a_subreaper_inherits_orphans(tmp_path: Path) -> None:
    pid = os.fork()
    if pid == 0:
        become_subreaper()
        subprocess.run(["sh", "-c", f"sleep 100 & echo $! > {tmp_path}/pid"], check=True)
        orphan = int((tmp_path / "pid").read_text())
        parent = Path(f"/proc/{orphan}/stat").read_text().rpartition(")")[2].split()[1]
        os.kill(orphan, signal.SIGKILL)
        os._exit(0 if int(parent) == os.getpid() else 1)
    assert os.waitpid(pid, 0)[1] == 0
