from typing import Any

from django.conf import settings
from django.core.management import call_command

from benchsite.flows.demo import curator, demo
from benchsite.management.telling import Telling, watching


class Command(Telling):
    help = "Run the example benches, take their runs in, and say what happened."

    def flow(self, **_: Any) -> None:
        call_command("migrate", verbosity=0)
        password = curator()
        demo(settings.BASE_DIR / "examples", self.say, watching)
        if password:
            self.say(f"To decide what counts, sign in as curator with the password {password}")
