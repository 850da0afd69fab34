"""Run one collected case, as pytest does but for the reports that nobody would read."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import pytest
from _pytest.outcomes import Exit, Skipped

from .debugging import debugged, stop_at

if TYPE_CHECKING:
    from .live import LiveTrial

OUR_OWN = ("_pytest.", "runner.scenario.")
DECIDING = frozenset({"skip", "skipif", "xfail"})
"""Marks that pytest's own hooks act upon."""


def play(item: pytest.Function, trial: LiveTrial) -> None:
    """Set up, call and tear down; exceptions are told to the trial, pytest's own stop signals come out."""
    set_up, call, tear_down = _steps(item)
    if _step(trial, "setup", set_up):
        _step(trial, "call", call)
    _step(trial, "teardown", tear_down)


@functools.cache
def is_plain(item: pytest.Function) -> bool:
    """Do no hooks but pytest's own look at this case? They do nothing then that the steps below leave out, and walking
    through them costs each trial two milliseconds. Worked out by a server once, and not by each trial."""
    return not any(mark.name in DECIDING for mark in item.iter_markers()) and all(map(_is_our_own, _hooks_of(item)))


def _hooks_of(item: pytest.Function) -> Iterator[object]:
    hooks = item.ihook
    for hook in (hooks.pytest_runtest_setup, hooks.pytest_runtest_call, hooks.pytest_runtest_teardown):
        yield from (one.plugin for one in hook.get_hookimpls())


def _is_our_own(plugin: object) -> bool:
    origin = getattr(plugin, "__name__", None) or type(plugin).__module__
    return str(origin).startswith(OUR_OWN)


def _steps(item: pytest.Function) -> tuple[Callable[[], object], Callable[[], object], Callable[[], object]]:
    if is_plain(item):
        state = item.session._setupstate
        return partial(state.setup, item), item.runtest, partial(state.teardown_exact, None)
    hooks = item.ihook
    return (
        partial(hooks.pytest_runtest_setup, item=item),
        partial(hooks.pytest_runtest_call, item=item),
        partial(hooks.pytest_runtest_teardown, item=item, nextitem=None),
    )


def _step(trial: LiveTrial, when: str, step: Callable[[], object]) -> bool:
    try:
        step()
    except (Exit, KeyboardInterrupt):
        raise
    except BaseException as error:
        trial.raised(error, when)
        if trial.left_ungraded(error):
            trial.evaluation.secure()
        if debugged() and not isinstance(error, Skipped):
            stop_at(error)
        return False
    return True
