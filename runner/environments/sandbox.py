"""The sandbox: one bubblewrap per trial, a root made of what is named and nothing else, a keeper as process 1."""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import socket
from collections.abc import Callable, Sequence
from pathlib import Path

from runner import keeper
from runner.definition import Isolation
from runner.errors import EnvironmentRefused, RunnerError
from runner.processes import Keeper, keeper_command, output_of
from runner.worlds.places import Place

from . import disk
from .base import HIDDEN, SHARED, SYSTEM_PATH, KeptSession, Needs, base_env, program_path
from .bubblewrap import (
    FIXTURES,
    HOME,
    NOTHING_OF_OURS,
    OUT,
    QUIET,
    TMP,
    WORLD,
    bwrap,
    by_slirp,
    command,
    given_files,
    knows_sizes,
    own_network,
    search_path,
    version,
)
from .cgroups import Group, parents
from .limits import DiskWatch, Guard, by_process, limit_process
from .network import LOW, Proxy, Way, is_loopback, ways
from .roots import Root, read_only_root
from .slirp import Slirp, open_low_ports, program

_NO_SLIRP = (
    "The sandbox cannot hide this machine's loopback without a network of its own: install the package that has the "
    "program 'slirp4netns', and load the kernel's module tun."
)
_UNHELD = {
    "memory": "The sandbox cannot limit memory here: root is bound by a control group alone, and none can be made. "
    "Run as another user, or where /sys/fs/cgroup can be written.",
    "processes": "The sandbox cannot limit processes here: no control group can be made, and this kernel counts the "
    "processes of a sandbox only for a user who is not root, from version 5.14 on.",
    "disk": "The sandbox cannot limit disk here: that needs bubblewrap 0.7 or later, whose --size it uses.",
}


class Sandbox:
    name = "sandbox"
    isolation: Isolation = "sandbox"
    cuts_network = True
    carries: tuple[str, ...] = (WORLD, HOME, TMP)

    def version(self) -> str:
        return version()

    def refusal(self, needs: Needs) -> str:
        if needs.image:
            return "The sandbox shows this machine's own programs and has no images; use environment='container'."
        if needs.loopback == HIDDEN and needs.network == "open" and not own_network():
            return _NO_SLIRP
        try:
            ways(needs.endpoint, needs.allow)
        except (EnvironmentRefused, ValueError) as error:
            return str(error) if needs.network == "none" else ""
        return next((_UNHELD[name] for name in needs.limits.declared if not _holder(name, needs)), "")

    def holding(self, needs: Needs) -> dict[str, str]:
        held = {name: _holder(name, needs) for name in needs.limits.declared}
        if needs.network == "none":
            return held | {"network": "a network namespace of its own"}
        return held | {"loopback": HIDDEN if own_network() and _slirp_works() else SHARED}

    def open(self, place: Place, needs: Needs) -> KeptSession:
        """Start the namespace; everything in it ends with the session, or with this process."""
        root = read_only_root(needs.programs)
        refusal = self.refusal(needs) or _in_the_way(root) or _shown(root, place, needs)
        if refusal:
            raise EnvironmentRefused(refusal)
        found, group = _ways(needs), _group(place, needs)
        with contextlib.ExitStack() as undo:
            undo.callback(Guard(group).close)
            kept = _started(root, place, needs, found, group)
            undo.callback(kept.close)
            inner = _inner(kept)
            limit_process(inner, needs.limits, group)
            closing: list[Callable[[], None]] = []
            if by_slirp(needs):
                closing.append(Slirp(program(search_path()), inner).close)
                undo.callback(closing[-1])
            if any(way.port < LOW for way in found):
                open_low_ports(inner)
            if found:
                closing.append(Proxy(found, kept.listen).close)
            undo.pop_all()
        return _session(kept, root, place, needs, inner, Guard(group, _watch(place, needs), needs.wall), closing)


ENVIRONMENT = Sandbox()


def _started(root: Root, place: Place, needs: Needs, found: Sequence[Way], group: Group | None) -> Keeper:
    ours, theirs = socket.socketpair()
    errors = os.memfd_create("bwrap")
    try:
        with theirs, given_files(needs, found) as files:  # ours must be the only end here: its end tells of a death
            argv = [*command(root, place, needs, files), "--", *keeper_command(theirs.fileno())]
            argv = group.joining(argv) if group else argv
            kept = Keeper.started(ours, argv, theirs, stderr=errors, given=list(files.values()))
        try:
            kept.wait_ready()
        except BaseException as error:
            kept.close()
            said = os.pread(errors, 2000, 0).decode(errors="replace").strip()
            raise EnvironmentRefused(f"The sandbox did not start: {said or error}") from error
    finally:
        os.close(errors)
    return kept


