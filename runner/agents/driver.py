"""Calls a bench's Python agent: `python driver.py REQUEST.json`. Its stdout carries the answer alone, as one JSON line;
whatever the agent prints goes to stderr, so that no print can be taken for the answer."""

from __future__ import annotations

import importlib
import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any

NOT_FOUND = 70
"""Exit code when the function itself could not be had: the agent never started."""


def main(request_file: str) -> int:
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    request = json.loads(Path(request_file).read_text(encoding="utf-8"))
    # The driver's own folder must not shadow modules of the agent; the bench's code comes first.
    sys.path[0:1] = [request["code"]]
    sys.path.append(request["library"])
    try:
        agent = find(request["module"], request["function"])
    except Exception:
        traceback.print_exc()
        return NOT_FOUND
    prompt = Path(request["prompt_file"]).read_text(encoding="utf-8", errors="surrogateescape")
    given = agent(prompt, Path(request["workspace"]), request["axes"])
    reply = given if isinstance(given, dict) else {"text": given}
    answer.write(json.dumps({"text": "" if reply.get("text") is None else str(reply["text"]), **rest(reply)}) + "\n")
    answer.close()
    return 0


def find(module: str, function: str) -> Any:
    found: Any = importlib.import_module(module)
    for name in function.split("."):
        found = getattr(found, name)
    return found


def rest(reply: dict[str, Any]) -> dict[str, Any]:
    return {key: reply[key] for key in ("usage", "steps", "models") if key in reply}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
