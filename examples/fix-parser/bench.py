from pathlib import Path
from typing import Annotated, Literal

from agents import AGENTS

from runner import Measure, Timeouts, Workspace, define_bench


class Schema:
    resolved: Annotated[bool, Measure(headline=True, required=True)]
    """Do the hidden expectations hold, of the task and of everything that worked before?"""

    failing: Annotated[int, Measure(objective="minimize", unit="tests")]
    """Tests of the workspace's own suite that fail as the agent left it; one fails from the start."""

    collateral: Annotated[int, Measure(objective="minimize", unit="files")]
    """Files changed beyond those the task is about; new tests are welcome and not counted."""

    churn: Annotated[int, Measure(objective="minimize", unit="lines")]
    """Lines added and deleted."""

    tests_edited: Annotated[bool, Measure(objective="minimize", label="edited tests")]
    """Were tests that existed before changed or deleted?"""

    approach: Literal["focused", "broad", "astray", "tests edited", "nothing"]
    """Where the changes went: only where the task is, there and elsewhere, only elsewhere, into tests, nowhere."""

    summary: str
    """The agent's closing words."""


def setup(workspace_path, cell):
    """Plant the one fault that is the bench's own: in this cell the world arrives without its style guide."""
    if cell["agent"] == "misplaced":
        (Path(workspace_path) / "docs/style.md").unlink()


bench = define_bench(
    name="examples/fix-parser",
    version="1.0.0",
    title="Fix, extend and refactor a small parser",
    schema=Schema,
    workspace=Workspace("./workspace", retain="unsolved"),
    suite="{python} -m unittest -q",
    agents=AGENTS,
    matrix={"agent": list(AGENTS)},
    trials=3,
    timeouts=Timeouts(request=3, trial=60, suite=20),  # the looper ends by it; honest agents need a tenth
    setup=setup,
)
