from typing import Annotated

from agents import AGENTS

from runner import Measure, Network, Timeouts, Workspace, define_bench


class Schema:
    resolved: Annotated[bool, Measure(headline=True, required=True)]
    """Do the hidden tests pass, with what was submitted, in a place the agent never touched?"""

    claimed: bool
    """Does the world's own suite pass where the agent left it? What a verifier would say that trusts that place."""

    applies: bool
    """Was a patch submitted that applies?"""

    size: Annotated[int, Measure(objective="minimize", unit="bytes", label="patch")]
    """Bytes of the submission."""


bench = define_bench(
    name="examples/hidden-tests",
    version="1.0.0",
    title="A submission graded where its author never was",
    schema=Schema,
    workspace=Workspace("./workspace", git=True, retain="unsolved"),
    suite="{python} -m unittest -q",
    agents=AGENTS,
    matrix={"agent": list(AGENTS)},
    trials=2,
    environment="sandbox",
    evaluation="fresh",
    network=Network(execution="open", evaluation="none"),
    timeouts=Timeouts(request=20, trial=60, suite=20),
)
