"""Run this bench against the scripted model of model.json: `python with_mock_model.py [options of benchsite run]`.

Without the command lines of both agents it says so in one sentence and ends with exit code 4.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from runner.mock_model import MockModel

BENCH = Path(__file__).resolve().parent
PROGRAMS = {"claude": "@anthropic-ai/claude-code", "codex": "@openai/codex"}
NOT_INSTALLED = 4


def missing() -> str:
    """Say which command lines are not on PATH, and how to get them; "" when both are there."""
    absent = [name for name in PROGRAMS if shutil.which(name) is None]
    if not absent:
        return ""
    packages = " ".join(PROGRAMS[name] for name in absent)
    return f"real-agents is left out: {' and '.join(absent)} not on PATH (npm install -g {packages})."


def main(options: list[str]) -> int:
    if missing():
        print(missing(), file=sys.stderr)
        return NOT_INSTALLED
    with MockModel(BENCH / "model.json") as model:
        env = {**os.environ, "BENCHSITE_MODEL_URL": model.url}
        return subprocess.run([sys.executable, "-m", "runner", "run", str(BENCH), *options], env=env).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
