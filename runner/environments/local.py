"""The machine itself: quick and without any isolation, and every page says so."""

from __future__ import annotations

import os

from runner.definition import Isolation
from runner.errors import EnvironmentRefused
from runner.keepers import of_trial
from runner.worlds.places import HOME, OUT, TMP, WORLD, Place

from .base import SYSTEM_PATH, WORKSPACE, KeptSession, Needs, base_env, program_path


class Local:
    name = "local"
    isolation: Isolation = "none"
    cuts_network = False
    carries: tuple[str, ...] = (WORKSPACE,)

    def version(self) -> str:
        return "local/1"

    def refusal(self, needs: Needs) -> str:
        if needs.network == "none":
            return (
                "The environment 'local' cannot cut off the network (network='none'); "
                "use the sandbox, or declare network='open'."
            )
        if needs.limits.declared:
            named = " and ".join(needs.limits.declared)
            return f"The environment 'local' cannot limit {named}; use the sandbox, or declare no limits."
        return "The environment 'local' has no images; use environment='container'." if needs.image else ""

    def holding(self, needs: Needs) -> dict[str, str]:
        return {}

    def open(self, place: Place, needs: Needs) -> KeptSession:
        if refusal := self.refusal(needs):
            raise EnvironmentRefused(refusal)
        path = program_path(needs.programs, os.environ.get("PATH", SYSTEM_PATH))
        world, home, tmp, out = place.at(WORLD), place.at(HOME), place.at(TMP), place.at(OUT)
        inside = ((world, world), (home, home), (tmp, tmp), (out, out), ("/", ""))
        own = ((world, world), (home, home), (tmp, tmp), (WORKSPACE, world))
        return KeptSession(of_trial(), world, base_env(home, tmp, path), inside, own, home=home)


ENVIRONMENT = Local()


def unusable() -> str:
    """Say why this environment cannot be used here; "" when it can."""
    return ""
