"""podman or docker, as command lines: which is there, which options it needs here, and what an image holds."""

from __future__ import annotations

import functools
import json
import os
import re
import resource
import secrets
import shutil
from dataclasses import dataclass
from typing import Any

from runner import keeper
from runner.errors import EnvironmentRefused
from runner.processes import output_of

from . import slirp
from .base import SYSTEM_PATH

PROGRAMS = ("podman", "docker")
CHOICE = "BENCHSITE_CONTAINERS"
PATIENCE = 120
RUNTIMES: tuple[tuple[str, ...], ...] = ((), ("--runtime", "runc"), ("--runtime", "crun"))
"""Tried in this order: kernels without the newest control groups refuse one runtime and take another."""
_PASSED = re.compile(r"HOME|PATH|USER|LANG|TMPDIR|(XDG|DOCKER|CONTAINERS?|PODMAN|STORAGE|REGISTRY|DBUS)_\w+")
_ASKED = "import sys, _ctypes, _socket, json; print('\\n' + json.dumps([sys.executable, list(sys.version_info[:2])]))"
_GROUP = """
def limit(*files):
    for file in files:
        try:
            text = open("/sys/fs/cgroup/" + file).read().strip()
        except OSError:
            continue
        return int(text) if text.isdigit() else 1 << 63
    return 1 << 63
print()
print(limit("memory.max", "memory/memory.limit_in_bytes"), limit("pids.max", "pids/pids.max"))
"""
_NOT_THERE = "its control group has no such limit"
LABEL = "benchsite"
OLDEST = [3, 9]
MOST = 1 << 14
DIGEST = "sha256:"


@dataclass(frozen=True)
class Image:
    """An image as this machine has it; `options` are what the engine needs to run anything of it here."""

    name: str
    id: str
    python: str
    env: tuple[tuple[str, str], ...]
    options: tuple[str, ...]


def missing() -> str:
    """Say that no program makes containers here, and what to do."""
    wanted = os.environ.get(CHOICE)
    found = f"{wanted!r}, which {CHOICE} names, was not found" if wanted else "neither program was found"
    return f"Containers need podman or docker, and {found}: install the package 'podman'."


def engine() -> str:
    """The path of podman, or else of docker; "" where neither is there. BENCHSITE_CONTAINERS names one of the two."""
    wanted = os.environ.get(CHOICE)
    search = os.environ.get("PATH", SYSTEM_PATH) + os.pathsep + SYSTEM_PATH
    found = (shutil.which(name, path=search) for name in ((wanted,) if wanted else PROGRAMS))
    return next(filter(None, found), "")


def is_podman() -> bool:
    return os.path.basename(engine()).startswith("podman")  # noqa: PTH119  a word


def client_env() -> dict[str, str]:
    """What the command line itself may need; nothing of it reaches a container."""
    return {name: value for name, value in os.environ.items() if _PASSED.fullmatch(name)}


def ask(*words: str, timeout: float = PATIENCE) -> tuple[bool, str]:
    """Run the engine once and give what it said."""
    done, said = output_of([engine(), *words], cwd="/", env=client_env(), timeout=timeout)
    return done.ok, said.strip()


@functools.lru_cache(maxsize=4)
def version(program: str) -> str:
    """Ask docker for its daemon's version: the command line alone runs nothing."""
    name = os.path.basename(program)  # noqa: PTH119
    works, said = ask("version", "--format", "{{.Client.Version}}" if is_podman() else "{{.Server.Version}}")
    if not works:
        raise EnvironmentRefused(f"{name} does not answer: {last_line(said)}")
    return f"{name} {last_said(said)}"


def last_line(said: str) -> str:
    lines = [line for line in said.splitlines() if line.strip()]
    return lines[-1].strip().rstrip(".") + "." if lines else "it said nothing."


