from __future__ import annotations

import io
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from runner.cli.counting import Counting
from runner.cli.progress import showing, status_line
from runner.cli.result import figure, show
from runner.cli.sizes import size_line
from runner.cli.terminal import clean, seconds, text
from runner.journal import MANIFEST
from runner.manifest import Axis, Case, Cell, Manifest, Scenario
from runner.replay import read
from runner.statistics.summary import summary
from tests.make import make_run

HOSTILE = "\x1b]0;owned\x07\x1b[2J[red]x[/red]\r\n\u202egnp\u200b\udcff"


@given(st.text(st.characters()))
def test_nothing_that_moves_colours_or_hides_gets_through(given_text: str) -> None:
    for character in clean(given_text):
        assert unicodedata.category(character) not in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    assert set(clean(given_text, lines=True)) - set(clean(given_text)) <= {"\n"}


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Zs"])))
def test_ordinary_text_of_any_language_is_left_alone(given_text: str) -> None:
    assert clean(given_text) == given_text


def test_an_escape_is_shown_as_what_it_is() -> None:
    assert clean("a\x1b[31mb\n\u202e\U000e0001") == "a\\x1b[31mb\\x0a\\u202e\\U000e0001"


def test_rich_reads_no_markup_in_a_runs_words() -> None:
    out = Console(file=io.StringIO(), force_terminal=True, width=200)
    out.print(text("[bold red]x[/] [link=http://evil]y[/link]"))
    assert "[bold red]x[/] [link=http://evil]y[/link]" in out.file.getvalue()  # type: ignore[attr-defined]


