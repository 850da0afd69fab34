"""A judge grades over a real connection, is recorded apart, and its failures are never a low score."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from runner.cli import main
from runner.doctor import diagnose
from runner.errors import BenchError
from runner.journal import read_events
from runner.mock_model.server import MockModel
from runner.prepare import prepare
from runner.replay import Attempt, RunResult
from runner.running import resume, run
from runner.statistics.summary import summary
from runner.stored import verify
from tests.runner.scenario.benches import by_cell, by_scenario, write_bench
from tests.runner.test_guides import FENCE, write_files

NO_FAULT_FIRST = 9
"""Three trials that end first, all in one fault, stop a cell; with this seed two that end otherwise come before any."""
KEY = "canary-key-of-the-judge-4711"
GRADE = '{"share": 0.75, "why": "nearly"}'
TALKS: list[dict[str, Any]] = [
    {"when": "FENCED", "replies": [{"say": f"I think:\n```json\n{GRADE}\n```"}]},
    {"when": "BUSY", "replies": [{"say": "yes", "fault": 429, "times": 1}]},
    {"when": "DOWN", "replies": [{"fault": 500}]},
    {"when": "BROKEN", "replies": [{"fault": "drop"}]},
    {"when": "WORDS", "replies": [{"say": "It is fine."}]},
    {"when": "NOBODY", "replies": [{"fault": 404}]},
    {"when": "SILENT", "replies": [{"say": "I will not say.", "stop": "length"}]},
    {"when": "ECHO", "replies": [{"say": f"your key is {KEY}"}]},
]
SCENARIOS = """
    def bench_fenced(workspace, agent):
        agent.request("go")
        before = len(workspace.changed())
        said = bench.judge("FENCED: grade " + workspace.read("done.txt"))
        observe("share", said.json()["share"])
        observe("resolved", bench.judge("BUSY: done?").text == "yes")
        observe("note", said.model)

    def bench_down(workspace, agent):
        agent.request("go")
        try:
            observe("note", bench.judge("DOWN").text)
        except Exception:
            observe("resolved", False)

    def bench_broken(workspace, agent):
        agent.request("go")
        bench.judge("BROKEN")

    def bench_words(workspace, agent):
        agent.request("go")
        observe("share", bench.judge("WORDS").json()["share"])

    def bench_nobody(workspace, agent, evaluation):
        agent.request("go")
        with evaluation() as env:
            bench.judge("NOBODY")

    def bench_echo(workspace, agent):
        agent.request("go")
        observe("note", bench.judge("ECHO").text)
        bench.judge("SILENT")
