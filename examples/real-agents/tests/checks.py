"""What both scenarios ask of a finished world."""

from runner import observe

CHAINS = {"10 - 3 - 2": "5", "2 ^ 3 ^ 2": "512", "24 / 4 / 2": "3", "2 * 3 - 4 - 1": "1"}


def measure(workspace, evaluation, replies, targets):
    green = workspace.tests.passed()
    observe("suite_green", green)
    observe("collateral", len(set(workspace.changed()) - targets))
    observe("commands", sum(step.kind == "tool_call" for reply in replies for step in reply.transcript))
    with evaluation() as env:
        right = all(_calculate(env, text) == wanted for text, wanted in CHAINS.items())
    observe("resolved", green and right)


def _calculate(env, text):
    # -B: what the evaluation compiles is no change of anybody's
    done = env.exec(["python3", "-B", "-m", "minicalc", text], timeout=30)
    return done.stdout.strip()
