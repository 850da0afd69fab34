from benchsite.flows.rebuild import rebuild
from benchsite.management.telling import Telling
from benchsite.readings.words import count


class Command(Telling):
    help = "Drop every row that is a projection and fold the kept journals again."

    def flow(self) -> None:
        self.say(f"{count(rebuild(self.say), 'run')} rebuilt.")