"""


@dataclass(frozen=True)
class Graded:
    folder: Path
    result: RunResult
    ended: dict[str, Attempt]
    asked: list[dict[str, Any]]


@pytest.fixture(scope="module", params=["openai", "anthropic"])
def graded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graded]:
    with pytest.MonkeyPatch.context() as patch, MockModel({"talks": TALKS, "key": KEY}) as model:
        patch.setenv("GRADER_KEY", KEY)
        patch.setenv("BENCHSITE_JUDGE_URL", model.url)
        folder = write_bench(
            tmp_path_factory.mktemp("judges") / "bench",
            {"s": SCENARIOS},
            declare=f'judge=Judge("grader-2", {{"temperature": 0, "max_tokens": 50}}, protocol="{request.param}", '
            'system="You grade.", version="rubric-3", key="GRADER_KEY", prices=(10, 100), retries=1)',
        )
        result = run(folder, workers=2, seed=NO_FAULT_FIRST)
        ended = {name.removeprefix("s::"): attempt for name, attempt in by_scenario(result).items()}
        yield Graded(folder, result, ended, [row["body"] for row in model.requests])


def test_answers_become_observations_and_passing_trouble_is_tried_again(graded: Graded) -> None:
    fenced = graded.ended["fenced"]
    assert (fenced.state, fenced.outcome) == ("scored", "solved")
    assert {key: seen.value for key, seen in fenced.observations.items()} == {
        "share": 0.75, "resolved": True, "note": "grader-2",
    }  # fmt: skip


def test_the_judge_is_asked_with_its_declared_words_and_nothing_else(graded: Graded) -> None:
    (body,) = [body for body in graded.asked if "FENCED" in json.dumps(body)]
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("grader-2", 0, 50)
    assert "You grade." in json.dumps(body)
    assert "FENCED: grade done\\n" in json.dumps(body)


def test_what_the_judge_spends_stands_apart_from_the_subject(graded: Graded) -> None:
    fenced = graded.ended["fenced"]
    assert fenced.usage.tokens_in is None
    assert fenced.usage.cost is None
    spent = fenced.judge_usage
    assert (spent.tokens_in, spent.tokens_out, spent.model_calls, spent.estimated) == (200, 20, 2, True)
    assert spent.cost == pytest.approx((200 * 10 + 20 * 100) / 1_000_000)
    assert [(one.number, one.model) for one in fenced.judged] == [(1, "grader-2"), (2, "grader-2")]


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("down", "judge", "The provider of the judge 'grader-2' answered with an error (500): "),
        ("broken", "judge", "The judge 'grader-2' was not reached: "),
        ("words", "judge", "The judge's answer is not the JSON that the scenario asked it for: "),
        ("nobody", "judge_refused", "The provider of the judge 'grader-2' does not know the model (404): "),
    ],
)
def test_a_judge_that_fails_is_an_evaluation_error_whatever_catches_it(
    graded: Graded, name: str, code: str, said: str
) -> None:
    attempt = graded.ended[name]
    assert (attempt.state, attempt.fault) == ("eval_error", code)
    assert attempt.reason.startswith(said)
    assert attempt.outcome is None
    assert "resolved" not in attempt.observations


def test_a_key_stands_nowhere_and_what_a_judge_said_is_kept(graded: Graded) -> None:
    written = [path for path in (graded.folder / ".bench").rglob("*") if path.is_file()]
    assert not [path for path in written if KEY.encode() in path.read_bytes()]
    echo = graded.ended["echo"]
    assert echo.observations["note"].value == "your key is [redacted GRADER_KEY]"
    assert [issue.code for issue in echo.issues] == ["judge_cut"]
    blobs = graded.folder / ".bench" / "blobs"
    (digest,) = {one.text for one in echo.judged if one.number == 1}
    assert digest is not None
    assert (blobs / digest[:2] / digest).read_bytes() == b"your key is [redacted GRADER_KEY]"
    assert set(filter(None, (one.prompt for one in echo.judged))) <= set(echo.blobs())


def test_the_run_says_who_judged_how_and_for_how_much(graded: Graded, capsys: pytest.CaptureFixture[str]) -> None:
    judge = summary(graded.result)["judge"]
    assert (judge["model"], judge["version"], judge["host"]) == ("grader-2", "rubric-3", "127.0.0.1")
    assert judge["parameters"] == {"temperature": 0, "max_tokens": 50}
    assert judge["answered"] == {"grader-2": judge["calls"]}
    assert "canary" not in json.dumps(graded.result.manifest.to_json())
    run_id = graded.result.manifest.run
    assert main(["result", run_id, "--bench", str(graded.folder)]) == 0
    assert f"judge grader-2 rubric-3: {judge['calls']} answers, " in capsys.readouterr().out
    run_dir = graded.folder / ".bench" / "runs" / run_id
    assert not verify(run_dir).problems
    kinds = [event["type"] for event in read_events(run_dir)]
    assert kinds.count("judge") == judge["calls"]


def test_an_unknown_key_stops_a_cell_after_three_trials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = 'def bench_s(workspace, agent):\n    agent.request("go")\n    bench.judge("FENCED")\n'
    with MockModel({"talks": TALKS, "key": KEY}) as model:
        monkeypatch.setenv("OPENAI_API_KEY", "another")
        declare = f'judge=Judge("grader-2", base_url="{model.url}/v1"), trials=5'
        folder = write_bench(tmp_path / "bench", {"s": scenario}, declare=declare)
        result = run(folder, workers=1)
    assert result.counts == {"eval_error": 3, "not_run": 2}
    assert "refused the key (401)" in result.trials[0].reason
    assert "(judge_refused)" in result.stopped[0]


def test_when_the_judge_is_back_the_evaluation_alone_is_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = """
        def bench_s(workspace, agent, evaluation):
            agent.request("go")
            with evaluation():
                observe("resolved", bench.judge("BACK: " + workspace.diff()).text == "yes")
    """
    with MockModel({"replies": [{"say": "yes", "fault": 503, "times": 1}]}) as model:
        monkeypatch.setenv("BENCHSITE_JUDGE_URL", model.url)
        declare = 'judge=Judge("grader-2", retries=0), evaluation="none"'
        folder = write_bench(tmp_path / "bench", {"s": scenario}, declare=declare)
        first = run(folder)
        run_dir = folder / ".bench" / "runs" / first.manifest.run
        refuse_another_judge(run_dir, monkeypatch)
        monkeypatch.setenv("BENCHSITE_JUDGE_URL", model.url)
        second = resume(run_dir)
    assert [(trial.state, trial.final and trial.final.fault) for trial in first.trials] == [("eval_error", "judge")]
    before, after = second.trials[0].attempts
    assert (after.state, after.outcome) == ("scored", "solved")
    assert [request.replayed for request in (*before.requests, *after.requests)] == [False, True]


def refuse_another_judge(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever of it is another, where it is asked included: what it would say is not what the others were told."""
    file = run_dir.parents[2] / "bench.py"
    written = file.read_text()
    for was, now, part in (
        ("retries=0", "retries=1", "retries"),
        ("retries=0", "retries=0, base_url='https://models.example.org'", "endpoint, host"),
        ("retries=0", "retries=0, prices=(1, 2)", "prices"),
        ("grader-2", "grader-3", "model"),
    ):
        file.write_text(written.replace(was, now))
        with pytest.raises(BenchError, match=rf"its bench has changed since \(judge: {part}\)"):
            resume(run_dir)
    file.write_text(written)
    monkeypatch.setenv("BENCHSITE_JUDGE_URL", "http://127.0.0.1:9/another")
    with pytest.raises(BenchError, match=r"its bench has changed since \(judge: endpoint\)"):
        resume(run_dir)


