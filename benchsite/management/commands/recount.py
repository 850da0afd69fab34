import sys
from typing import Any

from benchsite.flows.recheck import differences, rebuild_rollups, runs_named
from benchsite.management.telling import Telling
from benchsite.readings.words import count


class Command(Telling):
    help = "Write the rollups of runs anew; with --check compare them with the journals and end with 1 if any differs."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("runs", nargs="*", metavar="RUN")
        parser.add_argument("--check", action="store_true")

    def flow(self, runs: list[str], check: bool) -> None:
        found = runs_named(runs)
        wrong = [line for run in found for line in differences(run)] if check else []
        for line in wrong:
            self.say(line)
        if not check:
            for run in found:
                rebuild_rollups(run)
        differ = count(len(wrong), "figure differs", "figures differ")
        self.say(f"{count(len(found), 'run')} {'checked' if check else 'recounted'}, {differ}.")
        if wrong:
            sys.exit(1)
