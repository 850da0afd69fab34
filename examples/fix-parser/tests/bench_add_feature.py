from grading import measure

from runner import expect

TARGETS = [
    "minicalc/lexer.py", "minicalc/operators.py", "minicalc/parser.py", "minicalc/evaluator.py", "minicalc/printer.py",
    "README.md",
]  # fmt: skip


def bench_add_feature(workspace, agent, evaluation):
    """A new operator has to be known to four modules; the printer is the one that is forgotten."""
    for path in TARGETS:
        expect(workspace).to_have_file(path)
    reply = agent.request(
        "Add the operator % (remainder, as in Python) to minicalc. It binds as tightly as * and /; a remainder by "
        "zero is the same error as a division by zero. to_text must write such trees as sparingly as all others. "
        "One test fails already for another reason; leave that alone."
    )
    measure(workspace, evaluation, reply, "add_feature", TARGETS)
