from __future__ import annotations

import re
from pathlib import Path

import pytest

from runner.agents import BUILT_IN as ADAPTERS
from runner.definition import Scripted
from runner.digests import cell_id
from runner.load import load_bench
from runner.matrix import BUILT_IN, agent_of, expand, expand_bench, real_axes
from runner.prepare import with_agents

from .authoring import write_bench

AGENTS = {"careful": Scripted([]), "hasty": Scripted([])}


def test_cells_are_all_combinations_in_declared_order() -> None:
    axes, cells = expand({"agent": ["careful", "hasty"], "depth": [1, 2], "think": True}, AGENTS)
    assert [(axis.name, axis.values, axis.constant) for axis in axes] == [
        ("agent", ("careful", "hasty"), False), ("depth", ("1", "2"), False), ("think", ("true",), True),
    ]  # fmt: skip
    assert [cell.id for cell in cells] == [
        "agent=careful,depth=1,think=true", "agent=careful,depth=2,think=true",
        "agent=hasty,depth=1,think=true", "agent=hasty,depth=2,think=true",
    ]  # fmt: skip


def test_ids_come_from_values_never_from_position() -> None:
    _, cells = expand({"agent": ["careful", "hasty"], "depth": [1, 2]}, AGENTS)
    _, turned = expand({"depth": [2, 1], "agent": ["hasty", "careful"]}, AGENTS)
    assert {cell.id for cell in cells} == {cell.id for cell in turned}


def test_no_matrix_is_one_default_cell() -> None:
    assert [cell.id for cell in expand({}, {})[1]] == ["default"]


@pytest.mark.parametrize(
    ("matrix", "said"),
    [
        (
            {"agent": ["careful", "hsty"]},
            "Axis 'agent' names 'hsty', which is not declared; known are: careful, hasty,",
        ),
        ({"agent": []}, "Axis 'agent' has no value."),
        ({"agent": "careful", "n": [1, "1"]}, "Axis 'n' has the value '1' twice."),
        ({"agent": "careful", "n": [None]}, "values are text, numbers or booleans"),
        ({"agent": "careful", "n": [float("nan")]}, "values are text, numbers or booleans"),
        ({"agent": "careful", "n": [{"a": 1}]}, "values are text, numbers or booleans"),
        ({"agent": "careful", "n": ""}, "is empty"),
        ({"agent": "careful", "a b": [1]}, "'a b' is no name for an axis"),
        ({"depth": [1]}, "Several agents are declared but the matrix has no axis 'agent'"),
        ({"agent": "careful", **{f"x{n}": list(range(10)) for n in range(5)}}, "The matrix has 100000 cells"),
    ],
)
def test_a_matrix_that_cannot_run_is_refused(matrix: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        expand(matrix, AGENTS)


def test_agents_that_need_no_entry_are_those_that_have_an_adapter() -> None:
    assert set(BUILT_IN) == set(ADAPTERS)
    assert len(expand({"agent": list(BUILT_IN)}, {})[1]) == len(BUILT_IN)


def test_a_secret_value_shows_only_as_a_salted_hash(tmp_path: Path) -> None:
    options = (
        'agents={"a": Scripted([])}, matrix={"agent": "a", "env.KEY": ["hunter2", "hunter3"]}, secrets=["env.KEY"]'
    )
    bench = load_bench(write_bench(tmp_path, options))
    axes, cells = expand_bench(bench)
    assert "hunter" not in repr((axes, cells))
    assert all(value.startswith("secret~") and len(value) == 17 for value in axes[1].values)
    assert axes[1].secret
    assert [real_axes(bench, cell.id)["env.KEY"] for cell in cells] == ["hunter2", "hunter3"]
    other, _ = expand(bench.matrix, bench.agents, bench.secrets, "acme/other")
    assert set(other[1].values).isdisjoint(axes[1].values)


def test_a_worker_finds_the_cells_of_agents_that_were_asked_for_at_the_run(tmp_path: Path) -> None:
    bench = load_bench(write_bench(tmp_path, 'agents={"a": Scripted([])}, matrix={"agent": "a", "n": [1, 2]}'))
    _, cells = expand_bench(with_agents(bench, ["oracle", "noop"]))
    assert len(cells) == 4
    assert real_axes(bench, cells[0].id) == {"agent": "oracle", "n": 1}


def test_the_only_agent_needs_no_axis(tmp_path: Path) -> None:
    assert agent_of(load_bench(write_bench(tmp_path)), {}) == "quiet"


def test_long_ids_are_cut_but_stay_apart() -> None:
    texts = [f"{'long ' * 30}{n}" for n in range(2)]
    _, cells = expand({"agent": "careful", "prompt": texts}, AGENTS)
    assert len({cell.id for cell in cells}) == 2
    assert all(len(cell.id) <= 64 for cell in cells)
    assert cells[0].id == cell_id({"agent": "careful", "prompt": texts[0]})
