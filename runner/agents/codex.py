"""`codex`: `codex exec --json`. Prompt by stdin, a CODEX_HOME in the trial's own home, `resume` for a second request.

Axes: `model`; `config.a.b` become `-c a.b=value`; `env.NAME` go into the environment.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from runner.definition import AgentSpec
from runner.paths import StrPath

from .base import Ask, Ended, Invocation, Probe, Reading, asked, how_it_ended, never_started
from .clis import NO_KEY, cli, cli_pin, environment, events, meaning, number, sentence, silent, v1_url
from .codex_events import COUNTS, Told, steps_of, told, usage_of
from .programs import ask_version, find_program

KIND = "codex"
INSTALL = "npm install -g @openai/codex"
DEFAULT_ENDPOINT = "https://api.openai.com"
KEYS = ("CODEX_API_KEY", "OPENAI_API_KEY")
CREDENTIALS = ".codex/auth.json"
PROVIDER = "benchsite"


def probe(spec: AgentSpec, axes: Mapping[str, Any]) -> Probe:
    program = find_program("codex", INSTALL)
    return Probe(ask_version([*program.argv, "--version"]), program.places)


def invoke(ask: Ask) -> Invocation:
    argv = [
        *find_program("codex", INSTALL).argv,
        *("exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"),
        *(word for setting in _settings(ask) for word in ("-c", setting)),
        *(("-m", ask.model) if ask.model else ()),
        *cli(ask.spec).options,
        *(("resume", _thread(ask.session)[0]) if ask.session else ()),
        "-",
    ]
    return Invocation(argv, _environment(ask), ask.prompt_file)


def _settings(ask: Ask) -> Iterator[str]:
    if cli(ask.spec).base_url:
        yield f'model_provider="{PROVIDER}"'
        url = json.dumps(v1_url(cli(ask.spec).base_url))
        key = "requires_openai_auth=true" if cli(ask.spec).credentials else 'env_key="OPENAI_API_KEY"'
        yield (
            f'model_providers.{PROVIDER}={{name="{PROVIDER}",base_url={url},{key},'
            'wire_api="responses",request_max_retries=1,stream_max_retries=1}'
        )
    for name, value in sorted(ask.axes.items()):
        if name.startswith("config."):
            # JSON text, numbers, booleans and lists read the same as TOML.
            yield f"{name.removeprefix('config.')}={json.dumps(value)}"


def _environment(ask: Ask) -> dict[str, str]:
    """CODEX_HOME must exist, or codex ends at once; in the trial's home it lasts over its requests."""
    home = Path(ask.home, ".codex")
    home.mkdir(parents=True, exist_ok=True)
    env = environment(ask, KEYS, {"CODEX_HOME": ask.inside(home)})
    key = next((env[name] for name in KEYS if env.get(name)), None)
    if cli(ask.spec).base_url and not cli(ask.spec).credentials:
        return {**env, "OPENAI_API_KEY": env.get("OPENAI_API_KEY") or key or NO_KEY}
    return {**env, **({"CODEX_API_KEY": key} if key else {})}


def endpoint(spec: AgentSpec, axes: Mapping[str, Any]) -> str | None:
    return cli(spec).base_url or DEFAULT_ENDPOINT


def read(ask: Ask, stdout: StrPath, stderr: StrPath, done: Ended) -> Reading:
    heard = told(events(stdout))
    if not heard.any:
        fault = never_started("codex", done, stdout, stderr) or silent("Codex", stderr, done)
        return Reading("", usage_of(heard, {}), [asked(ask)], fault, how_it_ended(done))
    fault, flag = _judge(heard, done)
    flags = dict.fromkeys((*how_it_ended(done), *((flag,) if flag else ())))
    before = _thread(ask.session)[1]
    steps = [asked(ask), *steps_of(heard)]
    return Reading(heard.text, usage_of(heard, before), steps, fault, tuple(flags), _session(heard, before))


def _thread(session: str | None) -> tuple[str, dict[str, int]]:
    """A session of ours is the thread's name and what the thread had spent so far: codex reports a thread's total,
    so that a resumed one would count its first request twice."""
    name, *spent = (session or "").split() or [""]
    return name, dict(zip(COUNTS, map(int, spent), strict=False))


def _session(heard: Told, before: Mapping[str, int]) -> str | None:
    spent = {name: number((heard.usage or {}).get(name)) for name in COUNTS}
    known = [str(before.get(name, 0) if spent[name] is None else spent[name]) for name in COUNTS]
    return " ".join((heard.session, *known)) if heard.session else None


def _judge(heard: Told, done: Ended) -> tuple[tuple[str, str] | None, str | None]:
    if done.timed_out and heard.waiting:
        return ("provider", sentence("Codex", heard.waiting)), None
    if heard.failure is None:
        if done.exit_code == 0 and not done.timed_out and heard.usage is None:
            return ("protocol", "Codex ended well, but without the turn.completed event of its protocol."), None
        return None, None
    meant = meaning(heard.failure)
    if meant and meant.startswith("provider"):
        return (meant, sentence("Codex", heard.failure)), None
    return None, meant


def pin(spec: AgentSpec, axes: Mapping[str, Any], probe: Probe) -> dict[str, Any]:
    return cli_pin(KIND, spec, axes, probe)