def own_limits() -> tuple[str, ...]:
    """Engines raise these for a container, which a runner without CAP_SYS_RESOURCE may not."""
    files, processes = (resource.getrlimit(which)[1] for which in (resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC))
    found = [] if files == resource.RLIM_INFINITY else ["--ulimit", f"nofile={files}:{files}"]
    if processes != resource.RLIM_INFINITY:
        most = min(processes // 2, MOST)  # podman itself may not hand on all that it has
        found += ["--ulimit", f"nproc={most}:{most}"]
    return tuple(found)


def image(name: str) -> Image:
    """Look an image up and run its Python once; raises EnvironmentRefused for one that cannot be an environment."""
    if not name:
        raise EnvironmentRefused(
            "A container needs an image: declare image='...' in bench.py, or @pytest.mark.environment(image='...')."
        )
    return _by_digest(name) if name.startswith(DIGEST) else _looked_up(name)


@functools.lru_cache(maxsize=32)
def _by_digest(name: str) -> Image:
    """What a digest names never changes: a server looks it up once for all its trials."""
    return _looked_up(name)


def _looked_up(name: str) -> Image:
    works, said = ask("image", "inspect", "--format", "{{.Id}} {{json .Config.Env}}", name)
    if not works:
        tool = os.path.basename(engine())  # noqa: PTH119
        raise EnvironmentRefused(f"The image {name!r} is not on this machine: get it with `{tool} pull {name}`.")
    identity, _, env = last_said(said).partition(" ")
    return _tried(name, identity.removeprefix(DIGEST), env)


def name_for(what: str) -> str:
    """Name a container by this process, so that one whose owner is gone is known as left behind."""
    return "{}-{}-{}-{}".format(LABEL, *keeper.process_of(os.getpid()), what).lower()


def named(name: str) -> tuple[str, ...]:
    return "--name", name, "--label", f"{LABEL}=1"


def _probe() -> tuple[str, ...]:
    """How a container is started that only tells something: whoever is killed meanwhile leaves it behind by name."""
    return "run", "--rm", *named(name_for(f"probe-{secrets.token_hex(4)}"))


def last_said(said: str) -> str:
    return said.splitlines()[-1] if said else ""


@functools.lru_cache(maxsize=32)
def _tried(name: str, identity: str, env: str) -> Image:
    heard = []
    for runtime in RUNTIMES if is_podman() else RUNTIMES[:1]:
        options = (*runtime, *own_limits())
        alone = ("--network", "none", "--entrypoint", "python3")
        works, said = ask(*_probe(), *options, *alone, identity, "-c", _ASKED)
        if works:
            python, found = json.loads(last_said(said))
            if found < OLDEST:
                raise EnvironmentRefused(
                    f"The image {name!r} has Python {found[0]}.{found[1]}; it must be 3.9 or later."
                )
            return Image(name, f"{DIGEST}{identity}", python, _pairs(json.loads(env or "null")), options)
        if "python3" in said and ("not found" in said or "no such file" in said.lower()):
            raise EnvironmentRefused(
                f"The image {name!r} has no python3, which runs commands in a container; add Python 3.9 or later to it."
            )
        heard.append(last_line(said))
    raise EnvironmentRefused(f"The image {name!r} cannot be run here: {' '.join(dict.fromkeys(heard))}")


def has_slirp() -> bool:
    """podman's own network without a bridge, which takes neither root nor a firewall."""
    return is_podman() and bool(slirp.program(os.environ.get("PATH", SYSTEM_PATH) + os.pathsep + SYSTEM_PATH))


@functools.lru_cache(maxsize=32)
def limits_hold(found: Image, limits: tuple[str, ...], memory: int | None, processes: int | None) -> str:
    """Run one with these limits and read what its group says, since engines start without them too; "" where they
    hold."""
    words = (*_probe(), *found.options, *limits, "--network", "none", "--entrypoint", found.python, found.id, "-c")
    works, said = ask(*words, _GROUP)
    *told, numbers = said.splitlines() or [""]
    if works:
        wanted = {"memory": memory, "processes": processes}
        most = zip(wanted.items(), map(int, numbers.split()), strict=True)
        missed = [name for (name, limit), held in most if limit is not None and held > limit]
        if not missed:
            return ""
        return f"The container cannot limit {' and '.join(missed)} here: {last_line(chr(10).join(told) or _NOT_THERE)}"
    return f"The container's limits ({' '.join(limits)}) cannot be held here: {last_line(said)}"


def _pairs(rows: Any) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, _, value in (str(row).partition("=") for row in rows or ()))
