from __future__ import annotations

import os
import signal
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from runner import steps
from runner.agents import scripted
from runner.agents.player import as_json
from runner.definition import Network, Scripted
from runner.environments import choose
from runner.environments.base import Needs
from runner.worlds.places import Place

from .asking import Desk, Done

Make = Callable[..., Desk]


def test_steps_change_the_world_as_written(desk: Make) -> None:
    play = [
        steps.write("deep/new.sh", "#!/bin/sh\n", mode=0o755),
        steps.write("gone.txt", "x"),
        steps.patch("deep/new.sh", "sh\n", "sh\necho hi\n"),
        steps.run("sh", "deep/new.sh"),
        steps.delete("gone.txt"),
        steps.say("Done."),
    ]
    one = desk(Scripted(play))
    reading, done = one.request()
    assert (done.exit_code, reading.text, reading.fault, reading.flags) == (0, "Done.", None, ())
    script = one.world / "deep" / "new.sh"
    assert script.read_text() == "#!/bin/sh\necho hi\n"
    assert stat.S_IMODE(script.stat().st_mode) == 0o755
    assert not (one.world / "gone.txt").exists()


def test_the_transcript_tells_each_act_and_what_a_program_said(desk: Make) -> None:
    reading, _ = desk(Scripted([steps.run("sh", "-c", "echo out; echo err >&2; exit 3")])).request("Do it.")
    told = [(step.role, step.kind, step.text, step.exit_code) for step in reading.steps]
    assert told == [
        ("user", "message", "Do it.", None),
        ("assistant", "tool_call", "", None),
        ("tool", "observation", "out\nerr\n", 3),
    ]
    assert reading.steps[1].call == reading.steps[2].call


def test_a_program_that_is_not_there_is_an_observation_not_an_end(desk: Make) -> None:
    reading, done = desk(Scripted([steps.run("no-such-program", "x"), steps.say("Went on.")])).request()
    assert (done.exit_code, reading.text) == (0, "Went on.")
    assert reading.steps[2].exit_code == 127


def test_a_patch_that_does_not_fit_ends_the_agent_and_is_flagged(desk: Make) -> None:
    one = desk(Scripted([steps.patch("a.py", "absent", "x"), steps.say("never said")]))
    (one.world / "a.py").write_text("present\n")
    reading, done = one.request()
    assert (done.exit_code, reading.text, reading.flags, reading.fault) == (1, "", ("exit_code",), None)
    assert "does not hold the text" in reading.steps[-1].text
    assert (one.world / "a.py").read_text() == "present\n"


def test_a_crash_leaves_what_came_before_it(desk: Make) -> None:
    one = desk(Scripted([steps.write("half.txt", "half"), steps.crash(9), steps.write("never.txt", "")]))
    reading, done = one.request()
    assert (done.exit_code, reading.flags) == (9, ("exit_code",))
    assert sorted(path.name for path in one.world.iterdir()) == ["half.txt"]


def test_spending_is_summed_and_what_is_not_reported_stays_unknown(desk: Make) -> None:
    play = [steps.usage(tokens_in=5, cost=0.25), steps.usage(tokens_in=7), steps.write("a", "b")]
    usage = desk(Scripted(play)).request()[0].usage
    assert (usage.tokens_in, usage.cost, usage.tokens_out, usage.tool_calls) == (12, 0.25, None, 1)


def test_a_loop_leaves_processes_in_another_session_and_without_their_parent(desk: Make) -> None:
    one = desk(Scripted([steps.loop()]))
    reading, done = one.request(timeout=4)
    pids: list[int] = []
    try:
        assert done.timed_out
        assert reading.flags == ("request_timeout",)
        pids = _pids(one.out / "1.stdout")
        assert len(pids) == 3
        alive = [pid for pid in pids if Path(f"/proc/{pid}/stat").exists() and "Z" not in _state(pid)]
        assert len(alive) == 2, "a plain kill of the process group must not reach the other session"
        for pid in alive:
            os.kill(pid, signal.SIGTERM)
            assert "Z" not in _state(pid), "a polite signal must not end it"
    finally:
        for pid in pids[1:]:
            os.kill(pid, signal.SIGKILL)


def _pids(stdout: Path) -> list[int]:
    import json

    return [int(pid) for pid in json.loads(stdout.read_text().splitlines()[-1])["pids"]]


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:  # gone between looking and reading: as good as dead
        return "Z"


def test_the_same_seed_chooses_the_same_steps_and_chances_hold() -> None:
    spec = Scripted([steps.say("rest")], seeded=[(0.25, [steps.say("a")]), (0.25, [steps.say("b")])])
    said = [str(scripted.choose(spec, seed)[0]["text"]) for seed in range(2000)]
    assert said == [scripted.choose(spec, seed)[0]["text"] for seed in range(2000)]
    assert 400 < said.count("a") < 600
    assert 400 < said.count("b") < 600
    assert said.count("rest") == 2000 - said.count("a") - said.count("b")


def test_the_prompt_chooses_among_when(desk: Make) -> None:
    one = desk(Scripted([steps.say("no idea")], when=[("parser", [steps.say("parsed")])]))
    assert one.request("Fix the parser")[0].text == "parsed"
    assert one.request("Fix the lexer")[0].text == "no idea"


def test_another_script_is_another_pin(desk: Make) -> None:
    pins = [
        scripted.pin(spec, {}, scripted.probe(spec, {}))["script"]
        for spec in (Scripted([steps.say("a")]), Scripted([steps.say("b")]), Scripted([steps.say("a")]))
    ]
    assert pins[0] == pins[2] != pins[1]


@pytest.mark.parametrize("value", [None, True, 3, 0.5, 'a"b\\\n\x00\u2028\udc80', ["x", {"y": [None, False]}], {}])
def test_the_players_own_json_is_json(value: object) -> None:
    import json

    assert json.loads(as_json(value)) == value


def test_names_and_texts_of_any_kind_reach_the_world(desk: Make) -> None:
    one = desk(Scripted([steps.write("ä ö/naïve '\".txt", "snow ☃\n"), steps.say("☃")]))
    assert one.request()[0].text == "☃"
    assert (one.world / "ä ö" / "naïve '\".txt").read_text(encoding="utf-8") == "snow ☃\n"


def test_a_player_that_cannot_start_is_a_boot_fault(desk: Make) -> None:
    one = desk(Scripted([]))
    (one.root / "none.err").write_text("python: can't open file 'player.py'\n")
    (one.root / "none.out").write_text("")
    reading = one.read(one.root / "none.out", Done(2), one.root / "none.err")
    assert reading.fault is not None
    assert reading.fault[0] == "boot"
    assert "can't open file" in reading.fault[1]


def test_a_timed_out_loop_is_ended_whole_by_the_environment(desk: Make, tmp_path: Path) -> None:
    one = desk(Scripted([steps.loop()]))
    place = Place(str(tmp_path / "place"))
    place.tmp.mkdir()
    session = choose("local", "none", Network()).open(place, Needs())
    try:
        call = one.module.invoke(one.ask("Go."))
        stdout = one.out / "loop.out"
        done = session.exec(call.argv, env=call.env, stdout=stdout, stderr=one.out / "loop.err", timeout=4)
        assert done.timed_out
        pids = _pids(stdout)
        assert len(pids) == 3
        assert [pid for pid in pids if Path(f"/proc/{pid}").exists() and _state(pid) != "Z"] == []
    finally:
        session.close()
