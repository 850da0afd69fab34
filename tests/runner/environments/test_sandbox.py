"""The sandbox shows what is named, and nothing else of the machine."""

from __future__ import annotations

import os
import shutil
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from runner.environments import sandbox
from runner.environments.base import KeptSession, Needs
from runner.environments.roots import Root, read_only_root
from runner.errors import EnvironmentRefused, PathRefused
from runner.worlds.places import Place

Opener = Callable[..., KeptSession]
Said = Callable[..., str]
pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(bool(sandbox.unusable()), reason=f"The sandbox cannot be tested here: {sandbox.unusable()}"),
]


def test_the_root_is_an_allow_list(opener: Opener, said: Said) -> None:
    session = opener("sandbox")
    names = set(said(session, "ls -A /").split())
    assert {"usr", "etc", "proc", "dev", "workspace", "agent", "tmp", "out"} <= names
    assert not names & {"run", "var", "home", "srv", "mnt", "media", "boot", "sys"}
    etc = set(said(session, "ls -A /etc").split())
    assert not etc & {"shadow", "gshadow", "sudoers", "ssh", "machine-id", "hostname", "crontab"}


def test_files_of_the_host_cannot_be_read(opener: Opener, said: Said, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("s3cret")
    session = opener("sandbox")
    assert "s3cret" not in said(session, f"cat {secret}; cat /proc/1/root{secret}; cat /proc/1/environ | tr '\\0' ' '")
    with pytest.raises(PathRefused):
        session.host_to_inside(secret)


def test_nothing_but_the_trials_own_folders_can_be_written(opener: Opener, said: Said) -> None:
    session = opener("sandbox")
    for folder in ("/", "/usr", "/etc", "/usr/bin", sys.prefix, "/work-of-mine"):
        assert "ok" not in said(session, f"touch {folder}/x 2>/dev/null && echo ok || mkdir {folder}/y && echo ok")
    assert said(session, "touch /workspace/x /agent/x /tmp/x && echo ok") == "ok\n"


def test_no_socket_of_the_host_answers(opener: Opener, place: Place, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        before = Path.cwd()
        os.chdir(tmp_path)
        server.bind("docker.sock")
        server.listen()
        os.chdir(before)
        code = (
            "import socket, os\n"
            f"s = socket.socket(socket.AF_UNIX)\nprint(s.connect_ex({str(tmp_path / 'docker.sock')[:100]!r}))\n"
            "print(os.path.exists('/run'), os.path.exists('/var/run'))\n"
        )
        session = opener("sandbox")
        session.exec([sys.executable, "-c", code], env={}, stdout=place.out / "o", stderr=place.out / "o")
        assert (place.out / "o").read_text().split() == ["2", "False", "False"]


def test_processes_names_and_signals_of_the_host_are_out_of_reach(opener: Opener, said: Said) -> None:
    session = opener("sandbox")
    assert said(session, "ls -d /proc/[0-9]* | wc -l").strip() in ("3", "4"), "the keeper, the shell, ls and wc"
    assert said(session, "cat /proc/sys/kernel/hostname") == "sandbox\n"
    assert (
        said(session, "grep -c . /proc/self/status > /dev/null; grep CapEff /proc/self/status").split()[1] == "0" * 16
    )


def test_the_keeper_cannot_be_killed_or_looked_into(opener: Opener, said: Said) -> None:
    session = opener("sandbox")
    said(session, "kill -9 1; kill -TERM 1; kill -9 -1")
    assert said(session, "echo there") == "there\n"
    look = "readlink /proc/1/fd/0 2>/dev/null; head -c 1 /proc/1/mem 2>/dev/null; cat /proc/1/maps 2>/dev/null"
    assert said(session, f"{look}; readlink /proc/self/fd/0") == "/dev/null\n"


def test_fixtures_are_there_read_only_when_asked_for_and_only_then(opener: Opener, said: Said, tmp_path: Path) -> None:
    fixtures = tmp_path / "fixtures"
    fixtures.mkdir()
    (fixtures / "answer").write_text("42\n")
    assert "42" not in said(opener("sandbox"), f"cat /fixtures/answer {fixtures}/answer")
    session = opener("sandbox", Needs(fixtures=fixtures))
    assert said(session, "cat /fixtures/answer; echo x > /fixtures/answer").startswith("42\n")
    assert (fixtures / "answer").read_text() == "42\n"
    assert session.host_to_inside(fixtures / "answer") == "/fixtures/answer"


def test_an_agents_program_is_shown_with_its_folder_and_found_on_path(
    opener: Opener, said: Said, tmp_path: Path
) -> None:
    package = tmp_path / "prefix" / "lib" / "node_modules" / "@maker" / "tool"
    package.mkdir(parents=True)
    (package / "cli.sh").write_text('#!/bin/sh\ncat "$(dirname "$(readlink -f "$0")")/data"\n')
    (package / "cli.sh").chmod(0o755)
    (package / "data").write_text("works\n")
    (tmp_path / "prefix" / "bin").mkdir()
    (tmp_path / "prefix" / "bin" / "tool").symlink_to("../lib/node_modules/@maker/tool/cli.sh")
    (tmp_path / "beside").write_text("not shown")
    session = opener("sandbox", Needs(programs=(tmp_path / "prefix" / "bin" / "tool",)))
    assert said(session, "tool") == "works\n"
    assert "not shown" not in said(session, f"cat {tmp_path}/beside")


def test_a_folder_that_would_show_what_is_hidden_is_refused(opener: Opener, tmp_path: Path) -> None:
    program = tmp_path / "bench" / "agent.sh"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    needs = Needs(programs=(program,), hidden=(tmp_path / "bench" / "fixtures",))
    with pytest.raises(EnvironmentRefused, match="fixtures"):
        opener("sandbox", needs)


def test_an_interpreter_where_the_world_is_shown_is_refused() -> None:
    root = Root((), (Path("/usr"), Path("/workspace/project/.venv")))
    assert "/workspace is the trial's own place" in sandbox._in_the_way(root)


def test_a_program_right_below_a_wide_folder_is_shown_alone() -> None:
    root = read_only_root((Path("/opt/tool"),))
    assert Path("/opt") not in root.visible()


def test_a_program_named_below_a_link_of_the_root_is_no_obstacle(opener: Opener, said: Said) -> None:
    """Where /bin leads to /usr/bin, a folder bound there would be in the way of that link."""
    assert said(opener("sandbox", Needs(programs=(Path("/bin/sh"),))), "echo yes") == "yes\n"


def test_a_sandbox_that_cannot_start_says_why(opener: Opener, place: Place) -> None:
    opener("sandbox").close()
    shutil.rmtree(place.home)
    with pytest.raises(EnvironmentRefused, match=r"did not start.*home"):
        opener("sandbox")


def test_the_version_is_bubblewraps_own() -> None:
    assert sandbox.ENVIRONMENT.version().startswith("bubblewrap 0.")