def test_a_judge_without_a_key_is_refused_before_anything_is_spent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GRADER_KEY", raising=False)
    monkeypatch.delenv("BENCHSITE_JUDGE_URL", raising=False)
    scenario = 'def bench_s(workspace, agent):\n    agent.request("go")\n'
    folder = write_bench(tmp_path / "bench", {"s": scenario}, declare='judge=Judge("grader-2", key="GRADER_KEY")')
    with pytest.raises(BenchError, match="judge 'grader-2' has no key: set the variable GRADER_KEY"):
        prepare(folder)
    bare = write_bench(tmp_path / "bare", {"s": f'{scenario}    bench.judge("?")\n'})
    with pytest.raises(BenchError, match=r"tests/bench_s.py:5: bench.judge is called, but the bench declares no judge"):
        prepare(bare)
    found = diagnose(folder)
    assert found.judge.name == "grader-2"
    assert "The judge 'grader-2' has no key: set the variable GRADER_KEY." in found.problems


class Aliased(BaseHTTPRequestHandler):
    """A provider whose `grader-2` stands for the model that is under test."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        data = json.dumps({"model": "m-2-20260101", "choices": [{"message": {"content": "yes"}}]}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def test_a_model_that_judges_itself_though_no_declaration_shows_it_ends_its_trials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A variable of the machine chooses an agent's model, and the judge's name stands for a model under test."""
    (tmp_path / "goose").write_text("#!/bin/sh\necho goose 1.50\n")
    (tmp_path / "goose").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("GOOSE_MODEL", "vendor/grader-2")
    scenario = 'def bench_s(workspace, agent):\n    agent.request("go")\n    bench.judge("done?")\n'
    with ThreadingHTTPServer(("127.0.0.1", 0), Aliased) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        declare = (
            'matrix={"agent": ["goose", "worker"], "size": ["m-2"]}, judge=Judge("grader-2", base_url="http://%s:%s")'
        )
        folder = write_bench(tmp_path / "bench", {"s": scenario}, declare=declare % server.server_address)
        result = run(folder, workers=1)
        server.shutdown()
    ended = {agent: (one.state, one.fault, one.reason) for agent, one in by_cell(result).items()}
    assert ended == {
        "goose": (
            "run_error", "scenario",
            "The agent 'goose' cannot be asked: it is started with the judge's model 'grader-2', and no model judges "
            "itself.",
        ),
        "worker": (
            "eval_error", "judge_refused",
            "The judge 'grader-2' answered as 'm-2-20260101', which is under test (size=m-2), and a model is no judge "
            "of itself.",
        ),
    }  # fmt: skip


