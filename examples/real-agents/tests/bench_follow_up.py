from checks import measure

from runner import expect


def bench_follow_up(workspace, agent, evaluation):
    """Two requests in one session: the second leans on what the agent learned in the first."""
    expect(workspace).to_have_file("minicalc/parser.py")
    first = agent.request("A chain of minus signs, `10 - 3 - 2`, comes out as 9. Fix the parser.")
    second = agent.request("Now say in docs/parsing.md what you changed and why.")
    measure(workspace, evaluation, [first, second], {"minicalc/parser.py", "docs/parsing.md"})
