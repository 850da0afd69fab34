"""The site's settings: every BENCHSITE_* variable is declared here once and read nowhere else."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from runner.definition import parse_size

TRUE, FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


class BadSetting(SystemExit):
    """An odd value; its text names the variable, the value and what is allowed."""


@dataclass(frozen=True)
class Variable:
    """One setting. `parse` raises ValueError for what is not allowed; `allowed` says in words what is."""

    name: str
    parse: Callable[[str], Any]
    default: str
    allowed: str
    help: str

    def read(self, environ: Mapping[str, str]) -> Any:
        text = environ.get(self.name, self.default)
        try:
            return self.parse(text.strip())
        except ValueError as error:
            shown = repr(text) if "SECRET" not in self.name and "URL" not in self.name else "(not shown)"
            raise BadSetting(f"{self.name} is {shown}; allowed is {self.allowed}.") from error


def boolean(text: str) -> bool:
    if text.lower() in TRUE:
        return True
    if text.lower() in FALSE:
        return False
    raise ValueError(text)


def whole(low: int, high: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        number = int(text)
        if not low <= number <= high:
            raise ValueError(text)
        return number

    return parse


def choice(*words: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text not in words:
            raise ValueError(text)
        return text

    return parse


def url(*schemes: str) -> Callable[[str], str]:
    """A URL of one of these schemes, or nothing."""

    def parse(text: str) -> str:
        if text and urlsplit(text).scheme not in schemes:
            raise ValueError(text)
        return text

    return parse


def words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def secret(text: str) -> str:
    if text and len(text) < 32:
        raise ValueError(text)
    return text


def zone(text: str) -> str:
    from zoneinfo import ZoneInfo

    try:
        ZoneInfo(text)
    except Exception as error:
        raise ValueError(text) from error
    return text


YES_NO = "one of 1, true, yes, on, 0, false, no, off"
SIZE = "a size such as '64 MiB', or a number of bytes"


def _table(*rows: Variable) -> dict[str, Variable]:
    return {row.name.removeprefix("BENCHSITE_").lower(): row for row in rows}


VARIABLES: dict[str, Variable] = _table(
    Variable(
        "BENCHSITE_DEBUG", boolean, "1", YES_NO, "Local use. Off, a secret key is demanded and hosts are checked."
    ),
    Variable("BENCHSITE_SECRET_KEY", secret, "", "at least 32 characters", "Signs sessions and forms."),
    Variable(
        "BENCHSITE_SECRET_KEY_FILE", str, "", "a path of a readable file", "Where the secret key stands, if not above."
    ),
    Variable(
        "BENCHSITE_ALLOWED_HOSTS", words, "localhost,127.0.0.1,[::1]", "host names, comma separated", "Names served."
    ),
    Variable(
        "BENCHSITE_URL",
        url("http", "https"),
        "",
        "a URL such as https://bench.example.org",
        "The address people use. With https: secure cookies, redirect to https, HSTS; its forms are trusted.",
    ),
    Variable("BENCHSITE_PROXY", boolean, "0", YES_NO, "Trust X-Forwarded-Proto of the proxy in front."),
    Variable("BENCHSITE_DATA", str, "", "a path", "The folder of everything the site writes; default: var/."),
    Variable(
        "BENCHSITE_DATABASE_URL",
        url("sqlite", "postgresql", "postgres"),
        "",
        "sqlite:///PATH or postgresql://USER:PASSWORD@HOST:PORT/NAME",
        "The database; default: SQLite in the data folder.",
    ),
    Variable(
        "BENCHSITE_DATABASE_POOL", whole(0, 100), "4", "a number from 0 to 100", "PostgreSQL connections a process."
    ),
    Variable("BENCHSITE_BLOBS", str, "", "a path", "The folder of blobs; default: blobs/ in the data folder."),
    Variable(
        "BENCHSITE_BROKER_URL",
        url("redis", "rediss", "amqp", "amqps", "filesystem", "memory"),
        "",
        "a redis://, rediss://, amqp://, amqps:// or filesystem:// URL",
        "The broker of workers; without one, trials run in a local pool.",
    ),
    Variable(
        "BENCHSITE_LEASE_SECONDS",
        whole(5, 86400),
        "120",
        "a number from 5 to 86400",
        "How long a silent worker is believed.",
    ),
    Variable(
        "BENCHSITE_UPLOAD_AT_ONCE", parse_size, "4 MiB", SIZE, "A larger run that is sent is a job with progress."
    ),
    Variable("BENCHSITE_UPLOAD_BLOB", parse_size, "256 MiB", SIZE, "The largest blob taken in an upload."),
    Variable("BENCHSITE_UPLOAD_TOTAL", parse_size, "4 GiB", SIZE, "The largest upload as a whole, unpacked."),
    Variable(
        "BENCHSITE_UPLOAD_FILES", whole(2, 10_000_000), "200000", "a number from 2", "Blobs in one upload at most."
    ),
    Variable(
        "BENCHSITE_LOG_LEVEL",
        choice("debug", "info", "warning", "error"),
        "info",
        "debug, info, warning or error",
        "What is logged.",
    ),
    Variable("BENCHSITE_LOG_FORMAT", choice("console", "json"), "console", "console or json", "How it is logged."),
    Variable("BENCHSITE_TIME_ZONE", zone, "UTC", "a name such as Europe/Berlin", "The zone times are shown in."),
    Variable("BENCHSITE_BIND", str, "127.0.0.1:8000", "HOST:PORT or unix:PATH", "Where gunicorn listens."),
    Variable("BENCHSITE_WORKERS", whole(1, 256), "2", "a number from 1 to 256", "Processes of gunicorn."),
    Variable("BENCHSITE_THREADS", whole(1, 256), "4", "a number from 1 to 256", "Threads a process of gunicorn."),
    Variable(
        "BENCHSITE_WORLD",
        choice("auto", "copy", "overlay"),
        "auto",
        "auto, copy or overlay",
        "How trials get their worlds (read by the runner).",
    ),
    Variable("BENCHSITE_WORLDS", str, "", "a path", "Where live worlds lie while trials run (read by the runner)."),
    Variable(
        "BENCHSITE_CONTAINERS", str, "", "podman or docker", "Which program makes containers (read by the runner)."
    ),
)


ELSEWHERE = frozenset(
    f"BENCHSITE_{name}"
    for name in ("TOKEN", "FORK", "MODEL_URL", "JUDGE_URL", "NO_SKIPS", "CLIS", "AGENTS", "PERF_DIR", "PERF_TRIALS")
)
"""Read by the runner, its examples and the tests, not by the site."""


class Env:
    """The values of one environment; reading an odd one stops the program with a sentence."""

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        self._environ = os.environ if environ is None else environ
        self.refuse_unknown()

    def __getitem__(self, key: str) -> Any:
        return VARIABLES[key].read(self._environ)

    def refuse_unknown(self) -> None:
        """A mistyped name must not be ignored in silence."""
        known = {variable.name for variable in VARIABLES.values()} | ELSEWHERE
        for name in sorted(self._environ):
            if name.startswith("BENCHSITE_") and name not in known and not name.startswith("BENCHSITE_TEST_"):
                raise BadSetting(f"{name} is not a setting of Benchsite; docs/operations.md lists them all.")
