"""Run one collected case, as pytest does but for the reports that nobody would read."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from inspect import signature
from typing import TYPE_CHECKING

import pytest
from _pytest.compat import is_async_function
from _pytest.outcomes import Exit, Skipped
from _pytest.python import get_direct_param_fixture_func, pytest_pyfunc_call

from .debugging import debugged, explain, stop_at, was_quit
from .stops import Verdict

if TYPE_CHECKING:
    from .live import LiveTrial

OUR_OWN = ("_pytest.", "runner.scenario.")
OURS = "runner.scenario.plugin"
DECIDING = frozenset({"skip", "skipif", "xfail"})
"""Marks that pytest's own hooks act upon."""


Steps = tuple[Callable[[], object], Callable[[], object], Callable[[], object]]


def play(item: pytest.Function, trial: LiveTrial) -> None:
    """Set up, call and tear down; exceptions are told to the trial, pytest's own stop signals come out."""
    set_up, call, tear_down = steps(item)
    if _step(trial, "setup", set_up):
        _step(trial, "call", call)
    _step(trial, "teardown", tear_down)


@functools.cache
def steps(item: pytest.Function) -> Steps:
    """How a case is set up, called and torn down. Worked out by a server once, and not by each trial: where nobody else
    has a word in it, going past pytest's hooks and its search for fixtures spares each trial three milliseconds."""
    if not _is_plain(item):
        hooks = item.ihook
        return (
            partial(hooks.pytest_runtest_setup, item=item),
            partial(hooks.pytest_runtest_call, item=item),
            partial(hooks.pytest_runtest_teardown, item=item, nextitem=None),
        )
    if (makers := _makers(item)) is not None:
        return partial(_fill, item, makers), _call(item, plain=True), _nothing
    state = item.session._setupstate
    return partial(state.setup, item), _call(item), partial(state.teardown_exact, None)


def _call(item: pytest.Function, *, plain: bool = False) -> Callable[[], object]:
    """What `runtest` comes to where no plugin but pytest's own calls cases. `plain`: nothing but the case's arguments
    is among those that were made."""
    callers = [one.function for one in item.ihook.pytest_pyfunc_call.get_hookimpls()]
    if callers != [pytest_pyfunc_call]:
        return item.runtest
    if plain and not is_async_function(item.obj) and set(item.fixturenames) == set(item._fixtureinfo.argnames):
        return partial(_call_with, item.obj, item.funcargs)
    return partial(pytest_pyfunc_call, item)


def _call_with(function: Callable[..., object], arguments: Mapping[str, object]) -> object:
    return function(**arguments)


def _makers(item: pytest.Function) -> dict[str, Callable[[], object]] | None:
    """Who makes the arguments of a case that asks for the runner's own fixtures and its parameters alone; else None."""
    made: dict[str, Callable[[], object]] = {}
    for name in item.fixturenames:
        definitions = item._fixtureinfo.name2fixturedefs.get(name, ())
        if len(definitions) != 1:
            return None  # `request`, which has none, or one that goes before another
        function = definitions[0].func
        if function is get_direct_param_fixture_func:
            made[name] = partial(item.callspec.params.__getitem__, name)
        elif function.__module__ == OURS and not signature(function).parameters:
            made[name] = function
        else:
            return None
    return made


def _fill(item: pytest.Function, makers: Mapping[str, Callable[[], object]]) -> None:
    item.funcargs.update((name, make()) for name, make in makers.items())


def _nothing() -> None:
    pass


def _is_plain(item: pytest.Function) -> bool:
    """Do no hooks but pytest's own look at this case?"""
    return not any(mark.name in DECIDING for mark in item.iter_markers()) and all(map(_is_our_own, _hooks_of(item)))


def _hooks_of(item: pytest.Function) -> Iterator[object]:
    hooks = item.ihook
    for hook in (hooks.pytest_runtest_setup, hooks.pytest_runtest_call, hooks.pytest_runtest_teardown):
        yield from (one.plugin for one in hook.get_hookimpls())


def _is_our_own(plugin: object) -> bool:
    origin = getattr(plugin, "__name__", None) or type(plugin).__module__
    return str(origin).startswith(OUR_OWN)


def _step(trial: LiveTrial, when: str, step: Callable[[], object]) -> bool:
    try:
        step()
    except (Exit, KeyboardInterrupt):
        raise
    except BaseException as error:
        if was_quit(error):
            if debugged():  # by who sits there: no fault, and nothing to look at
                trial.verdict = trial.verdict or Verdict("cancelled", None, trial.phase, "The debugger was quit.")
                return False
            explain(error, trial)
        trial.raised(error, when)
        if trial.left_ungraded(error):
            trial.evaluation.secure()
        if debugged() and not isinstance(error, Skipped):
            stop_at(error, trial.setting.sealed)
        return False
    return True
