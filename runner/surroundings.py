"""What the environment of a scenario is given: network, limits and image, its mark before the bench's defaults."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .definition import Bench, Limits, Network, parse_size
from .digests import canonical

if TYPE_CHECKING:
    from .environments.base import Environment, Needs

POLICIES = ("open", "none")
LEAST = {"memory": 16 << 20, "processes": 4, "disk": 1 << 20}
"""Below these no environment can even start a command."""
WATCHED = "watched"
"""Of a limit: nothing holds it but a look."""
Row = dict[str, Any]


def network_row(network: Network) -> Row:
    """Write a policy as plans and manifests have it; ValueError for one that cannot stand."""
    for stage in ("execution", "evaluation"):
        policy = getattr(network, stage, network)
        if policy not in POLICIES:
            raise ValueError(f"Network({stage})={policy!r} is not one of: {', '.join(POLICIES)}.")
    row: Row = {"execution": network.execution, "evaluation": network.evaluation}
    return row | {"allow": _hosts(network)} if network.allow else row


def _hosts(network: Network) -> list[str]:
    from .environments.network import host_and_port

    if isinstance(network.allow, str):
        raise ValueError("Network(allow=...) is a list of hosts, not one text.")
    if network.execution != "none":
        raise ValueError("Network(allow=...) names what execution='none' reaches all the same; declare that too.")
    return [":".join(map(str, host_and_port(one))) for one in network.allow]


def limits_row(limits: Limits) -> Row:
    """Write limits in bytes and numbers, those that are declared; ValueError for one that cannot stand."""
    row: Row = {}
    for name, least in LEAST.items():
        value = getattr(limits, name, limits)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int if name == "processes" else int | str):
            raise ValueError(f"Limits({name}={value!r}) is no {'number' if name == 'processes' else 'size'}.")
        row[name] = parse_size(value)
        if row[name] < least:
            raise ValueError(f"Limits({name}={value!r}) is too small: nothing can be started with less than {least:,}.")
    return row


def settings(bench: Bench, mark: Mapping[str, Any] | None) -> Row:
    """Give network, resources and image of one scenario; what its mark gives replaces the bench's whole."""
    own: Row = {"network": network_row(bench.network), "resources": limits_row(bench.limits), "image": bench.image}
    return own | dict(mark or {})


def needs_of(needs: Needs, plan: Mapping[str, Any], stage: str) -> Needs:
    """What a stage of a trial needs by its plan, the image by its digest. A verifier has no model."""
    from .environments.limits import Resources

    network, agents, held = plan.get("network", {}), stage == "execution", plan.get("held", {})
    return replace(
        needs,
        network=network.get(stage, "open"),
        allow=tuple(network.get("allow", ())) if agents else (),
        endpoint=needs.endpoint if agents else None,
        loopback=held.get("loopback", ""),
        limits=Resources.of(plan.get("resources", {})),
        image=held.get("image") or plan.get("image", ""),
    )


def held(environment: Environment, plan: Mapping[str, Any]) -> tuple[Row, str]:
    """Give what holds a plan's limits and policies, or else the sentence that refuses one of them."""
    from .environments.base import Needs

    for stage in ("execution", "evaluation"):
        if refusal := environment.refusal(needs_of(Needs(), plan, stage)):
            return {}, refusal
    return dict(environment.holding(needs_of(Needs(), plan, "execution"))), ""


def unreachable(environment: Environment, plans: Iterable[Mapping[str, Any]], endpoints: Sequence[str | None]) -> str:
    """Say what of the plans cannot be held for agents with these models (None is one without); "" where all can."""
    from .environments.base import Needs

    needs = (needs_of(Needs(endpoint=endpoint), plan, "execution") for plan in plans for endpoint in endpoints)
    return next((refusal for one in needs if (refusal := environment.refusal(one))), "")


def warnings(plans: Iterable[Mapping[str, Any]]) -> list[str]:
    """Say what no environment refuses and nobody should overlook."""
    from .environments.base import SHARED

    plans = list(plans)
    watched = list(dict.fromkeys(filter(None, map(_watched, plans))))
    if not any(plan["held"].get("loopback") == SHARED for plan in plans):
        return watched
    return [
        *watched,
        "The sandbox shares this machine's network, so the agent can reach services that listen on its loopback; "
        "install the package that has the program 'slirp4netns' to hide them.",
    ]


def _watched(plan: Mapping[str, Any]) -> str:
    from .environments.disk import held_by
    from .environments.limits import Resources

    if plan["held"].get("disk") != WATCHED:
        return ""
    _, why = held_by(Resources.of(plan["resources"]), plan["environment"])
    return (
        "The limit of disk is watched, which is no hard limit: a fast writer is some MiB ahead before it is stopped. "
        f"A hard one cannot be had here: {why}."
    )


def limits_in_words(plan: Mapping[str, Any]) -> str:
    """Write each limit of a plan with what holds it: `disk 16 MiB by tmpfs, processes 40 by cgroup v2`. A plan may come
    from elsewhere, and hold anything."""
    limits, holders = (found if isinstance(found := plan.get(key), dict) else {} for key in ("resources", "held"))
    rows = [(name, value) for name, value in limits.items() if type(value) is int]
    return ", ".join(f"{name} {_amount(name, value)} {how_held(holders.get(name))}".rstrip() for name, value in rows)


def how_held(holder: Any) -> str:
    if holder == WATCHED:
        return "watched, which is no hard limit"
    return f"by {str(holder)[:200]}" if holder else ""


def _amount(name: str, value: int) -> str:
    return f"{value:,}" if name == "processes" or abs(value) >= 1 << 60 else f"{value / 2**20:,.4g} MiB"


def too_small_for(template_room: int, plan: Mapping[str, Any]) -> str:
    """Say that a start world takes more of the disk than its trials may have; "" where it fits."""
    limit = plan["resources"].get("disk")
    if limit is None or template_room < limit:
        return ""
    return (
        f"The start world takes {template_room:,} bytes of disk, and Limits(disk=...) allows {limit:,}, the world "
        "included; allow more."
    )


def images(plans: Iterable[Mapping[str, Any]]) -> str:
    """Name the very images of a run, for the hash that parts runs with others; "" where there are none."""
    found = {plan["held"]["image"] for plan in plans if plan.get("held", {}).get("image")}
    return canonical(sorted(found)).decode() if found else ""
