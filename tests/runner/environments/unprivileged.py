"""Run as a user who is not root: opens sandboxes and prints as JSON what held. Needs nothing but the runner."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from runner.environments import sandbox
from runner.environments.base import Needs
from runner.environments.limits import Resources
from runner.worlds.places import make_place

FILLS = "head -c 9000000 /dev/zero > ~/big || echo full; rm ~/big; echo seen > ~/said"
PLACE = make_place("01NOBODY", 1, 1)
LISTENS = "import socket, sys; s = socket.create_connection(('example.invalid', 443), 5); print('led')"


def told(needs: Needs, *lines: str) -> list[str]:
    session, said = sandbox.ENVIRONMENT.open(PLACE, needs), []
    try:
        for line in lines:
            out = PLACE.out / "said"
            session.exec(["sh", "-c", line], env={}, stdout=out, stderr=out, timeout=120)
            said.append(out.read_text(errors="replace"))
        said.append((Path(session.home) / "said").read_text() if (Path(session.home) / "said").exists() else "")
    finally:
        session.close()
    return said


def main() -> dict[str, object]:
    python = sys.executable
    limits = Resources(memory=64 << 20, processes=20, disk=8 << 20)
    return {
        "held": sandbox.ENVIRONMENT.holding(Needs(limits=limits)),
        "memory": told(Needs(limits=limits), f"{python} -I -S -c 'bytearray(200 * 2**20)' && echo had it")[0],
        "processes": told(Needs(limits=limits), "b() { b | b & }; b; sleep 0.2", "echo there")[1],
        "disk": told(
            Needs(limits=limits), "head -c 9000000 /dev/zero > ~/big || echo full; rm ~/big; echo seen > ~/said"
        ),
        "low port": told(Needs(network="none", allow=("example.invalid",)), f'{python} -I -c "{LISTENS}"')[0],
        "network": told(Needs(), "cat /proc/net/dev")[0],
        "capabilities": told(Needs(), "cat /proc/self/status")[0],
        "world": Path(PLACE.world).is_dir(),
    }


if __name__ == "__main__":
    print(json.dumps(main()))
