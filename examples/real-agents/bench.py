import os
from typing import Annotated

from runner import Cli, Measure, Timeouts, Workspace, define_bench

# Where the model answers. `with_mock_model.py` starts a scripted one and sets this; any server that speaks both
# protocols will do.
MODEL_URL = os.environ.get("BENCHSITE_MODEL_URL", "http://127.0.0.1:8707")


class Schema:
    resolved: Annotated[bool, Measure(headline=True, required=True)]
    """Does the suite pass, and does every chain of operators come out right?"""

    suite_green: bool
    """Does the workspace's own suite pass?"""

    collateral: Annotated[int, Measure(objective="minimize", unit="files")]
    """Files changed beyond those the task is about."""

    commands: Annotated[int, Measure(objective="minimize", unit="commands")]
    """Shell commands the agent ran."""


bench = define_bench(
    name="examples/real-agents",
    version="1.0.0",
    title="Real agents, a scripted model",
    schema=Schema,
    workspace=Workspace("../fix-parser/workspace", retain="unsolved"),
    suite="{python} -m unittest -q",
    agents={"claude-code": Cli("claude-code", base_url=MODEL_URL), "codex": Cli("codex", base_url=MODEL_URL)},
    matrix={"agent": ["claude-code", "codex"], "model": ["steady", "hasty"]},
    trials=2,
    timeouts=Timeouts(request=60, trial=180, suite=60),
)
