"""Plays steps in the current folder: the process behind `scripted`, `oracle` and `noop`. Standard library only.

Started as `python -I -S player.py STEPS` (steps written by marshal). It prints one JSON object for each
step it took. Importing json or pathlib would double the time that it takes to start, and every trial pays for it.
"""

# ruff: noqa: PTH101, PTH103, PTH107, PTH112, PTH114, PTH116, PTH119, PTH120, PTH123

from __future__ import annotations

import marshal
import os
import sys
import time
from _json import encode_basestring_ascii as quote

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing itself would cost a third of the start
    from typing import Any

MAX_OUTPUT = 64 << 10


class Refused(Exception):
    """A step that cannot be played; the script ends there with exit code 1, as a confused agent would."""


def tell(event: str, **fields: Any) -> None:
    sys.stdout.write(as_json({"event": event, **fields}) + "\n")
    sys.stdout.flush()


def as_json(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{quote(key)}: {as_json(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(as_json, value)) + "]"
    if isinstance(value, str):
        return quote(value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return repr(value)


def make_parents(path: str) -> None:
    if os.path.dirname(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)


def write(step: dict[str, Any]) -> None:
    make_parents(step["path"])
    data = step["text"].encode("utf-8", "surrogateescape")
    with open(step["path"], "wb") as file:
        file.write(data)
    if step.get("mode") is not None:
        mode = step["mode"]
        os.chmod(step["path"], int(mode, 8) if isinstance(mode, str) else mode)
    tell("write", path=step["path"], text=step["text"][:MAX_OUTPUT], size=len(data))


def patch(step: dict[str, Any]) -> None:
    with open(step["path"], encoding="utf-8", newline="") as file:
        text = file.read()
    if step["old"] not in text:
        raise Refused(f"{step['path']} does not hold the text to replace: {step['old'][:200]!r}")
    with open(step["path"], "w", encoding="utf-8", newline="") as file:
        file.write(text.replace(step["old"], step["new"], 1))
    tell("patch", path=step["path"], old=step["old"][:MAX_OUTPUT], new=step["new"][:MAX_OUTPUT])


def delete(step: dict[str, Any]) -> None:
    path = step["path"]
    if os.path.isdir(path) and not os.path.islink(path):
        import shutil

        shutil.rmtree(path)
    else:
        os.remove(path)
    tell("delete", path=path)


def run(step: dict[str, Any]) -> None:
    import subprocess
    import tempfile

    argv = [sys.executable if word == "{python}" else word for word in step["argv"]]
    with tempfile.TemporaryFile() as output:  # a file, not a pipe: a service left running must not hold us up
        try:
            code = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=output, stderr=output).returncode
        except OSError as error:
            output.write(f"{argv[0]}: {error.strerror}".encode())
            code = 127
        size = output.seek(0, os.SEEK_END)
        output.seek(max(0, size - MAX_OUTPUT))
        text = output.read().decode("utf-8", "replace")
    tell("run", argv=step["argv"], exit_code=code, output=text, cut=max(0, size - MAX_OUTPUT))


def copy(step: dict[str, Any]) -> None:
    """The oracle's own step: bring a prepared file into the world, mode included."""
    import shutil

    make_parents(step["path"])
    shutil.copyfile(step["source"], step["path"])
    shutil.copymode(step["source"], step["path"])
    os.chmod(step["path"], os.stat(step["path"]).st_mode | 0o200)
    tell("write", path=step["path"], size=os.stat(step["path"]).st_size)


def apply(step: dict[str, Any]) -> None:
    """The oracle's other step: apply a patch file with git, or with patch where there is no git."""
    import shutil
    import subprocess

    command = ["git", "apply", "--whitespace=nowarn"] if shutil.which("git") else ["patch", "-p1", "--batch", "-i"]
    done = subprocess.run([*command, step["source"]], stdin=subprocess.DEVNULL, capture_output=True)
    output = (done.stdout + done.stderr).decode("utf-8", "replace")[-MAX_OUTPUT:]
    tell("run", argv=[*command, os.path.basename(step["source"])], exit_code=done.returncode, output=output)
    if done.returncode:
        raise Refused(f"the patch {os.path.basename(step['source'])} does not apply: {output.strip()[-500:]}")


def say(step: dict[str, Any]) -> None:
    tell("say", text=step["text"])


def sleep(step: dict[str, Any]) -> None:
    tell("sleep", seconds=step["seconds"])
    time.sleep(step["seconds"])


def usage(step: dict[str, Any]) -> None:
    tell("usage", **{key: value for key, value in step.items() if key != "do"})


def crash(step: dict[str, Any]) -> None:
    tell("crash", exit=step["exit"])
    os._exit(step["exit"])


def loop(step: dict[str, Any]) -> None:
    """Run until killed, and be hard to kill: polite signals are ignored, a child leads a session of its own and has
    a child again whose parent is gone. Whoever stops this agent must find all three."""
    import signal

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.setsid()
        orphan = os.fork()
        if orphan == 0:
            middle = os.fork()
            if middle:
                os._exit(0)
            os.write(writing, f"{os.getpid()}\n".encode())
            spin()
        os.waitpid(orphan, 0)
        os.write(writing, f"{os.getpid()}\n".encode())
        spin()
    pids = [os.getpid(), *sorted(read_pids(reading))]
    tell("loop", pids=pids)
    spin()


def read_pids(reading: int) -> list[int]:
    text = b""
    while text.count(b"\n") < 2:
        text += os.read(reading, 100)
    return [int(line) for line in text.split()]


def spin() -> None:
    while True:
        time.sleep(0.05)


PLAYS = {play.__name__: play for play in (write, patch, delete, run, copy, apply, say, sleep, usage, crash, loop)}


def play_all(steps: list[dict[str, Any]]) -> int:
    for step in steps:
        try:
            PLAYS[step["do"]](step)
        except (OSError, UnicodeError, Refused) as error:
            tell("refused", do=step["do"], sentence=str(error))
            sys.stderr.write(f"The step {step['do']!r} could not be played: {error}\n")
            return 1
    return 0


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as steps_file:
        sys.exit(play_all(marshal.load(steps_file)))
