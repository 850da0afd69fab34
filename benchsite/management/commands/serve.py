from typing import Any

from benchsite.management.serving import port_of, serve
from benchsite.management.telling import Telling


class Command(Telling):
    help = "Serve the site with gunicorn; static files are collected only when they changed."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("--port", type=port_of, default=8000)

    def flow(self, port: int) -> None:
        serve(port, self.say)
