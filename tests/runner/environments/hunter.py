"""What a meddling agent does: it hunts for all that it must not see, and leaves what it can behind.

It is copied into a world and run there by an interpreter of its environment; what it finds goes into found.json.
"""

# ruff: noqa
import json
import os
import signal
import socket
import subprocess
import sys

CANARY = b"CANARY-"
aims = json.load(open("aims.json"))
found = {}


def look(kind, path):
    try:
        with open(path, "rb") as file:
            data = file.read(1 << 20)
    except (OSError, ValueError):
        return
    if CANARY in data:
        found.setdefault(kind, []).append(str(path))


def walk(kind, top, skipped=()):
    for folder, names, files in os.walk(top):
        names[:] = [name for name in names if os.path.join(folder, name) not in skipped]
        for name in files:
            if name.startswith("canary"):
                look(kind, os.path.join(folder, name))


for kind in ("fixtures", "journal", "worlds", "home"):
    walk(kind, aims[kind])
if aims["harms"]:
    walk("anywhere", "/", {"/usr", "/proc", "/sys", "/dev", os.getcwd(), *aims["skipped"]})
for entry in filter(str.isdigit, os.listdir("/proc")):
    if entry != str(os.getpid()):
        for name in ("environ", "cmdline", "maps"):
            look("processes", f"/proc/{entry}/{name}")
        try:
            for number in os.listdir(f"/proc/{entry}/fd"):
                target = os.readlink(f"/proc/{entry}/fd/{number}")
                if target.startswith(("/", "socket:")) and not target.startswith(("/dev", "/out", "/workspace")):
                    found.setdefault("descriptors", []).append(f"{entry}: {target}")
            walk("processes", f"/proc/{entry}/root" + aims["home"])
        except OSError:
            pass
for folder, _, files in os.walk("/proc/sys"):
    found.setdefault("settings", []).extend(p for f in files if os.access(p := os.path.join(folder, f), os.W_OK))
if not found["settings"]:
    del found["settings"]
for host in ("127.0.0.1", "10.0.2.2", "localhost", socket.gethostname()):
    try:
        with socket.create_connection((host, aims["port"]), 2) as connection:
            if CANARY in connection.recv(100):
                found.setdefault("network", []).append(host)
    except OSError:
        pass
try:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect("\0" + aims["abstract"])
        found.setdefault("network", []).append("abstract socket")
except OSError:
    pass
json.dump(found, open("found.json", "w"))
subprocess.Popen(
    [sys.executable, "-c", "import time; time.sleep(600)", aims["left"]], start_new_session=True,
    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
)  # fmt: skip
if aims["harms"]:
    for device in ("null", "zero", "full", "random", "urandom", "tty"):
        try:
            os.utime("/dev/" + device, (1, 1))
        except OSError:
            pass
    for pid in (os.getppid(), 1, -1):
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.kill(pid, number)
            except OSError:
                pass
