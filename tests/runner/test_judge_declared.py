"""What a bench may declare as its judge: one for every cell, no cell's own model, and part of what was measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runner.define import define_bench
from runner.definition import Cli, Command, Judge
from runner.errors import BenchError
from runner.hashes import definition_hashes
from runner.load import load_bench
from runner.schema_source import extract
from runner.sealing import seal
from tests.runner.scenario.benches import write_bench


class Schema:
    resolved: bool
    """Is it done?"""


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ({"judge": Judge("m-1"), "matrix": {"model": ["m-0", "vendor/M-1"]}}, r"also under test \(model=vendor/M-1\)"),
        ({"judge": Judge("m-1"), "agents": {"a": Command("t --model=m-1")}}, "also under test .agent 'a'"),
        ({"judge": Judge("m-1"), "agents": {"a": Cli("codex", options=("-m", "m-1"))}}, "also under test .agent 'a'"),
        ({"judge": Judge("v/m-1-20260101"), "matrix": {"llm": "m-1"}}, r"also under test .llm=m-1"),
        ({"judge": Judge("m-1"), "matrix": {"env.K": ["m-1"]}, "secrets": ["env.K"]}, r"under test .env.K\)"),
        ({"judge": Judge("m-1"), "agents": {"a": Command("t", env={"MODEL": "m-1"})}}, "under test .agent 'a'"),
        ({"judge": Judge("m-1"), "agents": {"a": Cli("codex", options=("-c", 'model="m-1"'))}}, "test .agent 'a'"),
        ({"judge": Judge("m-1"), "matrix": {"judge": ["m-1", "m-2"]}}, "axis 'judge' would vary the judge"),
        ({"judge": Judge("m-1", key="K"), "matrix": {"env.K": ["a", "b"]}}, "axis 'env.K' would vary the judge"),
        ({"judge": Judge("m-1", same_model="yes")}, "takes the reason in words"),
        ({"judge": Judge("m-1", {"model": "m-2"})}, "may not set model"),
        ({"judge": Judge("m-1", {"stop": {1}})}, "not what JSON can hold"),
        ({"judge": Judge("m-1", protocol="telnet")}, "not one of: openai, anthropic"),
        ({"judge": Judge("m-1", key="sk-12 34")}, "names the variable that holds the key"),
        ({"judge": Judge("m-1", base_url="https://me:pw@x.org")}, "without a password"),
        ({"judge": Judge(" ")}, "names no model"),
        ({"judge": Judge("m-1", prices=(1,))}, "dollars for a million tokens"),  # type: ignore[arg-type]
        ({"judge": Judge("m-1", retries=-1)}, "0 to 10 retries"),
    ],
)
def test_a_judge_that_is_not_one_for_all_or_cannot_be_asked_is_refused(declared: dict[str, Any], said: str) -> None:
    with pytest.raises(BenchError, match=said):
        define_bench(name="acme/try", version="1", schema=Schema, workspace=None, **declared)


def test_a_model_may_judge_itself_where_the_bench_says_why(tmp_path: Path) -> None:
    judge = Judge("m-1", same_model="There is no other model on this machine.")
    bench = define_bench(
        name="acme/try", version="1", schema=Schema, workspace=None, judge=judge, matrix={"model": "m-1"}
    )
    assert bench.judge is judge


def test_the_judge_is_part_of_the_definition_and_its_key_is_not(tmp_path: Path) -> None:
    made = []
    for number, judge in enumerate(
        ('"m"', '"m", version="2"', '"m", base_url="https://m.example.org"', '"m", key="OTHER", prices=(1, 2)')
    ):
        scenario = {"s": "def bench_s(workspace, agent):\n    agent.request('go')\n"}
        folder = write_bench(tmp_path / str(number), scenario, declare=f"judge=Judge({judge})")
        bench = load_bench(folder)
        made.append(definition_hashes(bench, extract(bench.schema, bench.file), seal(bench))["definition"])
    assert made[0] == made[3]
    assert len(set(made)) == 3
