"""What a bench may declare as its judge, and what is told of it. The judge is one for a whole run."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from .digests import canonical, sha256

if TYPE_CHECKING:
    from .definition import AgentSpec, Bench, Judge

OPENAI, ANTHROPIC = "openai", "anthropic"
PROTOCOLS: dict[str, tuple[str, str]] = {
    OPENAI: ("OPENAI_API_KEY", "https://api.openai.com/v1"),
    ANTHROPIC: ("ANTHROPIC_API_KEY", "https://api.anthropic.com/v1"),
}
"""Protocol -> the variable of its key, and where its provider is."""
URL_VARIABLE = "BENCHSITE_JUDGE_URL"
"""Sends the judge's calls elsewhere on this machine: to a gateway, or to the mock model."""
OURS = frozenset({"model", "messages", "system", "stream", "tools"})
"""What a request says by itself; parameters may not say it again."""
_DATED = re.compile(r"[-@:](?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$")
_QUOTED = re.compile(r"[\"']([^\"'\s]+)[\"']")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def key_of(judge: Judge) -> str:
    """Name the variable that holds the judge's key."""
    return judge.key or PROTOCOLS[judge.protocol][0]


def endpoint_of(judge: Judge, environ: Mapping[str, str]) -> str:
    """Give the address below which the protocol lies; an address without /v1 is understood too."""
    url = (judge.base_url or environ.get(URL_VARIABLE) or PROTOCOLS[judge.protocol][1]).rstrip("/")
    return url if urlsplit(url).path.endswith("/v1") else url + "/v1"


def is_own_endpoint(judge: Judge, environ: Mapping[str, str]) -> bool:
    """An endpoint that is not the provider's may ask for no key."""
    return bool(judge.base_url or environ.get(URL_VARIABLE))


def missing(judge: Judge | None, environ: Mapping[str, str]) -> str:
    """Say what the judge lacks on this machine, "" where nothing."""
    if judge is None or environ.get(key_of(judge)) or is_own_endpoint(judge, environ):
        return ""
    return f"The judge {judge.model!r} has no key: set the variable {key_of(judge)}."


def essence(judge: Judge | None) -> dict[str, Any] | None:
    """What makes two judges one: part of the bench's definition hash. Where the key is, prices and reasons are not."""
    if judge is None:
        return None
    named = {"model": judge.model, "parameters": dict(judge.parameters), "protocol": judge.protocol}
    asked = {"base_url": judge.base_url, "timeout": judge.timeout, "retries": judge.retries}
    return {**named, **asked, "system": judge.system, "version": judge.version}


def told(judge: Judge | None, environ: Mapping[str, str]) -> dict[str, Any]:
    """What a run's manifest says of its judge; no key, and of the endpoint its host and the whole address' hash."""
    if judge is None:
        return {}
    url = endpoint_of(judge, environ)
    where = {"host": urlsplit(url).hostname or "", "endpoint": sha256(url.encode())}
    prices = list(judge.prices or ())
    row = {**(essence(judge) or {}), **where, "same_model": judge.same_model, "prices": prices}
    return {name: value for name, value in row.items() if value and name != "base_url"}


def changed(was: Mapping[str, Any], judge: Judge | None, environ: Mapping[str, str]) -> list[str]:
    """Name what of a run's judge is another by now."""
    now = told(judge, environ) if was else {}
    return [name for name in sorted({*was, *now}) if canonical(was.get(name)) != canonical(now.get(name))]


def check(bench: Bench) -> None:
    """Refuse, with a ValueError, a judge that could not be asked or that would not be the same for every cell."""
    judge = bench.judge
    if judge is None:
        return
    _check_words(judge)
    _check_parameters(judge)
    fixed = {"judge", f"env.{key_of(judge)}", f"env.{URL_VARIABLE}"}
    for axis in bench.matrix:
        if axis in fixed or axis.startswith("judge."):
            raise ValueError(
                f"The axis {axis!r} would vary the judge, which is one for the whole matrix; leave it out."
            )
    if where := under_test(bench, judge.model):
        raise ValueError(
            f"The judge's model {judge.model!r} is also under test ({where}), and a model is no judge of itself. "
            "Choose another one, or say in Judge(same_model='...') why it may be."
        )


