from checks import measure

from runner import expect


def bench_fix_bug(workspace, agent, evaluation):
    """One request, one bug."""
    expect(workspace).not_.to_pass_tests()  # without the failing test there is nothing to fix
    reply = agent.request("`10 - 3 - 2` comes out as 9, and a test fails because of it. Find the cause and fix it.")
    measure(workspace, evaluation, [reply], {"minicalc/parser.py"})
