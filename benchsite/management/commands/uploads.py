from benchsite.flows.incoming import drain
from benchsite.management.telling import Telling
from benchsite.readings.words import count


class Command(Telling):
    help = "Take in the large runs that wait. The site starts it by itself where there is no broker."

    def flow(self) -> None:
        self.say(f"{count(drain(), 'run')} taken up.")
