from __future__ import annotations

import json

import pytest

from runner import steps, templates
from runner.agents.player import PLAYS


def test_every_step_goes_through_json_and_can_be_played() -> None:
    made = [
        steps.write("a", "b", 0o755), steps.patch("a", "b", "c"), steps.delete("a"), steps.run("{python} -m 'a b'"),
        steps.run("echo", "a b"), steps.say("hi"), steps.sleep(0.1), steps.crash(3), steps.loop(),
        steps.usage(tokens_in=1, cost=0.5),
    ]  # fmt: skip
    assert json.loads(json.dumps(made)) == made
    assert {step["do"] for step in made} == set(steps.FIELDS) <= set(PLAYS)
    assert steps.fault_in(made) is None


def test_a_command_line_is_split_and_arguments_are_not() -> None:
    assert steps.run("{python} -m 'a b'")["argv"] == ["{python}", "-m", "a b"]
    assert steps.run("echo", "a b")["argv"] == ["echo", "a b"]


def test_usage_that_is_not_given_stays_unknown() -> None:
    assert steps.usage(cost=0.5) == {"do": "usage", "cost": 0.5}


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ({"do": "fly"}, "has as step 2 {'do': 'fly'}, which is none of: write"),
        ("write", "has as step 2 'write'"),
        ({"do": "sleep", "seconds": "1"}, "has a step 2 (sleep) without a proper 'seconds'"),
        ({"do": "run", "argv": "ls -l"}, "has a step 2 (run) without a proper 'argv'"),
    ],
)
def test_a_step_that_cannot_be_played_is_named(step: dict[str, object], said: str) -> None:
    assert said in (steps.fault_in([steps.say("hi"), step]) or "")


def test_a_value_is_one_piece_of_one_argument_whatever_it_holds() -> None:
    values = {"prompt": "a b; rm -rf '{x}'", "env.KEY": "k", "model": ""}
    assert templates.fill("tool --say={prompt} {env.KEY} {model} {{as is}}", values) == [
        "tool", "--say=a b; rm -rf '{x}'", "k", "", "{as", "is}",
    ]  # fmt: skip
