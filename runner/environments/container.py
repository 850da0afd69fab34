"""The container: one per trial, of an image the bench names, with the keeper as process 1 over a socket of its own."""

from __future__ import annotations

import contextlib
import functools
import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import runner
from runner import keeper
from runner.definition import Isolation
from runner.errors import EnvironmentRefused
from runner.processes import Keeper
from runner.worlds.places import Place

from . import disk, engines, reserving
from .base import HIDDEN, SYSTEM_PATH, KeptSession, Needs, base_env
from .bubblewrap import FIXTURES, HOME, OUT, TMP, WORLD
from .cgroups import Group, of_process
from .engines import Image
from .limits import DiskWatch, Guard
from .network import LOW, Proxy, Way, is_loopback, ways

DOOR = "/run/benchsite"
"""Where process 1 finds the socket; the runner shuts it once process 1 has come through."""
BOOT = (
    "import _socket, sys; s = _socket.socket(1); s.connect(sys.argv[1]); files = sys.argv[2:]; "
    "sys.argv = ['keeper', str(s.detach())]\n"
    "for p in files: exec(compile(open(p, 'rb').read(), p, 'exec'), {'__name__': '__main__'})"
)
STARTING = 120
OWN = 1
"""The process that a container needs for itself."""
CGROUP = "the container's cgroup"
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/proc", "/sys", "/dev")
"""What lies below these is the image's own business: this machine's files are not laid over it (but /usr/local is)."""


class Container:
    name = "container"
    isolation: Isolation = "container"
    cuts_network = True
    carries: tuple[str, ...] = (WORLD, HOME, TMP)

    def version(self) -> str:
        return engines.version(engines.engine())

    def refusal(self, needs: Needs) -> str:
        try:
            engines.image(needs.image)
            if needs.network == "none":
                ways(needs.endpoint, needs.allow)
            return _unheld(needs) if needs.limits.by_group else ""
        except (EnvironmentRefused, ValueError) as error:
            return str(error)

    def holding(self, needs: Needs) -> dict[str, str]:
        held = {
            name: CGROUP if name != "disk" else disk.held_by(needs.limits, self.name)[0]
            for name in needs.limits.declared
        }
        found = {"image": engines.image(needs.image).id, **held}
        if needs.network == "none":
            return found | {"network": "a network namespace of its own"}
        return found | {"loopback": HIDDEN}

    def open(self, place: Place, needs: Needs) -> KeptSession:
        """Start the container; everything in it ends with the session, or with this process."""
        image = engines.image(needs.image)
        found = _ways(needs)
        name = engines.name_for(f"{place.root.parent.name}-{place.root.name}")
        with contextlib.ExitStack() as undo:
            undo.callback(remove, name)
            kept, client, inner = _started(name, image, place, needs, found)
            undo.callback(kept.close)
            group = _checked(inner, needs)
            closing: list[Callable[[], None]] = [functools.partial(_remove_left, client, name)]
            if found:
                closing.append(Proxy(found, kept.listen).close)
            undo.pop_all()
        return _session(kept, image, place, needs, Guard(group, _watch(place, needs), needs.wall), closing)


ENVIRONMENT = Container()


def unusable() -> str:
    """Say why there are no containers here; whether an image runs is found out when one is named."""
    if not engines.engine():
        return engines.missing()
    try:
        engines.version(engines.engine())
    except EnvironmentRefused as error:
        return str(error)
    return ""


def _session(
    kept: Keeper, image: Image, place: Place, needs: Needs, guard: Guard, closing: Sequence[Callable[[], None]]
) -> KeptSession:
    own = ((WORLD, place.world), (HOME, place.home), (TMP, place.tmp))
    shown = [(path, path) for path in _shown(needs)]
    pairs = [(outside, inside) for inside, outside in own] + [(place.out, OUT)] + [(p, str(p)) for p, _ in shown]
    if needs.fixtures is not None:
        pairs.append((needs.fixtures, FIXTURES))
    env = dict(image.env)
    base = {**env, **base_env(HOME, TMP, env.get("PATH", SYSTEM_PATH))}
    return KeptSession(
        kept, WORLD, base, pairs, own, home=place.home, guard=guard, closing=closing, python=image.python
    )


def _started(
    name: str, image: Image, place: Place, needs: Needs, found: Sequence[Way]
) -> tuple[Keeper, subprocess.Popen[bytes], int]:
    """Start the container, let its process 1 in, and shut the door behind it."""
    door, errors = place.root / "door", os.memfd_create("container")
    door.mkdir(mode=0o700, exist_ok=True)
    folder = os.open(door, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(f"/proc/self/fd/{folder}/socket")  # the path itself may be longer than an address can be
            listening.listen(1)
            null = subprocess.DEVNULL
            client = subprocess.Popen(
                _command(name, image, place, needs, found), stdin=null, stdout=null, stderr=errors,
                env=engines.client_env(), start_new_session=True,
                cwd=place.root,  # podman's monitor leaves a file `oom` where it was started
            )  # fmt: skip
            came = _let_in(client, listening)
        if came is None:
            _kill(client)
            said = os.pread(errors, 4000, 0).decode(errors="replace")
            raise EnvironmentRefused(f"The container did not start: {engines.last_line(said)}")
        return Keeper(came, client.pid, client), client, _peer(came)
    finally:
        os.close(folder)
        os.close(errors)
        (door / "socket").unlink(missing_ok=True)


def _let_in(client: subprocess.Popen[bytes], listening: socket.socket) -> socket.socket | None:
    limit = time.monotonic() + STARTING
    while time.monotonic() < limit and client.poll() is None:
        if select.select([listening], [], [], 0.02)[0]:
            return listening.accept()[0]
    return None


def _peer(connection: socket.socket) -> int:
    """Process 1 of the container, as this machine numbers it."""
    return int.from_bytes(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)[:4], sys.byteorder)


