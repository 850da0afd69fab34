"""Who sees what, in four parts: stranger, member (of a bench's group), contributor (who sent a run), curator."""

from __future__ import annotations

from typing import Any

from django.db.models import Q

CURATORS = "curators"


class Operator:
    """Whoever works on the machine itself: it can read the database, so it sees everything."""

    is_authenticated = is_active = is_superuser = True
    pk = None


def is_curator(user: Any) -> bool:
    """Curators decide what counts and see everything. A session's account brings the answer; else it takes a query."""
    if user is None or not user.is_authenticated or not user.is_active:
        return False
    brought = getattr(user, "among_curators", None)
    return bool(user.is_superuser or (CURATORS in _groups(user).values() if brought is None else brought))


def group_ids(user: Any) -> list[int]:
    if user is None or not user.is_authenticated or not user.is_active:
        return []
    return sorted(_groups(user))


def access_class(user: Any) -> str:
    """Name what a reader may see, for ETags and caches: two readers of one class see the same page."""
    if is_curator(user):
        return "curator"
    if user is None or not user.is_authenticated:
        return "stranger"
    return f"u{user.pk}:{','.join(map(str, group_ids(user)))}"


def bench_visible(user: Any, prefix: str = "") -> Q:
    """The condition that a bench (reached by `prefix`, e.g. "bench__") may be seen by this reader."""
    if is_curator(user):
        return Q()
    seen = Q(**{f"{prefix}visibility": "public"})
    groups = group_ids(user)
    return seen | Q(**{f"{prefix}group__in": groups}) if groups else seen


def join(user: Any, group: Any) -> None:
    """Make an account a member; what was known of its groups is forgotten."""
    group.user_set.add(user)
    for name in ("_benchsite_groups", "among_curators"):
        user.__dict__.pop(name, None)


def _groups(user: Any) -> dict[int, str]:
    if not hasattr(user, "_benchsite_groups"):
        user._benchsite_groups = dict(user.groups.values_list("pk", "name"))
    found: dict[int, str] = user._benchsite_groups
    return found
