from typing import Any

from benchsite.flows.forget import find_run, forget
from benchsite.management.telling import Telling


class Command(Telling):
    help = "Delete runs for good; their bytes go with the next sweep."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("runs", nargs="+", metavar="RUN")

    def flow(self, runs: list[str]) -> None:
        for ulid in runs:
            forget(find_run(ulid))
            self.say(f"Run {ulid} is forgotten.")
