from typing import Any

from django.conf import settings
from django.core.management import call_command

from benchsite.flows.demo import curator, demo
from benchsite.management.serving import port_of, refuse_taken
from benchsite.management.telling import Telling, watching

OPENING = (
    "The example benches are run, each once; that takes a few minutes. Some of their agents crash, hang or are not "
    "installed, and one scenario does not hold, all on purpose: the site shows what that looks like."
)


class Command(Telling):
    help = "Run the example benches, take their runs in, and say what happened."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("--port", type=port_of, help="where it will be served: refused now if it is taken")

    def flow(self, port: int | None = None, **_: Any) -> None:
        if port:
            refuse_taken(port)
        call_command("migrate", verbosity=0)
        self.say(OPENING)
        password = curator()
        demo(settings.BASE_DIR / "examples", self.say, watching)
        if password:
            self.say(f"To decide which runs count: /curate/, as curator, password {password} (shown only now)")
