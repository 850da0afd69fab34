from grading import measure

from runner import expect

TARGETS = ["minicalc/parser.py", "minicalc/operators.py"]


def bench_fix_bug(workspace, agent, evaluation):
    """A failing test shows a bug in the parser; only the parser has to change."""
    expect(workspace).to_have_file("minicalc/parser.py")
    expect(workspace).not_.to_pass_tests()  # without the failing test there is nothing to fix
    reply = agent.request(
        "`10 - 3 - 2` comes out as 9, and a test fails because of it. Find the cause and fix it. "
        "Do not change the tests, and nothing that works today may break."
    )
    measure(workspace, evaluation, reply, "fix_bug", TARGETS)
