from grading import measure

from runner import expect

TARGETS = ["minicalc/operators.py", "minicalc/evaluator.py", "minicalc/printer.py", "minicalc/parser.py"]


def bench_refactor(workspace, agent, evaluation):
    """What is known of an operator stands in three modules; it should stand in one, with no change in behaviour."""
    expect(workspace).to_have_file("docs/style.md")  # the request leans on it
    reply = agent.request(
        "docs/style.md asks that one fact stands in one place. evaluator.py and printer.py name the operators again: "
        "make minicalc/operators.py the only module in which an operator's sign is written. Nothing may behave "
        "otherwise. One test fails already for another reason; leave that alone."
    )
    measure(workspace, evaluation, reply, "refactor", TARGETS)
