"""Containers by podman or docker, on an image of Debian packages."""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from runner.cleaning import Left, left_behind
from runner.credentials import Login, lend, take_back
from runner.doctor import diagnose
from runner.environments import choose, container, engines
from runner.environments.base import KeptSession, Needs
from runner.environments.limits import Resources
from runner.errors import EnvironmentRefused
from runner.running import run
from runner.worlds.places import Place
from tests.image import NAME
from tests.runner.scenario.benches import by_scenario, write_bench

Opener = Callable[..., KeptSession]
Said = Callable[..., str]
MB = 1 << 20
FORGETFUL = """#!/bin/bash
words=()
while [ $# -gt 0 ]; do
  case $1 in
    --memory | --memory-swap | --pids-limit) echo limits are ignored >&2; shift ;;
    --name) echo "$2" >> "$0.names"; words+=("$1") ;;
    *) words+=("$1") ;;
  esac
  shift
done
exec {real} "${{words[@]}}"
"""


@pytest.fixture
def open_container(place: Place, containers: None) -> Iterator[Opener]:
    sessions: list[KeptSession] = []

    def open_one(**needs: object) -> KeptSession:
        sessions.append(container.ENVIRONMENT.open(place, Needs(image=NAME, **needs)))  # type: ignore[arg-type]
        return sessions[-1]

    yield open_one
    for session in sessions:
        session.close()


