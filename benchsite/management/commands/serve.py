from typing import Any

from benchsite.management.serving import serve
from benchsite.management.telling import Telling


class Command(Telling):
    help = "Serve the site with gunicorn; static files are collected only when they changed."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("--port", type=int, default=8000)

    def flow(self, port: int) -> None:
        serve(port, self.say)