def _check_words(judge: Judge) -> None:
    for name in ("model", "system", "version", "key", "base_url", "same_model"):
        if not isinstance(getattr(judge, name), str):
            raise ValueError(f"Judge({name}={getattr(judge, name)!r}) is not text.")
    if not judge.model.strip():
        raise ValueError("Judge(model='') names no model.")
    if judge.protocol not in PROTOCOLS:
        raise ValueError(f"Judge(protocol={judge.protocol!r}) is not one of: {', '.join(PROTOCOLS)}.")
    if judge.key and not _VARIABLE.fullmatch(judge.key):
        raise ValueError(
            "Judge(key=...) names the variable that holds the key, such as 'JUDGE_API_KEY'; never the key."
        )
    parts = urlsplit(judge.base_url)
    if judge.base_url and (parts.scheme not in ("http", "https") or not parts.hostname or parts.username):
        raise ValueError(
            "Judge(base_url=...) is no address such as 'https://models.example.org/v1', without a password."
        )
    if judge.same_model and len(judge.same_model.split()) < 3:
        raise ValueError("Judge(same_model=...) takes the reason in words: it stands on the run's page.")


def _check_parameters(judge: Judge) -> None:
    try:
        json.dumps(dict(judge.parameters), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"Judge(parameters={judge.parameters!r}) is not what JSON can hold.") from error
    if taken := sorted(OURS.intersection(judge.parameters)):
        raise ValueError(f"Judge(parameters=...) may not set {', '.join(taken)}: a request sets that by itself.")
    if not 0 < judge.timeout < 3600 or type(judge.retries) is not int or not 0 <= judge.retries <= 10:
        raise ValueError("Judge(timeout=, retries=) takes seconds below 3600, and 0 to 10 retries.")
    if judge.prices is not None and (len(judge.prices) != 2 or not all(price >= 0 for price in judge.prices)):
        raise ValueError("Judge(prices=(in, out)) takes dollars for a million tokens in and out.")


def under_test(bench: Bench, model: str) -> str:
    """Say where a model that judges is a cell's own though the bench does not say why it may be; "" where nowhere."""
    if bench.judge is None or bench.judge.same_model:
        return ""
    return next(_subjects(bench, model), "")


def names_model(words: Iterable[str], model: str) -> bool:
    """Does one of a command's words, or of its variables' values, choose that model?"""
    plain = _plain(model)
    return any(plain in (_plain(word), *map(_plain, _QUOTED.findall(word))) for word in words)


def _subjects(bench: Bench, model: str) -> Iterator[str]:
    """As a value of any axis, since each may reach an agent, or in an agent's declaration."""
    for axis, values in bench.matrix.items():
        for value in values if isinstance(values, list | tuple) else (values,):
            if axis != "agent" and names_model([str(value)], model):
                yield axis if axis in bench.secrets else f"{axis}={value}"
    for name, spec in bench.agents.items():
        if names_model(_words(spec), model):
            yield f"agent {name!r}"


def _plain(model: str) -> str:
    """`anthropic/claude-x`, `--model=claude-x` and `claude-x-20260101` are claude-x."""
    name = model.rpartition("=")[2].strip(" \t\n\"'").rpartition("/")[2].lower()
    return _DATED.sub("", name)


def _words(spec: AgentSpec) -> list[str]:
    words = [*map(str, getattr(spec, "options", ())), *map(str, getattr(spec, "env", {}).values())]
    try:
        return words + shlex.split(getattr(spec, "template", ""))
    except ValueError:
        return words