def test_an_agents_command_is_looked_for_in_the_image_and_its_version_asked_there(
    containers: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`mktemp` is in the image alone, as far as this test's PATH goes; `git` is on this machine alone."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for one in {path.name: path for folder in os.get_exec_path()[::-1] for path in Path(folder).glob("*")}.values():
        (programs / one.name).symlink_to(one)
    (programs / "mktemp").unlink()
    monkeypatch.setenv("PATH", str(programs))
    agents = 'Command("mktemp {prompt_file}", version="mktemp --version")'
    folder = write_bench(
        tmp_path / "bench",
        {"ask": "    def bench_ask(workspace, agent):\n        agent.request('x')\n        observe('count', 1)\n"},
        declare=f'environment="container", image="{NAME}", suite=""',
        agents=f'{{"ours": {agents}}}',
    )
    result = run(folder, workers=1)
    (cell,) = result.manifest.cells
    assert cell.pin["version"][0].isdigit(), "Debian's coreutils of the image"
    assert result.counts == {"scored": 1}, [trial.reason for trial in result.trials]
    edited = (folder / "bench.py").read_text().replace(agents, 'Command("git status")')
    (folder / "bench.py").write_text(edited)
    assert [problem[:58] for problem in diagnose(folder).problems] == [
        "ours: The program 'git' of the command 'git status' is not"
    ]


def test_a_login_lent_to_a_container_is_its_own_and_what_it_renews_comes_back(
    open_container: Opener, said: Said, place: Place, tmp_path: Path
) -> None:
    mine = tmp_path / "auth.json"
    mine.write_text('{"token": "old-token"}')
    session = open_container()
    lend(Login("~/.tool/auth.json", mine, ".tool/auth.json"), place.root, Path(session.home))
    line = 'stat -c %a ~/.tool/auth.json; cat ~/.tool/auth.json; echo \'{"token": "new-token"}\' > ~/.tool/auth.json'
    assert said(session, line) == '600\n{"token": "old-token"}'
    found = take_back(place.root, Path(session.home))
    assert found is not None
    assert (found.flaw, mine.read_text()) == ("", '{"token": "new-token"}\n')


def test_a_container_is_the_image_with_the_trials_folders_and_without_this_machine(
    open_container: Opener, said: Said, place: Place, tmp_path: Path
) -> None:
    fixtures = tmp_path / "fixtures"
    fixtures.mkdir()
    (fixtures / "answer").write_text("42\n")
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        port = server.getsockname()[1]
        session = open_container(fixtures=fixtures)
        assert "refused" in said(session, f"bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}' 2>&1"), "another loopback"
    assert said(session, "pwd; echo hi > made; echo $HOME $TMPDIR").split() == ["/workspace", "/agent", "/tmp"]
    assert ((place.world / "made").read_text(), (place.world / "made").stat().st_uid) == ("hi\n", os.getuid())
    assert said(session, "cat /fixtures/answer; echo 1 > /fixtures/answer").startswith("42\n")
    assert (fixtures / "answer").read_text() == "42\n"
    for hidden in (tmp_path, place.root, Path(__file__)):
        assert "No such file" in said(session, f"cat {hidden}")
    said(session, "kill -9 1; kill -TERM 1; kill -9 -1")
    assert said(session, "ls -d /proc/[0-9]* | wc -l").strip() in ("3", "4")
    assert f"CapEff:\t{'0' * 16}" in said(session, "cat /proc/self/status")
    assert said(session, f"ls {container.DOOR}") == "", "the door was shut behind process 1"
    streams = {"stdout": place.out / "o", "stderr": place.out / "o"}
    session.exec([sys.executable, "-c", "import sys; print(sys.executable)"], env={}, **streams)
    assert (place.out / "o").read_text() == "/usr/bin/python3\n"
    said(session, "(setsid sleep 1000 > /dev/null 2>&1 &)")
    assert session.exec(["sh", "-c", "setsid sleep 999 & sleep 999"], env={}, timeout=0.2, **streams).timed_out
    running = said(session, "cat /proc/[0-9]*/cmdline")
    assert ("1000" in running, "999" in running) == (True, False), "what was left lives on, what timed out does not"
    session.close()
    session.close()
    assert engines.ask("ps", "-a", "--format", "{{.Names}}")[1] == ""


def test_limits_and_a_network_of_none_hold_in_a_container(open_container: Opener, said: Said, place: Place) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        port = server.getsockname()[1]
        threading.Thread(target=lambda: server.accept()[0].close(), daemon=True).start()
        limits = Resources(memory=64 * MB, processes=30, disk=8 * MB)
        session = open_container(network="none", endpoint=f"http://localhost:{port}", limits=limits)
        assert said(session, f"bash -c 'exec 3<>/dev/tcp/localhost/{port} && echo in'") == "in\n"
        assert "in" not in said(session, f"bash -c 'exec 3<>/dev/tcp/localhost/{port + 1} && echo in' 2> /dev/null")
    assert "tap" not in said(session, "cat /proc/net/dev")
    assert "Read-only" in said(session, "touch /usr/x /etc/x")
    assert "not supported" in said(session, "fallocate -l 1000000 big"), "nobody reserves what he does not write"

    def over(line: str) -> tuple[str, ...]:
        out = place.out / "o"
        return session.exec(["bash", "-c", line], env={}, stdout=out, stderr=out, timeout=60).over

    over("head -c 9000000 /dev/zero > big")  # the largest file's limit ends it, or the watch that saw so much first
    assert (place.world / "big").stat().st_size <= 8 * MB
    (place.world / "big").unlink()
    assert over("head -c 200M /dev/zero | tail") == ("memory",)
    assert "disk" in over("i=0; while :; do head -c 1000000 /dev/zero > f$i; i=$((i+1)); sleep 0.01; done")
    assert said(session, "rm f*; echo there") == "there\n"
    # last of all: what is left of a bomb may hold the room for any other process for a while
    assert over("b() { b | b & }; b; sleep 0.2") == ("processes",)


def test_a_limit_that_an_engine_leaves_out_without_failing_is_refused(
    containers: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As podman does for a user who is not root where control groups have version 1."""
    real = Path(engines.engine())
    forgetful = tmp_path / real.name
    forgetful.write_text(FORGETFUL.format(real=real))
    forgetful.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    refusal = container.ENVIRONMENT.refusal(Needs(image=NAME, limits=Resources(memory=77 * MB, processes=33)))
    assert refusal == "The container cannot limit memory and processes here: limits are ignored."
    (name,) = set(Path(f"{forgetful}.names").read_text().split())
    assert name.startswith(f"benchsite-{os.getpid()}-"), "what only asks is cleaned too, should its runner be killed"


def test_a_container_dies_with_its_runner_and_one_left_behind_is_cleaned(
    containers: None, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    pid = os.fork()
    if pid == 0:
        container.ENVIRONMENT.open(place, Needs(image=NAME, network="none"))
        os._exit(0)  # without closing: as after a crash
    assert os.waitpid(pid, 0)[1] == 0
    for _ in range(1_200):
        if engines.ask("ps", "-a", "--format", "{{.Names}}")[1] == "":
            break
        time.sleep(0.05)
    else:
        pytest.fail("the container outlived its runner")
    image = engines.image(NAME)
    labels = ("--label", f"{engines.LABEL}=1-1")
    alone = ("--network", "none", "--entrypoint", "sleep")
    assert engines.ask("create", "--name", "benchsite-4194304-1-left", *labels, *image.options, *alone, NAME, "1000")[0]
    left = Left("container", "benchsite-4194304-1-left")
    assert [found for found in left_behind() if found.kind == "container"] == [left]
    left.remove()
    assert engines.ask("ps", "-a", "--format", "{{.Names}}")[1] == ""


def test_what_keeps_containers_from_working_is_one_sentence(containers: None, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(EnvironmentRefused, match="needs an image: declare image="):
        engines.image("")
    pull = f"{Path(engines.engine()).name} pull localhost/none:1"
    with pytest.raises(EnvironmentRefused, match=f"not on this machine: get it with `{pull}`"):
        engines.image("localhost/none:1")
    assert pull in container.ENVIRONMENT.refusal(Needs(image="localhost/none:1"))
    assert "10.1.2.3" in container.ENVIRONMENT.refusal(Needs(image=NAME, network="none", endpoint="http://10.1.2.3"))
    assert choose("auto", image=NAME).name == "container"
    monkeypatch.setenv("BENCHSITE_CONTAINERS", "no-such-engine")
    assert "'no-such-engine', which BENCHSITE_CONTAINERS names, was not found" in container.unusable()
    with pytest.raises(EnvironmentRefused, match="install the package 'podman'"):
        choose("auto", image=NAME)


def test_a_daemon_that_does_not_answer_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "docker"
    program.write_text("#!/bin/sh\necho 'Cannot connect to the Docker daemon.' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("BENCHSITE_CONTAINERS", "docker")
    assert container.unusable() == "docker does not answer: Cannot connect to the Docker daemon."


def test_a_fresh_container_has_what_was_declared_and_nothing_else_of_the_agents(
    containers: None, tmp_path: Path
) -> None:
    scenario = """
        @pytest.mark.evaluation("fresh", artifacts=["/workspace/out", "/tmp/note"], collect=["echo n > /tmp/note"])
        def bench_one(workspace, agent, evaluation):
            agent.request("go")
            with evaluation() as env:
                look = "ls -A . ~ /fixtures; for f in /tmp/*; do test -f $f && echo $f; done; cat /tmp/note out/run"
                observe("note", env.exec(["sh", "-c", look]).stdout)
                observe("resolved", env.exec(["./out/run"]).exit_code == 3)
    """
    agent = """{"worker": Scripted([
        write("out/run", "#!/bin/sh\\nexit 3", mode=0o755), steps.run("sh", "-c", "touch trap ~/trap /tmp/trap"),
    ])}"""
    declare = f'environment="container", image="{NAME}", suite=""'
    folder = write_bench(tmp_path / "bench", {"one": scenario}, agents=agent, declare=declare)
    (folder / "fixtures").mkdir()
    (folder / "fixtures" / "answer").write_text("42\n")
    (attempt,) = by_scenario(run(folder, workers=1)).values()
    assert attempt.state == "scored", attempt.reason
    assert attempt.observations["note"].value == (
        ".:\nout\nreadme.txt\n\n/agent:\n\n/fixtures:\nanswer\n/tmp/note\nn\n#!/bin/sh\nexit 3"
    )
    assert attempt.observations["resolved"].value is True
    assert engines.ask("ps", "-a", "--format", "{{.Names}}")[1] == "", "both were closed"
