import sys

import pytest

from runner import Collect, bench, expect, observe

SUBMISSION = "/workspace/submission.patch"


@pytest.mark.evaluation(
    artifacts=[SUBMISSION],
    collect=[Collect(f"git add -A -- ':!submission.patch' && git diff --cached --binary > {SUBMISSION}", timeout=30)],
)
def bench_accents(workspace, agent, evaluation):
    """A failing test shows one example; what is asked for is more, and hidden tests ask for all of it."""
    expect(workspace).to_have_file("slugs.py")
    agent.request(
        "A test in test_slugs.py fails: slug() drops accented letters. Make it write them without their accents, in "
        "whatever language and however they are encoded. Nothing that works today may break."
    )
    observe("claimed", workspace.tests.passed())
    with evaluation() as env:
        submitted = evaluation.artifacts[SUBMISSION].read_bytes() if SUBMISSION in evaluation.artifacts else b""
        observe("size", len(submitted))
        done = env.exec(["sh", f"{env.fixtures}/verify.sh", sys.executable, SUBMISSION], timeout=20)
        bench.attach("verifier.log", done.stdout + done.stderr)
        observe("applies", done.exit_code != 3)
        observe("resolved", done.exit_code == 0)
