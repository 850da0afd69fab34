"""Mounting a world over its sealed template, in a mount namespace that ends with the trial and leaves nothing behind.

Also a script (`python -I -S mounting.py`), so it imports nothing of ours: a namespace can't be tried in the runner's
own process, which has threads and goes on.

  LOWER LAYERS WORLD            try every style and print one line for each: its name, "ok", "flat" or why not
  --in STYLE LOWER LAYERS WORLD COMMAND ...   mount and become the command
  --join USER MNT COMMAND ...   enter the namespaces of a process ("-" for none) and become the command
"""

from __future__ import annotations

import ctypes
import os
import sys

CLONE_NEWNS, CLONE_NEWUSER = 0x00020000, 0x10000000
MS_NOSUID, MS_NODEV, MS_BIND, MS_REC, MS_SLAVE = 0x2, 0x4, 0x1000, 0x4000, 0x80000
CAPABILITY_VERSION_3 = 0x20080522
UPPER, WORK = "upper", "work"

TRUSTED, OWN, USER = "trusted", "own", "user"
STYLES = (TRUSTED, OWN, USER)
"""From best to last resort: root with its own marks on files; root of a container, whose marks anybody could write;
anybody, in a user namespace. Without trusted marks the kernel renames no folder of the template (EXDEV)."""
OPTIONS = {
    TRUSTED: "redirect_dir=on,metacopy=off,index=off",
    OWN: "userxattr,metacopy=off,index=off",
    USER: "userxattr,metacopy=off,index=off",
}
MARKS = {TRUSTED: "trusted.overlay.", OWN: "user.overlay.", USER: "user.overlay."}
"""Where the kernel keeps what it must remember about a folder of the upper layer."""

_libc = ctypes.CDLL(None, use_errno=True)


def mount(style: str, lower: str, layers: str, world: str, *, as_root: bool = False) -> None:
    """Put this process into a mount namespace of its own where `world` is `lower` with `layers` over it; OSError where
    the kernel refuses. With `as_root`, a user namespace has this user as root, and the powers stay."""
    enter(style == USER, as_root=as_root)
    below, above = _open(lower), _open(layers)
    try:
        # by descriptors: a path may hold commas and colons, and may be longer than the kernel's page of options
        own = f"/proc/self/fd/{above}"
        options = f"lowerdir=/proc/self/fd/{below},upperdir={own}/{UPPER},workdir={own}/{WORK},{OPTIONS[style]}"
        _call("mount", b"overlay", os.fsencode(world), b"overlay", 0, options.encode())
    finally:
        os.close(below)
        os.close(above)
    if style == USER and not as_root:
        drop_powers()


def enter(user: bool, *, as_root: bool = False) -> None:
    """Give this process mounts of its own; with `user` by a user namespace, in which it may mount."""
    ids = os.geteuid(), os.getegid()
    _call("unshare", CLONE_NEWNS | (CLONE_NEWUSER if user else 0))
    if user:
        _map_ids(*ids, as_root=as_root)
    _call("mount", None, b"/", None, MS_REC | MS_SLAVE, None)  # unmounting on the host goes on to reach in here


def mount_memory(folder: str, size: int, files: int) -> None:
    options = f"size={size},nr_inodes={files},mode=755"
    _call("mount", b"tmpfs", os.fsencode(folder), b"tmpfs", MS_NOSUID | MS_NODEV, options.encode())


def bind(source: str, folder: str) -> None:
    _call("mount", os.fsencode(source), os.fsencode(folder), None, MS_BIND, None)


def join(user: str, mounts: str) -> None:
    """Go where another process mounted: by paths of its namespaces; `user` is "-" where it has none of its own."""
    wanted = [(user, CLONE_NEWUSER), (mounts, CLONE_NEWNS)] if user != "-" else [(mounts, CLONE_NEWNS)]
    opened = [(os.open(path, os.O_RDONLY | os.O_CLOEXEC), kind) for path, kind in wanted]  # from inside none could be
    for descriptor, kind in opened:
        _call("setns", descriptor, kind)
        os.close(descriptor)


def _open(folder: str) -> int:
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)


def _map_ids(uid: int, gid: int, *, as_root: bool) -> None:
    for name, line in (
        ("setgroups", "deny"),
        ("uid_map", f"{0 if as_root else uid} {uid} 1"),
        ("gid_map", f"{0 if as_root else gid} {gid} 1"),
    ):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:  # noqa: PTH123  no pathlib: it takes 5 ms
            file.write(line)


def drop_powers() -> None:
    """A new user namespace makes its first process almighty in it; a scenario is to have no more power than it had."""
    header, none = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0), (ctypes.c_uint32 * 6)()
    _call("capset", header, none)


def _call(name: str, *arguments: object) -> None:
    if getattr(_libc, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def make_layers(layers: str) -> None:
    for folder in (layers, f"{layers}/{UPPER}", f"{layers}/{WORK}"):
        os.mkdir(folder)  # noqa: PTH102


def _try(style: str, lower: str, layers: str, world: str) -> str:
    """Do in a child what a trial would do: "ok", "flat" where folders cannot be renamed, or why it cannot be done."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            make_layers(layers)
            mount(style, lower, layers, world)
            said = _used(world)
        except OSError as error:
            said = error.strerror or str(error)
        os.write(writer, said.encode())
        os._exit(0)
    os.close(writer)
    os.waitpid(pid, 0)
    with os.fdopen(reader, "rb") as file:
        return file.read().decode() or "it died"


def _used(world: str) -> str:
    """Write, remove and rename as agents do: kernels that mount may still refuse these."""
    folders: list[str] = []
    files: list[str] = []
    for name in sorted(os.listdir(world)):  # noqa: PTH208
        path = f"{world}/{name}"
        (folders if os.path.isdir(path) and not os.path.islink(path) else files).append(path)  # noqa: PTH112, PTH114
    os.mkdir(f"{world}/.tried")  # noqa: PTH102
    os.rmdir(f"{world}/.tried")  # noqa: PTH106
    if files:
        os.rename(files[0], f"{world}/.tried")  # noqa: PTH104
        os.mkdir(files[0])  # noqa: PTH102  in the place of a file that is gone: this takes a mark
    if folders:
        try:
            os.rename(folders[0], f"{world}/.renamed")  # noqa: PTH104
        except OSError:
            return "flat"
    return "ok"


def main(arguments: list[str]) -> int:
    if arguments[0] == "--in":
        style, lower, layers, world, *command = arguments[1:]
        mount(style, lower, layers, world, as_root=True)
        os.execvp(command[0], command)
    if arguments[0] == "--join":
        join(*arguments[1:3])
        os.execvp(arguments[3], arguments[3:])
    lower, layers, world = arguments
    for style in STYLES:
        print(style, _try(style, lower, f"{layers}-{style}", world), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
