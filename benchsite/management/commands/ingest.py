from pathlib import Path
from typing import Any

from benchsite.flows.demo import told
from benchsite.flows.ingest import ingest
from benchsite.flows.sources import runs_below
from benchsite.management.telling import Telling
from runner.errors import RunnerError


class Command(Telling):
    help = "Take run directories (or folders that hold some) into the site, accepted by you, its operator."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("paths", nargs="+", type=Path)
        parser.add_argument("--submitted", action="store_true", help="leave it to a curator whether they count")

    def flow(self, paths: list[Path], submitted: bool) -> None:
        for path in paths:
            found = runs_below(path)
            if not found:
                raise RunnerError(f"{path} is not a run directory and holds none.")
            for run_dir in found:
                self.say(told(ingest(run_dir, verdict="submitted" if submitted else "accepted")))
