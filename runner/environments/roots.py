"""The read-only root of a sandbox: an allow-list of what programs need, and never what tells about this machine."""

from __future__ import annotations

import functools
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import runner

LINKED = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
ETC = (
    "alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "passwd", "group", "nsswitch.conf", "hosts",
    "host.conf", "resolv.conf", "gai.conf", "localtime", "timezone", "locale.alias", "locale.conf", "mime.types",
    "magic", "protocols", "services", "terminfo", "inputrc", "bash.bashrc", "profile", "debian_version", "os-release",
    "lsb-release", "fonts", "ca-certificates", "ca-certificates.conf", "ssl/certs", "ssl/openssl.cnf", "pki/tls/certs",
    "pki/ca-trust/extracted", "crypto-policies/back-ends", "java-17-openjdk", "java-21-openjdk", "perl", "python3",
    "python3.11", "python3.12", "python3.13", "ImageMagick-6", "ImageMagick-7",
)  # fmt: skip
"""Named entries of /etc: never shadow, sudoers, keys, or what another program may have put there."""
TOO_WIDE = frozenset({
    "/", "/root", "/home", "/etc", "/var", "/run", "/srv", "/tmp", "/opt", "/mnt", "/media", "/proc", "/sys", "/dev",
    "/boot",
})  # fmt: skip
"""Never shown as a whole because a program lies directly in them: then the program's file alone is."""


@dataclass(frozen=True)
class Root:
    links: tuple[tuple[str, str], ...]
    """(what it points to, where)."""
    bound: tuple[Path, ...]

    def arguments(self) -> list[str]:
        argv = []
        for folder in self.bound:
            argv += ["--ro-bind", str(folder), str(folder)]
        for target, place in self.links:
            argv += ["--symlink", target, place]
        return argv

    def visible(self) -> tuple[Path, ...]:
        return self.bound


@functools.lru_cache(maxsize=64)
def read_only_root(programs: tuple[Path, ...] = ()) -> Root:
    """Put the root together: /usr, named files of /etc, this interpreter, this package, and the agent's programs."""
    links, bound = [], [Path("/usr")]
    for name in LINKED:
        path = Path("/") / name
        if path.is_symlink():
            links.append((os.readlink(path), str(path)))  # noqa: PTH115  kept as written, relative or not
        elif path.is_dir():
            bound.append(path)
    etc = [Path("/etc") / name for name in ETC]
    bound += [path for path in etc if path.exists()]
    wanted = [*_interpreter(), *(folder for program in programs for folder in _of_program(program))]
    linked = [Path(place) for _, place in links]
    return Root(tuple(links), _without_inner(bound, linked, wanted))


def _interpreter() -> list[Path]:
    """A virtual environment, the installation behind it, and the runner itself, where they are on the host."""
    package = Path(runner.__file__).parent
    return [Path(sys.prefix), Path(sys.base_prefix), Path(os.path.realpath(sys.prefix)), package]


def _of_program(program: Path) -> list[Path]:
    """A program's folder, the file behind its link, and the whole of a node package's tree."""
    if program.is_dir():
        return [program]
    real = Path(os.path.realpath(program))
    return [_folder_or_file(program), *([_package(real)] if real != program else [])]


def _package(real: Path) -> Path:
    parts = real.parts
    if "node_modules" in parts:
        return Path(*parts[: parts.index("node_modules") + 1])
    return _folder_or_file(real)


def _folder_or_file(program: Path) -> Path:
    folder = program.parent
    return program if str(folder) in TOO_WIDE or folder == Path.home() else folder


def _without_inner(bound: list[Path], linked: list[Path], wanted: list[Path]) -> tuple[Path, ...]:
    """Leave out what lies in a folder that is there anyway; where a link stands (/bin), it would be in its way."""
    kept = list(bound)
    for path in sorted(dict.fromkeys(wanted), key=lambda one: len(one.parts)):
        covered = any(path == one or one in path.parents for one in (*kept, *linked))
        if not covered and str(path) not in TOO_WIDE and path.exists():
            kept.append(path)
    return tuple(kept)
