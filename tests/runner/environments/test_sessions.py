"""What every environment promises a trial."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from runner.environments.base import KeptSession, Needs
from runner.processes import Keeper
from runner.worlds.places import Place

Opener = Callable[..., KeptSession]
Said = Callable[..., str]
EACH = pytest.mark.parametrize("name", ["local", pytest.param("sandbox", marks=pytest.mark.sandbox)])


@EACH
def test_the_world_is_where_commands_run_and_their_writes_are_there(
    name: str, opener: Opener, said: Said, place: Place
) -> None:
    session = opener(name)
    assert said(session, "pwd; echo hi > made").strip() == session.agent_path
    assert (place.world / "made").read_text() == "hi\n"


@EACH
def test_home_tmp_and_xdg_are_the_trials_own_and_last_over_its_commands(
    name: str, opener: Opener, said: Said, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_TOKEN", "s3cret")
    session = opener(name)
    said(session, 'mkdir -p "$XDG_CONFIG_HOME"; echo 1 > "$XDG_CONFIG_HOME/tool"; echo 2 > "$TMPDIR/t"; echo 3 > ~/h')
    assert said(session, 'cat "$HOME/.config/tool" "$TMPDIR/t" ~/h') == "1\n2\n3\n"
    assert (place.home / "h").exists()
    assert (place.tmp / "t").exists()
    environment = said(session, "env")
    assert "s3cret" not in environment
    assert "LANG=C.UTF-8" in environment


@EACH
def test_a_service_lives_over_commands_and_ends_with_the_session(
    name: str, opener: Opener, said: Said, place: Place
) -> None:
    session = opener(name)
    said(session, "(setsid sh -c 'while :; do date +%s%N > .b; mv .b beat; sleep 0.05; done' > /dev/null 2>&1 &)")
    beats = "until [ -e beat ]; do sleep 0.05; done; a=$(cat beat); while [ $a = $(cat beat) ]; do sleep 0.05; done"
    assert said(session, f"{beats}; echo alive") == "alive\n"
    session.close()
    last = (place.world / "beat").read_text()
    assert said(opener(name), "sleep 0.3; cat beat") == last


@EACH
def test_a_timed_out_command_ends_with_all_it_started(name: str, opener: Opener, said: Said, place: Place) -> None:
    session = opener(name)
    line = "setsid sh -c 'trap \"\" TERM; while :; do date +%s%N > .b; mv .b beat; sleep 0.05; done' & sleep 100"
    streams = {"stdout": place.out / "o", "stderr": place.out / "o"}
    for patience in (2, 60):  # on a busy machine the command itself takes long to start
        done = session.exec(["sh", "-c", line], env={}, timeout=patience, **streams)
        assert (done.timed_out, done.exit_code) == (True, None)
        if (place.world / "beat").exists():
            break
    last = (place.world / "beat").read_text()
    assert said(session, "sleep 0.3; cat beat") == last


@EACH
def test_paths_of_the_host_are_translated_and_mean_the_same_file(
    name: str, opener: Opener, said: Said, place: Place
) -> None:
    session = opener(name)
    for folder in (place.world, place.home, place.tmp, place.out):
        (folder / "probe").write_text(folder.name)
        assert said(session, f"cat {session.host_to_inside(folder / 'probe')}") == folder.name


@EACH
def test_stdin_variables_and_folder_are_the_commands_own(name: str, opener: Opener, place: Place) -> None:
    session = opener(name)
    (place.world / "sub").mkdir()
    (place.out / "prompt").write_text("- fix it\n")
    done = session.exec(
        ["sh", "-c", "cat; echo $WHO; pwd"], env={"WHO": "me"}, stdin=place.out / "prompt",
        stdout=place.out / "o", stderr=place.out / "e", cwd=f"{session.agent_path}/sub",
    )  # fmt: skip
    assert done.ok
    assert (place.out / "o").read_text() == f"- fix it\nme\n{session.agent_path}/sub\n"


@EACH
def test_the_runners_interpreter_works_inside_with_its_packages(name: str, opener: Opener, place: Place) -> None:
    session = opener(name)
    code = "import pytest, runner, sys; print(sys.executable)"
    done = session.exec([sys.executable, "-c", code], env={}, stdout=place.out / "o", stderr=place.out / "e")
    assert done.ok, (place.out / "e").read_text()
    assert (place.out / "o").read_text().strip() == sys.executable


@EACH
def test_a_session_opened_in_a_forked_child_works_and_dies_with_it(name: str, opener: Opener, place: Place) -> None:
    opener(name).close()  # skips where it cannot work
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            session = opener(name)
            beating = "while :; do date +%s%N > .b; mv .b beat; sleep 0.05; done"
            line = f"(setsid sh -c '{beating}' > /dev/null 2>&1 &); while ! [ -e beat ]; do sleep 0.05; done"
            done = session.exec(["sh", "-c", line], env={}, stdout=place.out / "o", stderr=place.out / "o")
            code = 0 if done.ok and (place.world / "beat").exists() else 2
        finally:
            os._exit(code)  # without closing: as after a crash
    assert os.waitpid(pid, 0)[1] == 0
    assert _stops(place.world / "beat"), "the service outlived the process that opened its session"


def _stops(beat: Path) -> bool:
    for _ in range(100):
        before = beat.read_text()
        time.sleep(0.2)
        if beat.read_text() == before:
            return True
    return False


@EACH
def test_closing_twice_and_an_empty_command_do_no_harm(name: str, opener: Opener, place: Place) -> None:
    session = opener(name, Needs())
    session.close()
    session.close()


def test_each_step_of_closing_is_taken_whatever_another_raises(place: Place) -> None:
    taken: list[str] = []

    def fails() -> None:
        taken.append("fails")
        raise OSError("the disk is gone")

    closing = [lambda: taken.append("first opened, last closed"), fails]
    session = KeptSession(Keeper.here(), str(place.world), {}, (), [], home=place.home, closing=closing)
    with pytest.raises(OSError, match="the disk is gone"):
        session.close()
    assert taken == ["fails", "first opened, last closed"]
