"""Private servers for tests: started on free ports in folders of their own, gone when the tests end."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

START_SECONDS = 60


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def find_program(name: str) -> str | None:
    """Find a server program on PATH or where Debian keeps PostgreSQL's."""
    found = shutil.which(name)
    if found:
        return found
    places = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), reverse=True)
    return str(places[0]) if places else None


@contextmanager
def postgres() -> Iterator[str]:
    """Run a private PostgreSQL and give its URL. initdb refuses root, so root hands it to the user `postgres`."""
    initdb, server = find_program("initdb"), find_program("postgres")
    assert initdb and server, "PostgreSQL is not installed"
    user, folder = _owned_folder()
    try:
        data, port = folder / "data", free_port()
        as_user = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []} if os.geteuid() == 0 else {}
        env = {"PATH": os.environ["PATH"], "HOME": str(folder), "LC_ALL": "C.UTF-8"}
        command = [initdb, "-D", str(data), "-U", "benchsite", "--auth=trust", "--no-sync", "-E", "UTF8"]
        subprocess.run(command, check=True, capture_output=True, env=env, cwd=folder, **as_user)
        options = ["-c", f"port={port}", "-c", "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={folder}"]
        quick = ["-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off"]
        process = subprocess.Popen(
            [server, "-D", str(data), *options, *quick, "-c", "max_connections=60"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env, cwd=folder, **as_user,
        )  # fmt: skip
        try:
            _until(lambda: _postgres_answers(port), process, "PostgreSQL")
            yield f"postgresql://benchsite@127.0.0.1:{port}/postgres"
        finally:
            process.send_signal(signal.SIGINT)  # "fast": a SIGTERM would wait for whoever is still connected
            process.wait(30)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def redis() -> Iterator[str]:
    """Run a private Redis without persistence and give its URL."""
    program = find_program("redis-server")
    assert program, "redis-server is not installed"
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", folder],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            _until(lambda: _redis_answers(port), process, "Redis")
            yield f"redis://127.0.0.1:{port}/0"
        finally:
            process.terminate()
            process.wait(30)


def _owned_folder() -> tuple[pwd.struct_passwd, Path]:
    user = pwd.getpwnam("postgres") if os.geteuid() == 0 else pwd.getpwuid(os.geteuid())
    folder = Path(tempfile.mkdtemp(prefix="benchsite-postgres-"))
    if os.geteuid() == 0:
        os.chown(folder, user.pw_uid, user.pw_gid)
    return user, folder


def _postgres_answers(port: int) -> bool:
    import psycopg

    try:
        psycopg.connect(f"postgresql://benchsite@127.0.0.1:{port}/postgres", connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True


def _redis_answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
            connection.sendall(b"PING\r\n")
            return connection.recv(16).startswith(b"+PONG")
    except OSError:
        return False


def _until(answers: Callable[[], bool], process: subprocess.Popen[bytes], name: str) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"{name} ended with code {process.returncode} while it started.")
        if answers():
            return
        time.sleep(0.05)
    raise RuntimeError(f"{name} did not answer within {START_SECONDS} s.")
