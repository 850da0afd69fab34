"""`aider`: `aider --message-file`. Its histories stand in the trial's own home; a second request restores the chat.

Axes: `model` as litellm names it (a name without a provider is OpenAI's at an endpoint of the bench's own); `env.NAME`
go into the environment. It needs no repository (`--no-git`), so that the world stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runner.definition import AgentSpec
from runner.paths import StrPath
from runner.replay import Usage
from runner.transcript import Step

from .base import Ask, Ended, Invocation, Probe, Reading, asked, how_it_ended, never_started, reply_of
from .clis import cli, cli_pin, silent, v1_url
from .programs import ask_version, find_program
from .telling import MODEL_KEYS, judged, keyed

KIND = "aider"
INSTALL = "pip install aider-chat"
KEYS = MODEL_KEYS
FIXED = {"AIDER_ANALYTICS": "false", "AIDER_CHECK_UPDATE": "false"}
QUIET = (
    "--yes-always", "--no-git", "--no-pretty", "--no-stream", "--no-show-release-notes", "--no-show-model-warnings",
    "--no-suggest-shell-commands", "--no-gitignore",
)  # fmt: skip
_ERROR = re.compile(r"^litellm\.\w+: .*$", re.MULTILINE)
_ANSWERED = re.compile(r"^Tokens: .* sent, .* received\.", re.MULTILINE)
_BANNER = re.compile(
    r"\A.*?^Repo-map: [^\n]*\n(Added [^\n]* to the chat\.\n|Restored [^\n]*\n)*\s*", re.MULTILINE | re.DOTALL
)
"""What it says of itself before the answer."""
_MODEL = re.compile(r"^(?:Model|Main model|Editor model|Weak model): (\S+)", re.MULTILINE)
_FULL = re.compile(r"^Model \S+ has hit a token limit!\nToken counts below are approximate\.$", re.MULTILINE)


def probe(spec: AgentSpec, axes: Mapping[str, Any]) -> Probe:
    program = find_program("aider", INSTALL)
    return Probe(ask_version([*program.argv, "--version"], FIXED), program.places)


def invoke(ask: Ask) -> Invocation:
    home = Path(ask.home, ".aider")
    home.mkdir(parents=True, exist_ok=True)
    argv = [
        *find_program("aider", INSTALL).argv,
        *QUIET,
        *("--chat-history-file", ask.inside(home / "chat.md"), "--input-history-file", ask.inside(home / "input")),
        *(("--restore-chat-history",) if ask.session else ()),
        *(("--model", litellm_model(ask)) if ask.model else ()),
        *cli(ask.spec).options,
        *("--message-file", ask.inside(ask.prompt_file)),
    ]
    base = {"OPENAI_API_BASE": v1_url(cli(ask.spec).base_url)} if cli(ask.spec).base_url else {}
    return Invocation(argv, keyed(ask, KEYS, FIXED) | base)


def litellm_model(ask: Ask) -> str:
    """At an endpoint of the bench's own a model is asked for by OpenAI's protocol."""
    name = ask.model or ""
    return name if "/" in name or not cli(ask.spec).base_url else f"openai/{name}"


def endpoint(spec: AgentSpec, axes: Mapping[str, Any]) -> str | None:
    return cli(spec).base_url or None


def read(ask: Ask, stdout: StrPath, stderr: StrPath, done: Ended) -> Reading:
    """It tells its answer and its errors in one text. An error counts only where no answer came at all: a model's own
    words may look like one. What it spent it tells rounded, so it is unknown here."""
    output = reply_of(stdout)
    if not output.strip():
        fault = never_started("aider", done, stdout, stderr) or silent("aider", stderr, done)
        return Reading("", Usage(), [asked(ask)], fault, how_it_ended(done))
    errors = [] if _ANSWERED.search(output) else _ERROR.findall(output)
    fault, flag = judged("aider", errors[-1] if errors else "")
    flag = flag or ("context_limit" if _FULL.search(output) else None)
    flags = tuple(dict.fromkeys((*how_it_ended(done), *((flag,) if flag else ()))))
    text = _BANNER.sub("", output, count=1)
    steps = [asked(ask), Step("assistant", "message", text)]
    return Reading(text, Usage(), steps, fault, flags, "chat", models=_models(output, text))


def _models(output: str, text: str) -> tuple[str, ...]:
    """Its banner tells the main model, the one for edits, and the one for small tasks."""
    banner = output.removesuffix(text)
    return tuple(dict.fromkeys(_MODEL.findall(banner)))


def pin(spec: AgentSpec, axes: Mapping[str, Any], probe: Probe) -> dict[str, Any]:
    return cli_pin(KIND, spec, axes, probe)