def _session(
    kept: Keeper, root: Root, place: Place, needs: Needs, inner: int, guard: Guard, closing: list[Callable[[], None]]
) -> KeptSession:
    """Where disk is only watched, HOME and /tmp are in memory: this machine sees them through process 1."""
    home, tmp = place.home, place.tmp
    if needs.limits.disk is not None and needs.wall is None:
        home, tmp = (Path(f"/proc/{inner}/root{inside}") for inside in (HOME, TMP))
    pairs = ((place.world, WORLD), (home, HOME), (tmp, TMP), (place.home, HOME), (place.tmp, TMP), (place.out, OUT))
    fixtures = () if needs.fixtures is None else ((needs.fixtures, FIXTURES),)
    inside = (*pairs, *fixtures, *((folder, str(folder)) for folder in root.visible()))
    own = ((WORLD, place.world), (HOME, home), (TMP, tmp))
    base = base_env(HOME, TMP, program_path(needs.programs, SYSTEM_PATH))
    return KeptSession(kept, WORLD, base, inside, own, home=home, guard=guard, closing=closing)


def _ways(needs: Needs) -> tuple[Way, ...]:
    """Without a network all that is allowed is led through the runner, with one a model on this machine's loopback."""
    if needs.network == "none":
        return ways(needs.endpoint, needs.allow)
    return ways(needs.endpoint) if by_slirp(needs) and is_loopback(needs.endpoint) else ()


def _group(place: Place, needs: Needs) -> Group | None:
    found, limits = parents(), needs.limits
    if found is None or not limits.by_group:
        return None
    return Group.made(found, f"{place.root.parent.name}-{place.root.name}", limits.memory, limits.processes)


def _watch(place: Place, needs: Needs) -> DiskWatch | None:
    """What commands print lies behind no wall: who filled the disk can still say so."""
    folders = (place.out,) if needs.wall else (place.world, place.out)
    return None if needs.limits.disk is None else DiskWatch(folders, needs.limits.disk)


def _holder(name: str, needs: Needs) -> str:
    """What holds a limit here; "" where nothing does."""
    if name == "disk":
        return disk.held_by(needs.limits, ENVIRONMENT.name)[0] if knows_sizes() else ""
    return f"cgroup v{found.version}" if (found := parents()) else by_process(name)


def _inner(kept: Keeper) -> int:
    """Process 1 of the sandbox, as this machine numbers it."""
    return next(iter(keeper.descendants(kept.pid)))[0]


@functools.lru_cache(maxsize=1)
def _slirp_works() -> bool:
    """Found out by giving a sandbox that does nothing a network."""
    ours, theirs = socket.socketpair()
    with theirs:
        argv = [bwrap(), *NOTHING_OF_OURS, *keeper_command(theirs.fileno())]
        kept = Keeper.started(ours, argv, theirs)
    try:
        kept.wait_ready()
        Slirp(program(search_path()), _inner(kept)).close()
    except (RunnerError, OSError, StopIteration):
        return False
    finally:
        kept.close()
    return True


@functools.lru_cache(maxsize=1)
def unusable() -> str:
    """Say why the sandbox cannot be used here; found out by running one, since kernels refuse in many ways."""
    if not shutil.which("bwrap", path=search_path()):
        return "The sandbox needs bubblewrap: install the package that has the program 'bwrap'."
    argv = [bwrap(), *NOTHING_OF_OURS, "/bin/sh", "-c", "exit 0"]
    done, said = output_of(argv, cwd="/", env=QUIET, timeout=20)
    if done.ok:
        return _in_the_way(read_only_root())
    return f"The sandbox does not work here: {said.strip().splitlines()[-1] if said.strip() else 'bwrap said nothing'}."


def _in_the_way(root: Root) -> str:
    """What lies where the trial's places are shown cannot be shown itself, or it would be part of the world."""
    taken = [Path(place) for place in (WORLD, HOME, OUT, FIXTURES)]
    for folder in root.visible():
        for place in taken:
            if folder == place or place in folder.parents:
                return f"The sandbox cannot show {folder}, because {place} is the trial's own place there; move it."
    return ""


def _shown(root: Root, place: Place, needs: Needs) -> str:
    """What must not be seen may not lie in a folder that is: a venv around the bench would show the fixtures."""
    for secret in (*needs.hidden, place.root):
        real = Path(os.path.realpath(secret))
        for folder in root.visible():
            shown = Path(os.path.realpath(folder))
            if real == shown or shown in real.parents:
                return (
                    f"The sandbox would show {secret} to the agent, because it lies in {folder}, which the interpreter "
                    "or the agent's program needs; move one of them."
                )
    return ""
