"""The house has floors: an import may only go down."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROOMS = ("accounts", "jobs", "benches", "runs", "artifacts", "curation")
WORKSHOPS = ("importers", "diffs")
DOORS = ("web", "api", "admin", "tasks", "management")
COMMON = ("env", "settings", "checks", "apps", "urls", "celery", "wsgi", "staticfiles")


def imports(file: Path) -> set[str]:
    """Name every module a file imports, relative ones made absolute."""
    package = list(file.relative_to(ROOT).with_suffix("").parts[:-1])
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            found |= {module, *(f"{module}.{alias.name}" for alias in node.names)}
    return found


def part(name: str) -> str | None:
    """Name the part of the site a module belongs to, None outside it."""
    pieces = name.split(".")
    return pieces[1] if pieces[0] == "benchsite" and len(pieces) > 1 else None


def allowed(here: str) -> set[str]:
    """Name the parts that a part may see, itself included."""
    if here in ROOMS:
        return set(ROOMS[: ROOMS.index(here) + 1])
    if here in WORKSHOPS:
        return {here}
    if here == "flows":
        return {"flows", *ROOMS, *WORKSHOPS}
    if here == "readings":
        return {"readings", "flows", *ROOMS, *WORKSHOPS}
    if here in DOORS:
        return {here, "readings", "flows", *ROOMS, *WORKSHOPS}
    return {*COMMON, *ROOMS, *WORKSHOPS, "flows", "readings", *DOORS}


def python_files(folder: str) -> list[Path]:
    return sorted(file for file in (ROOT / folder).rglob("*.py") if "migrations" not in file.parts)


@pytest.mark.parametrize("file", python_files("benchsite"), ids=lambda file: str(file.relative_to(ROOT)))
def test_the_site_imports_only_downwards(file: Path) -> None:
    here = part(".".join(file.relative_to(ROOT).with_suffix("").parts))
    if here is None:
        return
    seen = {target for name in imports(file) if (target := part(name))} - {"env", "settings"}
    known = {*ROOMS, *WORKSHOPS, *DOORS, *COMMON, "flows", "readings"}
    wrong = {target for target in seen & known if target not in allowed(here)}
    assert not wrong, f"{file.relative_to(ROOT)} stands on the floor of {here} and imports {sorted(wrong)}"


@pytest.mark.parametrize("file", python_files("runner"), ids=lambda file: str(file.relative_to(ROOT)))
def test_the_runner_works_without_the_site(file: Path) -> None:
    tops = {name.split(".")[0] for name in imports(file)}
    assert not tops & {"django", "celery", "benchsite", "ninja", "kombu"}


def test_importing_the_runner_loads_neither_django_nor_celery() -> None:
    import subprocess

    program = "import runner, sys; print([m for m in ('django', 'celery', 'benchsite', 'numpy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"


def test_files_stay_rooms_not_halls() -> None:
    long = {
        str(file.relative_to(ROOT)): lines
        for folder in ("runner", "benchsite", "tests")
        for file in python_files(folder)
        if (lines := len(file.read_text(encoding="utf-8").splitlines())) > 350
    }
    assert not long, f"files over 350 lines want a wall: {long}"
