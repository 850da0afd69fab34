"""Facts about harness and machine that a result may depend on. No host name, no user: results are shown to others."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

from .manifest import PROTOCOL


def harness_facts() -> dict[str, Any]:
    return {
        "name": "benchsite",
        "version": _version("benchsite"),
        "protocol": PROTOCOL,
        "python": platform.python_version(),
        "pytest": _version("pytest"),
    }


def host_facts() -> dict[str, Any]:
    facts = {
        "system": platform.system(),
        "kernel": platform.release(),
        "machine": platform.machine(),
        "distribution": _distribution(),
        "cpu": _cpu(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
    }
    return {name: value for name, value in facts.items() if value}


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "unknown"


def _distribution() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:
        return ""


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
