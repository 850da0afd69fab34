from pathlib import Path
from typing import Any

from benchsite.flows.demo import told
from benchsite.flows.launch import EXECUTORS, launch
from benchsite.management.telling import Telling, watching


class Command(Telling):
    help = "Run a bench, here or on workers, and show it on the site while it goes on."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("bench", type=Path)
        parser.add_argument("--executor", choices=EXECUTORS, default="local")
        parser.add_argument("--resume", dest="again", metavar="RUN", default="", help="run what this run is missing")
        for name in ("trials", "workers", "seed"):
            parser.add_argument(f"--{name}", type=int)
        for name in ("environment", "evaluation"):
            parser.add_argument(f"--{name}")

    def flow(self, bench: Path, **options: Any) -> None:
        with watching() as listeners:
            run = launch(bench, **listeners, **options)
        self.say(told(run))
