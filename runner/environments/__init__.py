"""Where trials run: `local`, `sandbox` and `container`; `auto` takes the best that really works here."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from runner.definition import ISOLATION, Network
from runner.errors import EnvironmentRefused

from .base import Environment, Needs, Session

__all__ = ["ENVIRONMENTS", "Environment", "Needs", "Session", "choose"]

ENVIRONMENTS = ("container", "sandbox", "local")
"""From most to least isolation. `auto` asks them in this order; a container only where the bench names an image."""


def _module(name: str) -> ModuleType:
    """A process imports the one that it works in."""
    return import_module(f".{name}", __name__)


def choose(name: str = "auto", minimum: str = "none", network: Network | str = "open", image: str = "") -> Environment:
    """Give the environment of that name, or the best one here; one that cannot hold what is demanded is refused."""
    if name != "auto" and name not in ENVIRONMENTS:
        raise EnvironmentRefused(f"There is no environment {name!r}; choose auto, {', '.join(ENVIRONMENTS)}.")
    reasons = []
    for candidate in _candidates(name, image):
        module = _module(candidate)
        reason = _too_weak(module.ENVIRONMENT, minimum, network) or module.unusable()
        if not reason:
            environment: Environment = module.ENVIRONMENT
            return environment
        reasons.append(reason)
    raise EnvironmentRefused(" ".join(reasons))


def _candidates(name: str, image: str) -> tuple[str, ...]:
    if name != "auto":
        return (name,)
    return ("container",) if image else ("sandbox", "local")


def _too_weak(environment: Environment, minimum: str, network: Network | str) -> str:
    if ISOLATION.index(environment.isolation) < [*ISOLATION].index(minimum):  # type: ignore[arg-type]
        return (
            f"The bench demands isolation={minimum!r}; the environment {environment.name!r} "
            f"gives {environment.isolation!r}. Take a stronger one, or demand less."
        )
    wanted = (network,) if isinstance(network, str) else (network.execution, network.evaluation)
    if "none" in wanted and not environment.cuts_network:
        return (
            f"The environment {environment.name!r} cannot cut off the network, which the bench demands "
            "(network='none'). Take the sandbox or a container, or declare network='open'."
        )
    return ""
