"""A bench with a world, two scenarios, a data set, and agents that do well, badly and not at all."""

from __future__ import annotations

from pathlib import Path

BENCH = '''
from runner import Command, Scripted, Workspace, define_bench, say, write

class Schema:
    resolved: bool
    """Is the answer right?"""

bench = define_bench(
    name="t/control", version="1", schema=Schema, workspace=Workspace("./workspace", retain="never"),
    environment="local",
    agents={"good": Scripted([write("answer.txt", "yes\\n"), say("\\x1b[31mdone")]), "bad": Scripted([say("no")]),
            "absent": Command("no-such-program-at-all {prompt_file}")},
    matrix={"agent": ["good", "bad"], "size": ["small", "large"]}, trials=2,
)
'''
SOLVE = '''
from runner import expect, observe

def bench_solve(workspace, agent):
    """Write yes."""
    expect(workspace).to_have_file("question.txt")
    print("the scenario speaks")
    agent.request("Write yes into answer.txt.")
    observe("resolved", workspace.exists("answer.txt"))
'''
ASK = """
import pytest
from runner import observe

@pytest.mark.parametrize("word", [pytest.param("a", id="one"), pytest.param("b", id="two")])
def bench_ask(workspace, agent, word):
    agent.request(word)
    if word == "b":
        raise RuntimeError("this case is broken")
    observe("resolved", True)
"""


def make_control(folder: Path) -> Path:
    files = {
        "bench.py": BENCH,
        "workspace/question.txt": "well?\n",
        "workspace/.env/.keep": "",
        "tests/bench_solve.py": SOLVE,
        "tests/bench_ask.py": ASK,
        "fixtures/solution/solve/answer.txt": "yes\n",
        "fixtures/solution/ask.txt": "whatever",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder
