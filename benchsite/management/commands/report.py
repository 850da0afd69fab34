from pathlib import Path
from typing import Any

from benchsite.management.reporting import report
from benchsite.management.telling import Telling
from runner.cli.writing import write


class Command(Telling):
    help = "Write one self-contained HTML file of a run, or of a comparison of several things; it opens from disk."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("of", nargs="+", metavar="WHAT", help="a run's id, or run:ID, cell:RUN/KEY, subject:...")
        parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="where to write it; or -")
        parser.add_argument("--policy", default="scored/1", help="scored/1 (default) or errors-fail/1")
        parser.add_argument("--measure", default="", metavar="KEY", help="what is shown (default: the headline)")
        parser.add_argument("--site", default="", metavar="URL", help="address of this site, so that links lead there")

    def flow(self, output: Path, **asked: Any) -> None:
        write(output, report(**asked))
        if str(output) != "-":
            self.say(f"{output} is written.")