def test_a_hostile_run_is_shown_harmlessly(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from dataclasses import replace

    result = read(make_run(tmp_path, cells=2, scenarios=1, trials=2))
    cells = (replace(result.manifest.cells[0], axes={"agent": HOSTILE}), result.manifest.cells[1])
    measures = tuple(replace(measure, label=HOSTILE, unit=HOSTILE) for measure in result.manifest.measures)
    manifest = replace(result.manifest, bench=HOSTILE, cells=cells, measures=measures)
    show(summary(replace(result, manifest=manifest, stopped={0: HOSTILE})))
    shown = capsys.readouterr().out
    assert "\\x1b]0;owned" in shown
    assert not any(unicodedata.category(c) in {"Cc", "Cf", "Cs"} for c in shown if c != "\n")


@pytest.mark.parametrize(
    ("measure", "found", "said"),
    [
        ("bool", {"macro": 0.5, "lo": 0.2, "hi": 0.8, "k": 9.0, "n": 20}, "50 % [20, 80] 9/20"),
        ("bool", {"macro": 1.0, "lo": None, "hi": None, "k": 2.0, "n": 2}, "100 % 2/2"),
        ("float", {"macro": -2.51234, "lo": -3.0, "hi": 1.0, "k": -10.0, "n": 4}, "-2.512 files [-3, 1] n=4"),
        ("int", {"macro": None, "lo": None, "hi": None, "k": None, "n": 0}, "-"),
        ("category", {"n": 3, "shares": {"patch": 2, "rewrite": 1}}, "patch 2, rewrite 1"),
        ("category", {"n": 0, "shares": {}}, "-"),
        ("text", {"n": 3}, "n=3"),
    ],
)
def test_a_figure_never_stands_without_its_n(measure: str, found: dict[str, object], said: str) -> None:
    assert figure({"type": measure, "unit": "files"}, found) == said


@pytest.mark.parametrize(
    ("spent", "said"), [(0.04, "0.0 s"), (9.94, "9.9 s"), (42, "42 s"), (200, "3 min 20 s"), (7500, "2 h 05 min")]
)
def test_durations_are_said_as_people_say_them(spent: float, said: str) -> None:
    assert seconds(spent) == said


def plan(*axes: Axis, cells: int, cases: int = 1) -> Manifest:
    from dataclasses import replace

    scenario = Scenario("s", "tests/bench_s.py", 1, "bench_s", cases=tuple(Case(str(n)) for n in range(cases)))
    empty = Manifest("R", "", "b/b", "1", (), (), (), (), ())
    rows = tuple((cell, 0, case, 1, 0) for cell in range(cells) for case in range(cases))
    listed = tuple(Cell(str(n), {}) for n in range(cells))
    return replace(empty, axes=axes, cells=listed, scenarios=(scenario,), rows=rows, trials_per_cell=1)


@pytest.mark.parametrize(
    ("manifest", "said"),
    [
        (plan(cells=1), "1 cell x 1 scenario x 1 trial = 1 trial"),
        (
            plan(Axis("agent", ("a", "b", "c")), Axis("model", ("x", "y")), Axis("k", ("1",), True), cells=6),
            "3 agents x 2 models x 1 scenario x 1 trial = 6 trials",
        ),
        (plan(Axis("env.KEY", ("a", "b")), cells=2), "2 values of env.KEY x 1 scenario x 1 trial = 2 trials"),
        (
            plan(Axis("agent", ("a", "b")), cells=2, cases=50),
            "2 agents x 50 cases of 1 scenario x 1 trial = 100 trials",
        ),
        (plan(Axis("agent", ("a", "b")), cells=1), "1 cell x 1 scenario x 1 trial = 1 trial"),
    ],
)
def test_the_size_of_a_run_is_a_sum_anyone_can_check(manifest: Manifest, said: str) -> None:
    assert size_line(manifest) == said


def event(kind: str, trial: int, **more: object) -> dict[str, object]:
    return {"type": kind, "trial": trial, "attempt": 1, **more}


def test_states_are_counted_as_trials_go_on() -> None:
    time = iter([100.0, 110.0, 110.0])
    counting = Counting(4, clock=lambda: next(time))
    assert counting.counts == {"queued": 4}
    assert counting.left() is None
    counting.feed(event("trial.started", 0))
    counting.feed(event("trial.started", 1))
    assert counting.counts == {"running": 2, "queued": 2}
    assert counting.feed(event("trial.finished", 0, state="scored")) == "scored"
    assert counting.counts == {"scored": 1, "running": 1, "queued": 2}
    assert counting.left() == 30.0
    counting.feed(event("trial.finished", 1, state="run_error"))
    counting.feed(event("trial.retried", 1, code="boot"))
    assert counting.counts == {"scored": 1, "queued": 3}
    counting.feed(event("trial.not_run", 3, state="not_run"))
    assert counting.ended == 2


def test_what_a_resumed_run_had_done_does_not_make_it_look_fast() -> None:
    time = iter([0.0, 10.0])
    counting = Counting(10, dict.fromkeys(range(8), "scored"), clock=lambda: next(time))
    counting.feed(event("trial.started", 8))
    counting.feed(event("trial.finished", 8, state="scored"))
    assert counting.left() == 10.0


def test_why_a_cell_was_stopped_is_said_once(tmp_path: Path) -> None:
    manifest = Manifest.read(make_run(tmp_path, cells=1, scenarios=1, trials=3) / MANIFEST)
    out = Console(file=io.StringIO(), width=120)
    with showing(out, manifest, Counting(3)) as told:
        told(event("cell.stopped", 0, cell=0, code="boot", sentence="They all ended alike."))
        told(event("trial.not_run", 1, state="not_run", reason="They all ended alike."))
        told(event("trial.not_run", 2, state="not_run", reason="The budget was spent."))
    said = out.file.getvalue()  # type: ignore[attr-defined]
    assert said.count("They all ended alike.") == 1
    assert said.count("not_run") == 2
    assert "The budget was spent." in said


def test_the_live_line_holds_counts_and_no_text_of_the_run(tmp_path: Path) -> None:
    manifest = Manifest.read(make_run(tmp_path, cells=1, scenarios=1, trials=2) / MANIFEST)
    counting = Counting(2)
    out = Console(file=io.StringIO(), force_terminal=True, width=120)
    with showing(out, manifest, counting) as told:
        told(event("trial.started", 0))
        told(event("trial.finished", 0, state="run_error", fault="boot", reason=HOSTILE, seconds=1.0))
    shown = out.file.getvalue()  # type: ignore[attr-defined]
    assert "\\x1b]0;owned" in shown
    assert "\x1b]0;owned" not in shown
    assert status_line(counting).startswith("[red]1 run_error[/] 1 queued")
