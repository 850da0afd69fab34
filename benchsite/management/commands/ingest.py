from pathlib import Path
from typing import Any

from benchsite.flows.demo import told
from benchsite.flows.ingest import ingest
from benchsite.management.telling import Telling
from runner.errors import RunnerError


class Command(Telling):
    help = "Take run directories (or folders that hold some) into the site, accepted by you, its operator."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("paths", nargs="+", type=Path)
        parser.add_argument("--submitted", action="store_true", help="leave it to a curator whether they count")

    def flow(self, paths: list[Path], submitted: bool) -> None:
        for path in paths:
            found = sorted(path.rglob("manifest.json")) if path.is_dir() else []
            if not found:
                raise RunnerError(f"{path} is not a run directory and holds none.")
            for file in found:
                self.say(told(ingest(file.parent, verdict="submitted" if submitted else "accepted")))
