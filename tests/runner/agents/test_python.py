from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from runner.agents import python
from runner.definition import Python
from runner.errors import BenchError

from .asking import Desk

Make = Callable[..., Desk]


def _bench(desk: Desk, **modules: str) -> Desk:
    for name, text in modules.items():
        path = desk.bench / (name.replace("__", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return desk


def test_the_function_gets_prompt_workspace_and_axes_and_its_answer_is_the_reply(desk: Make) -> None:
    code = """
def agent(prompt, workspace, axes):
    print("this is no answer")
    (workspace / "out.txt").write_text(prompt)
    return f"{axes['model']} answered"
"""
    one = _bench(desk(Python("mine:agent"), {"model": "small"}), mine=code)
    reading, done = one.request("héllo")
    assert (done.exit_code, reading.text, reading.fault) == (0, "small answered", None)
    assert (one.world / "out.txt").read_text() == "héllo"
    assert "this is no answer" in (one.out / "1.stderr").read_text()


def test_it_may_report_what_it_spent_and_did(desk: Make) -> None:
    code = """
def agent(prompt, workspace, axes):
    step = {"role": "assistant", "kind": "tool_call", "tool": "look", "arguments": {"at": 1}}
    return {"text": "ok", "usage": {"tokens_in": 3, "cost": 0.5}, "steps": [step, {"role": "nonsense"}, 7]}
"""
    reading, _ = _bench(desk(Python("mine:agent")), mine=code).request()
    assert (reading.usage.tokens_in, reading.usage.cost, reading.usage.tokens_out) == (3, 0.5, None)
    assert [step.tool for step in reading.steps[1:]] == ["look"]


def test_scenarios_and_fixtures_are_not_carried_to_the_agent(desk: Make) -> None:
    one = _bench(
        desk(Python("mine:agent")),
        mine="import helpers.more\ndef agent(prompt, workspace, axes):\n    return helpers.more.WORD\n",
        helpers__more="WORD = 'helped'\n",
        tests__bench_x="SECRET = 1\n",
        fixtures__answer="SECRET = 2\n",
    )
    assert one.request()[0].text == "helped"
    carried = sorted(str(path.relative_to(one.out / "agent-code")) for path in (one.out / "agent-code").rglob("*.py"))
    assert carried == ["helpers/more.py", "mine.py"]


def test_an_agent_that_raises_is_the_subjects_and_its_traceback_is_kept(desk: Make) -> None:
    one = _bench(desk(Python("mine:agent")), mine="def agent(prompt, workspace, axes):\n    raise KeyError('lost')\n")
    reading, done = one.request()
    assert (done.exit_code, reading.fault, reading.flags) == (1, None, ("exit_code",))
    assert "KeyError: 'lost'" in (one.out / "1.stderr").read_text()


@pytest.mark.parametrize("target", ["mine:missing", "nowhere:agent"])
def test_a_function_that_is_not_there_never_started(desk: Make, target: str) -> None:
    reading, _ = _bench(desk(Python(target)), mine="x = 1\n").request()
    assert reading.fault is not None
    assert reading.fault[0] == "boot"
    assert "could not be loaded" in reading.fault[1]


def test_an_agent_that_leaves_without_an_answer_broke_the_protocol(desk: Make) -> None:
    code = "import os\ndef agent(prompt, workspace, axes):\n    os._exit(0)\n"
    reading, _ = _bench(desk(Python("mine:agent")), mine=code).request()
    assert reading.fault is not None
    assert reading.fault[0] == "protocol"


def some_agent(prompt: str, workspace: Path, axes: dict[str, str]) -> str:
    return "called"


def test_a_function_given_itself_is_named_by_its_module() -> None:
    assert python.reference(Python(some_agent)) == (__name__, "some_agent")


def test_a_function_of_the_bench_file_belongs_to_bench_whatever_it_was_loaded_as(tmp_path: Path) -> None:
    file = tmp_path / "bench.py"
    file.write_text("def mine(prompt, workspace, axes):\n    return 'x'\n")
    names: dict[str, object] = {"__name__": "_private_1"}
    exec(compile(file.read_text(), str(file), "exec"), names)
    assert python.reference(Python(names["mine"])) == ("bench", "mine")  # type: ignore[arg-type]


@pytest.mark.parametrize("target", [lambda prompt, workspace, axes: None, "no-colon"])
def test_what_another_process_cannot_find_is_refused(target: object) -> None:
    with pytest.raises(BenchError, match="module:function"):
        python.reference(Python(target))  # type: ignore[arg-type]
