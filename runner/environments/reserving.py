"""Where disk is limited nobody may reserve what he does not write: that takes no time, and no watch is as quick.

The kernel (seccomp) refuses fallocate, and io_uring, which could ask for it unseen; C's library then writes instead.
Containers run this file before the keeper, so it imports nothing of ours.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct

LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000
NUMBER, MACHINE = 0, 4
"""Where the kernel shows a filter the number of a call, and for which machine it is meant."""
X32 = 0x40000000
FALLOCATE: dict[str, dict[int, tuple[int, ...]]] = {
    "x86_64": {0xC000003E: (285, 285 | X32), 0x40000003: (324,)},
    "aarch64": {0xC00000B7: (47,), 0x40000028: (352,)},
}
"""The call's numbers, for each kind of program that a machine runs."""
IO_URING_SETUP = 425, 425 | X32
PR_SET_SECCOMP, SECCOMP_MODE_FILTER, PR_SET_NO_NEW_PRIVS = 22, 2, 38


def program() -> bytes:
    """The filter, as the kernel takes it; empty on a machine whose numbers are not known here."""
    rows = [(LOAD, 0, 0, MACHINE)]
    for machine, numbers in FALLOCATE.get(platform.machine(), {}).items():
        refused = dict.fromkeys(numbers, errno.EOPNOTSUPP) | dict.fromkeys(IO_URING_SETUP, errno.ENOSYS)
        block = [(LOAD, 0, 0, NUMBER)]
        for number, error in refused.items():
            block += [(EQUAL, 0, 1, number), (RETURN, 0, 0, REFUSE | error)]
        rows += [(EQUAL, 0, len(block) + 1, machine), *block, (RETURN, 0, 0, ALLOW)]
    if len(rows) == 1:
        return b""
    return b"".join(struct.pack("=HBBI", *row) for row in [*rows, (RETURN, 0, 0, ALLOW)])


def forbid() -> None:
    """For this process and all that it will start."""
    code = program()
    if not code:
        return
    held = ctypes.create_string_buffer(code, len(code))
    filled = struct.pack("@HP", len(code) // struct.calcsize("=HBBI"), ctypes.addressof(held))
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    prctl.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]
    given = ctypes.create_string_buffer(filled, len(filled))
    if prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or prctl(
        PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(given), 0, 0
    ):
        number = ctypes.get_errno()
        raise OSError(number, f"No filter can be set: {os.strerror(number)}")


if __name__ == "__main__":
    forbid()