def test_what_an_agent_tells_of_its_model_is_compared_with_the_judge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No declaration names the model of a Python agent; its own output may, and where it does not, that is said."""
    helpers = """
        def grader(prompt, workspace, axes):
            return {"text": "ok", "models": ["small", "vendor/grader-2-20260101"]}
        def other(prompt, workspace, axes):
            return {"text": "ok", "models": ["m-2"]}
        def silent(prompt, workspace, axes):
            return "ok"
        """
    named = ", ".join(f"{name!r}: Python('helpers:{name}')" for name in ("grader", "other", "silent"))
    agents = f"{{{named}, 'worker': Scripted([say('ok')])}}"
    scenario = (
        'def bench_s(workspace, agent):\n    agent.request("go")\n    observe("note", bench.judge("done?").text)\n'
    )
    with MockModel({"replies": [{"say": "yes", "times": 9}]}) as model:
        monkeypatch.setenv("BENCHSITE_JUDGE_URL", model.url)
        declare = 'judge=Judge("grader-2"), matrix={"agent": ["grader", "other", "silent", "worker"]}'
        folder = write_bench(tmp_path, {"s": scenario}, declare=declare, agents=agents, helpers=helpers)
        ended = by_cell(run(folder, workers=2))
        asked = len(model.requests)
    told = {name: (one.state, one.fault, one.flags) for name, one in ended.items()}
    assert told == {
        "grader": ("eval_error", "judge_refused", ()),
        "other": ("scored", None, ()),
        "silent": ("scored", None, ("model_unknown",)),
        "worker": ("scored", None, ()),
    }
    assert ended["grader"].reason == (
        "The agent 'grader' has worked with the judge's model 'grader-2', as its own output tells, and no model judges "
        "itself."
    )
    assert asked == 3, "nothing is spent on judging it"
    assert ended["other"].requests[0].models == ("m-2",)


def test_the_guide_runs_as_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    guide = Path(__file__).parents[2] / "docs" / "judges.md"
    folder = write_files(guide, tmp_path)
    (script,) = (json.loads(text) for language, text in FENCE.findall(guide.read_text("utf-8")) if language == "json")
    rubric = (folder / "fixtures" / "rubric.md").read_text()
    script["talks"][0]["when"] = f"{rubric}\n\nThe explanation:\nThe header"
    with MockModel(script) as model:
        monkeypatch.setenv("BENCHSITE_JUDGE_URL", model.url)
        result = run(folder, workers=2)
    finals = [trial.final for trial in result.trials if trial.final]
    assert [final.outcome for final in finals] == ["solved", "solved"]
    assert {final.observations["clarity"].value for final in finals} == {0.5}
