from django.utils import timezone

from benchsite.flows.forget import collect
from benchsite.flows.incoming import wake_if_waiting
from benchsite.flows.launch import folder_of
from benchsite.flows.leases import sweep
from benchsite.flows.swept import note_sweep
from benchsite.management.telling import Telling
from benchsite.readings.words import count


class Command(Telling):
    help = "Send trials again that no worker took, and delete blobs that no run uses. Run it every minute or so."

    def flow(self) -> None:
        sent = sweep(timezone.now(), folder_of)
        wake_if_waiting()
        many, size = collect()
        told = f"{count(sent, 'trial')} sent again, {count(many, 'blob')} ({size} bytes) deleted."
        note_sweep(timezone.now(), told)
        self.say(told)
