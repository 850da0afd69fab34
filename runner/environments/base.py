"""What an environment is: something that opens one session per trial, in which the agent and the suite run."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from runner.definition import Isolation
from runner.errors import PathRefused
from runner.paths import StrPath
from runner.processes import Done, Keeper, close_streams, open_streams
from runner.worlds.places import Place
from runner.worlds.walls import Wall

from .limits import Guard, Resources
from .transfer import Lies, Places, find, install

WORKSPACE = "/workspace"
"""The world, in every declared path and whatever the environment calls it."""
HIDDEN, SHARED = "hidden", "within reach"
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True)
class Needs:
    """What one trial needs of its environment. Nothing below a `hidden` path may be reachable from inside."""

    programs: tuple[Path, ...] = ()
    fixtures: Path | None = None
    network: str = "open"
    endpoint: str | None = None
    hidden: tuple[Path, ...] = ()
    allow: tuple[str, ...] = ()
    """Hosts that network "none" reaches all the same."""
    loopback: str = ""
    """Of this machine, in network "open": HIDDEN, SHARED, or "" for hidden where that can be had."""
    limits: Resources = Resources()  # noqa: RUF009  a frozen record, safe to share
    image: str = ""
    wall: Wall | None = None
    """What holds the limit of disk, where that is not only watched."""


class Session(Protocol):
    """An open environment. Commands run one after another; services they leave live until `close`."""

    @property
    def agent_path(self) -> str: ...

    def exec(
        self,
        argv: list[str],
        *,
        env: dict[str, str],
        stdin: StrPath | None = None,
        stdout: StrPath,
        stderr: StrPath,
        cwd: str | None = None,
        timeout: float | None = None,
    ) -> Done: ...

    def host_to_inside(self, path: StrPath) -> str: ...

    @property
    def home(self) -> str:
        """HOME as this machine reaches it while the session is open."""
        ...

    def get(self, path: str, into: Path, most: int) -> Lies:
        """Say where a path of the environment can be read on this machine. What lies in no folder of it is brought
        to `into` first, at most `most` bytes; what is not there is not there either. PathRefused: out of reach."""
        ...

    def put(self, source: Path, path: str) -> None:
        """Put a file or folder of this machine at a path of the environment; what stood there is replaced."""
        ...

    def close(self) -> None: ...


class Environment(Protocol):
    """A way to run trials; `isolation` is what it can promise on every page."""

    @property
    def name(self) -> str: ...

    @property
    def isolation(self) -> Isolation: ...

    @property
    def cuts_network(self) -> bool: ...

    @property
    def carries(self) -> tuple[str, ...]:
        """The folders inside, as a bench names them, that files can be carried out of and into."""
        ...

    def version(self) -> str: ...

    def refusal(self, needs: Needs) -> str:
        """Say which of a trial's limits and policies cannot be held here; "" where all can."""
        ...

    def holding(self, needs: Needs) -> dict[str, str]:
        """Say what holds each limit and policy, for the plan of a trial."""
        ...

    def open(self, place: Place, needs: Needs) -> Session: ...


class KeptSession:
    """A session over a keeper; the paths inside are what differs between environments. `own`: the trial's own folders,
    as the environment names them; files go in and out through these alone. `python`: the interpreter inside, for what
    is asked to run with the runner's own."""

    def __init__(
        self,
        keeper: Keeper,
        agent_path: str,
        base: Mapping[str, str],
        inside: Sequence[tuple[StrPath, str]],
        own: Places,
        *,
        home: StrPath,
        guard: Guard | None = None,
        closing: Sequence[Callable[[], None]] = (),
        python: str = sys.executable,
    ) -> None:
        self._keeper, self.agent_path, self._base = keeper, agent_path, base
        self._inside, self._own, self.home = inside, own, os.fspath(home)
        self._guard, self._closing = guard or Guard(), closing
        self._open, self._python = True, python

    def exec(
        self,
        argv: list[str],
        *,
        env: dict[str, str],
        stdin: StrPath | None = None,
        stdout: StrPath,
        stderr: StrPath,
        cwd: str | None = None,
        timeout: float | None = None,
    ) -> Done:
        """Run a command with the base environment and `env`; paths of streams are the host's, `cwd` is inside."""
        if self._python != sys.executable:
            argv = [self._python if word == sys.executable else word for word in argv]
        streams = open_streams(stdin, stdout, stderr)
        try:
            done = self._keeper.run(
                argv, env={**self._base, **env}, cwd=cwd or self.agent_path, streams=streams, timeout=timeout,
                watch=self._guard.watch,
            )  # fmt: skip
        finally:
            close_streams(streams)
        return self._guard.told(done)

    def host_to_inside(self, path: StrPath) -> str:
        text = os.fspath(path)
        for outside, inside in self._inside:
            folder = os.fspath(outside)
            if text == folder or text.startswith(folder.rstrip("/") + "/"):
                return inside + text[len(folder) :] if inside else text
        raise PathRefused(f"{path} cannot be seen from inside the environment.")

    def get(self, path: str, into: Path, most: int) -> Lies:
        return find(path, self._own)

    def put(self, source: Path, path: str) -> None:
        install(source, find(path, self._own))

    def close(self) -> None:
        """End every process of the session and what served it; closing twice does nothing."""
        if not self._open:
            return
        self._open = False
        _in_turn(self._keeper.close, *reversed(self._closing), self._guard.close)


def _in_turn(step: Callable[[], None], *rest: Callable[[], None]) -> None:
    """Take every step, whatever one of them raises."""
    try:
        step()
    finally:
        if rest:
            _in_turn(*rest)


def base_env(home: str, tmp: str, path: str) -> dict[str, str]:
    """The whole environment a command starts from: nothing of the runner's own leaks in."""
    return {
        "HOME": home,
        "TMPDIR": tmp,
        "XDG_CONFIG_HOME": f"{home}/.config",
        "XDG_CACHE_HOME": f"{home}/.cache",
        "XDG_DATA_HOME": f"{home}/.local/share",
        "XDG_STATE_HOME": f"{home}/.local/state",
        "PATH": path,
        "LANG": "C.UTF-8",
    }


@functools.lru_cache(maxsize=64)
def program_path(programs: tuple[Path, ...], rest: str) -> str:
    """PATH with the folders of the needed programs first; what stands on it already keeps its place."""
    known = rest.split(os.pathsep)
    folders = dict.fromkeys(str(program.parent) for program in programs if not program.is_dir())
    return os.pathsep.join([*(folder for folder in folders if folder not in known), *known])