def _command(name: str, image: Image, place: Place, needs: Needs, found: Sequence[Way]) -> list[str]:
    scripts = [keeper.__file__] if needs.limits.disk is None else [reserving.__file__, keeper.__file__]
    argv = [
        engines.engine(), "run", "--rm", *engines.named(name), "--label", f"{engines.LABEL}.place={place.root}",
        *image.options, "--hostname", "container", "--workdir", WORLD,
        "--security-opt", "no-new-privileges", "--cap-drop", "all", "--pull", "never", *_user(),
        *_network(needs, found), *_limits(needs),
    ]  # fmt: skip
    for outside, inside in ((place.world, WORLD), (place.home, HOME), (place.tmp, TMP)):
        argv += _mount(outside, inside)
    argv += _mount(place.out, OUT, read_only=needs.limits.disk is not None)  # what is printed comes by descriptors
    argv += _mount(place.root / "door", DOOR, read_only=True)
    if needs.fixtures is not None:
        argv += _mount(needs.fixtures, FIXTURES, read_only=True)
    for path in _shown(needs):
        argv += _mount(path, str(path), read_only=True)
    return [*argv, "--entrypoint", image.python, image.id, "-I", "-S", "-c", BOOT, f"{DOOR}/socket", *scripts]


def _user() -> list[str]:
    """Files belong to the runner's user: podman maps root inside to who runs it, docker's daemon does not."""
    return [] if engines.is_podman() else ["--user", f"{os.getuid()}:{os.getgid()}"]


def _network(needs: Needs, found: Sequence[Way]) -> list[str]:
    named = [way for way in found if way.name not in ("", "localhost")]
    argv = [part for way in named for part in ("--add-host", f"{way.name}:{way.address}")]
    if any(way.port < LOW for way in found):
        argv += ["--sysctl", "net.ipv4.ip_unprivileged_port_start=0"]
    if needs.network == "none":
        return ["--network", "none", *argv]
    return [*(("--network", "slirp4netns") if engines.has_slirp() else ()), *argv]


def _ways(needs: Needs) -> tuple[Way, ...]:
    if needs.network == "none":
        return ways(needs.endpoint, needs.allow)
    return ways(needs.endpoint) if is_loopback(needs.endpoint) else ()


def _limits(needs: Needs) -> list[str]:
    limits, argv = needs.limits, []
    if limits.memory is not None:
        argv += ["--memory", str(limits.memory), "--memory-swap", str(limits.memory)]
    if limits.processes is not None:
        argv += ["--pids-limit", str(limits.processes + OWN)]
    if limits.disk is not None:
        argv += ["--read-only", *(["--read-only-tmpfs=false"] if engines.is_podman() else [])]
        argv += ["--ulimit", f"fsize={limits.disk}:{limits.disk}"]
    return argv


def _unheld(needs: Needs) -> str:
    """Engines start without the limits that they cannot set: one is started to see."""
    limits, image = needs.limits, engines.image(needs.image)
    most = None if limits.processes is None else limits.processes + OWN
    return engines.limits_hold(image, tuple(_limits(needs)), limits.memory, most)


def _checked(inner: int, needs: Needs) -> Group | None:
    """The container's own group, where it can be seen, for telling which limits were reached."""
    return of_process(inner) if needs.limits.by_group else None


def _watch(place: Place, needs: Needs) -> DiskWatch | None:
    folders = (place.out,) if needs.wall else (place.world, place.home, place.tmp, place.out)
    return None if needs.limits.disk is None else DiskWatch(folders, needs.limits.disk)


def _shown(needs: Needs) -> tuple[Path, ...]:
    """The runner's own package, and the agent's program where it is not of this machine's system."""
    own = [Path(sys.prefix), Path(sys.base_prefix), Path(os.path.realpath(sys.prefix))]
    package = Path(runner.__file__).parent
    wanted = [path for path in needs.programs if path not in own and package not in (path, *path.parents)]
    foreign = [path for path in wanted if not any(Path(top) in path.parents for top in SYSTEM) or _is_local(path)]
    return tuple(dict.fromkeys([package, *(path for path in foreign if path.exists())]))


def _is_local(path: Path) -> bool:
    return Path("/usr/local") in path.parents


def _mount(outside: Path, inside: str, *, read_only: bool = False) -> list[str]:
    if "," in f"{outside}{inside}" or '"' in f"{outside}{inside}":
        raise EnvironmentRefused(f"{outside} cannot be shown in a container: its path holds a comma or a quote.")
    return ["--mount", f"type=bind,source={outside},target={inside}{',readonly' if read_only else ''}"]


def _kill(client: subprocess.Popen[bytes]) -> None:
    client.kill()
    client.wait()


def _remove_left(client: subprocess.Popen[bytes], name: str) -> None:
    """A client that had to be killed may have left its container behind."""
    if (client.returncode or 0) < 0:
        remove(name)


def remove(name: str) -> None:
    engines.ask("rm", "--force", name)
