"""`make test`: lint, types, every test on SQLite, and on PostgreSQL what asks a database.

Says what failed, what was left out, and how to get it.
"""

from __future__ import annotations

import argparse
import compileall
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

from tests import servers

ROOT = Path(__file__).parent.parent
NPM = ROOT / "var" / "npm"
AGENTS = ROOT / "var" / "agents"
FAILED = ROOT / "var" / "failed-tests"
NO_SKIPS = os.environ.get("BENCHSITE_NO_SKIPS") == "1"
PYTHON = sys.executable
WORKERS = str((os.cpu_count() or 1) + 1)
"""One more than there are cores: tests wait for processes, servers and a browser."""
PYTEST = ("pytest", "-q", "-n", WORKERS, "--dist", "loadscope", "--no-loadscope-reorder", "-m", "not perf")
ALONE = (PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider")
FEW_FILES = 3
"""Failures in more files than these are no bad luck."""
MIN_CHANGED_COVERAGE = 80
"""Per cent of changed lines that a test must have run."""


class Steps:
    """Run commands one after another, remember what failed and what could not be run."""

    def __init__(self) -> None:
        self.failed: list[str] = []
        self.left_out: list[str] = []
        self.unsteady: list[str] = []

    def run(self, name: str, *command: str, env: dict[str, str] | None = None, quiet: bool = True) -> bool:
        start = time.monotonic()
        done = subprocess.run(command, cwd=ROOT, env={**os.environ, **(env or {})}, capture_output=quiet, check=False)
        good = done.returncode == 0
        print(f"{'ok    ' if good else 'FAILED'} {name} ({time.monotonic() - start:.1f} s)", flush=True)
        if not good:
            self.failed.append(name)
            if quiet:
                sys.stdout.write(done.stdout.decode(errors="replace") + done.stderr.decode(errors="replace"))
                sys.stdout.flush()
        return good

    def run_tests(self, name: str, *command: str, env: dict[str, str] | None = None) -> None:
        """Run pytest, and remember which tests failed: the last lines of all name them.

        A few that failed beside others on a busy machine are asked once more, alone. What then passes does not stop
        the landing of other work, and is named too: it is unsteady, and somebody's to mend.
        """
        told = {**(env or {}), "FAILED_TESTS": str(FAILED)}
        FAILED.parent.mkdir(exist_ok=True)
        FAILED.unlink(missing_ok=True)
        if self.run(name, *command, env=told, quiet=False) or not FAILED.exists():
            return
        tests = FAILED.read_text().splitlines()
        if len({test.partition("::")[0] for test in tests}) <= FEW_FILES:
            FAILED.unlink()
            if self.run(f"{name}, those {len(tests)} alone", *ALONE, *tests, env=told, quiet=False):
                self.failed = [line for line in self.failed if line != name and not line.startswith(name + ",")]
                self.unsteady += [f"{name}: {test}" for test in tests]
                return
        self.failed += [f"  {name}: {test}" for test in tests]

    def leave_out(self, what: str, remedy: str) -> None:
        self.left_out.append(f"{what}; {remedy}")
        print(f"LEFT OUT {what}; {remedy}", flush=True)
        if NO_SKIPS:
            self.failed.append(what)


def main() -> int:
    parser = argparse.ArgumentParser(prog="make test", description=__doc__)
    parser.add_argument("--only", choices=("lint", "sqlite", "postgres"), help="run just this part")
    only = parser.parse_args().only
    steps = Steps()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # what one process has compiled, hundreds of others read
    for package in ("runner", "benchsite"):
        compileall.compile_dir(ROOT / package, quiet=2)
    with ThreadPoolExecutor() as beside:  # most of an installation is waiting
        npm = beside.submit(install_npm, steps)
        agents = beside.submit(install_agents, steps) if only in (None, "sqlite") else None
        if only in (None, "sqlite"):
            start_image()
        if only in (None, "lint"):
            lint(steps, npm)
    if npm.result():
        os.environ.setdefault("BENCHSITE_CLIS", str(NPM))
    if agents and agents.result():
        os.environ.setdefault("BENCHSITE_AGENTS", str(AGENTS))
    if only in (None, "sqlite"):
        tests_on_sqlite(steps)
    if only in (None, "postgres"):
        tests_on_postgres(steps)
    if only is None:
        coverage_of_changes(steps)
    for line in steps.left_out:
        print(f"Left out: {line}")
    for line in steps.unsteady:
        print(f"UNSTEADY, failed at first and passed alone: {line}")
    if steps.failed:
        print("Failed: " + "\n".join(steps.failed))
    return 1 if steps.failed else 0


def start_image() -> None:
    """Make the image for containers beside all else. Who needs it first waits for it, and says what failed."""
    null = subprocess.DEVNULL
    subprocess.Popen([PYTHON, "-m", "tests.image"], cwd=ROOT, stdin=null, stdout=null, stderr=null)


def install_npm(steps: Steps) -> bool:
    """Install the linters and command lines of tests/npm below var/, once per lock file."""
    lock = ROOT / "tests" / "npm" / "package-lock.json"
    stamp = NPM / ".installed"
    if stamp.exists() and stamp.read_text() == lock.read_text():
        return True
    if not shutil.which("npm"):
        steps.leave_out("biome, axe and the real agent command lines", "npm is needed (on Debian: apt install npm)")
        return False
    NPM.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copyfile(lock.parent / name, NPM / name)
    if not steps.run("npm packages", "npm", "ci", "--no-fund", "--no-audit", "--prefix", str(NPM)):
        return False
    stamp.write_text(lock.read_text())
    return True


def install_agents(steps: Steps) -> bool:
    """Install mini-swe-agent below var/, once per lock file: only what its start needs, in an environment of its own.

    A pip that came with an older Python takes twice as long over the long lists of files, so that pip comes first.
    """
    locks = [ROOT / "tests" / "pip" / name for name in ("pip.txt", "agents.txt")]
    stamp, wanted = AGENTS / ".installed", "".join([sys.version, *(lock.read_text() for lock in locks)])
    if stamp.exists() and stamp.read_text() == wanted and (AGENTS / "bin" / "mini").exists():
        return True
    python, start = str(AGENTS / "bin" / "python"), time.monotonic()
    pip = ["-m", "pip", "install", "--quiet", "--no-deps", "--no-compile", "--require-hashes", "--only-binary", ":all:"]
    commands = [
        [PYTHON, "-m", "venv", "--clear", "--without-pip", str(AGENTS)],
        [PYTHON, "-m", "pip", "--python", python, *pip[2:], "-r", str(locks[0])],
        [python, *pip, "-r", str(locks[1])],
    ]
    for command in commands:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            why = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
            steps.leave_out("mini-swe-agent itself", f"its packages could not be installed: {why}")
            return False
    stamp.write_text(wanted)
    print(f"ok     mini-swe-agent ({time.monotonic() - start:.1f} s)", flush=True)
    return True


def lint(steps: Steps, npm: Future[bool]) -> None:
    steps.run("ruff check", PYTHON, "-m", "ruff", "check", ".")
    steps.run("ruff format", PYTHON, "-m", "ruff", "format", "--check", ".")
    steps.run("mypy --strict runner", PYTHON, "-m", "mypy")
    templates = [str(path) for path in sorted((ROOT / "templates").rglob("*.html"))]
    steps.run("djade", str(Path(PYTHON).with_name("djade")), "--target-version", "5.2", "--check", *templates)
    deploy = {
        "BENCHSITE_DEBUG": "0",
        "BENCHSITE_SECRET_KEY": "a-key-for-this-check-only-" + "x7Qm2" * 8,
        "BENCHSITE_ALLOWED_HOSTS": "bench.example.org",
        "BENCHSITE_URL": "https://bench.example.org",
    }
    steps.run("makemigrations --check", PYTHON, "manage.py", "makemigrations", "--check", "--dry-run")
    steps.run("check --deploy", PYTHON, "manage.py", "check", "--deploy", "--fail-level", "WARNING", env=deploy)
    if npm.result():
        biome = str(NPM / "node_modules" / ".bin" / "biome")
        steps.run("biome", biome, "check", "--config-path=tests/npm", "static/css", "static/js")


def tests_on_sqlite(steps: Steps) -> None:
    for old in ROOT.glob(".coverage*"):
        old.unlink()
    measured = [PYTHON, "-m", "coverage", "run", "-m", *PYTEST, "--durations=40"]
    steps.run_tests("tests (SQLite)", *measured)


def tests_on_postgres(steps: Steps) -> None:
    """Run what touches the database once more on PostgreSQL; the runner's tests know no database."""
    if not servers.find_program("initdb"):
        steps.leave_out("the tests on PostgreSQL", "it is not installed (on Debian: apt install postgresql)")
        return
    given = os.environ.get("BENCHSITE_TEST_POSTGRES")
    with nullcontext(given) if given else servers.postgres() as url:
        env = {"BENCHSITE_DATABASE_URL": str(url)}
        command = [PYTHON, "-m", *PYTEST, "tests/site", "tests/browser"]
        steps.run_tests("tests that ask a database (PostgreSQL)", *command, env=env)


def coverage_of_changes(steps: Steps) -> None:
    """Hold the lines changed within the last day to a minimum; on a young history that is everything."""
    subprocess.run([PYTHON, "-m", "coverage", "combine", "-q"], cwd=ROOT, check=False, capture_output=True)
    base = _git("rev-list", "-1", "--before=1 day ago", "HEAD")
    if not base:
        steps.run(
            "coverage", PYTHON, "-m", "coverage", "report", f"--fail-under={MIN_CHANGED_COVERAGE}", "--format=total"
        )
        return
    steps.run("coverage data", PYTHON, "-m", "coverage", "xml", "-q", "-o", "var/coverage.xml")
    command = ["var/coverage.xml", f"--compare-branch={base}", f"--fail-under={MIN_CHANGED_COVERAGE}", "--quiet"]
    steps.run("coverage of changed lines", PYTHON, "-m", "diff_cover.diff_cover_tool", *command)


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
