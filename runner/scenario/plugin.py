"""The pytest plugin of a server process: fixtures, marks, and a loop that serves trials instead of running items."""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from .collecting import CollectedCase, Complaint
from .current import current
from .reporting import case_of, complaints_of, import_complaint, unnamed_id

if TYPE_CHECKING:
    from .agent import AgentHandle
    from .evaluation import Evaluation
    from .workspace import WorkspaceHandle

Items = dict[tuple[str, str, str], pytest.Function]


class Gathered:
    """What one collection found, and what is to be done with it (`serve`), once pytest reaches its run loop."""

    def __init__(self, root: Path, serve: Callable[[Gathered], None]) -> None:
        self.root, self.serve = root, serve
        self.items: Items = {}
        self.cases: list[CollectedCase] = []
        self.complaints: list[Complaint] = []

    def pytest_make_parametrize_id(self, config: pytest.Config, val: object, argname: str) -> str:
        return unnamed_id(argname)

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Whatever keeps a file out stops the bench: pytest itself passes over one that skips itself or is left in a
        debugger, and ends everything for one that exits."""
        try:
            report = yield
        except SystemExit as error:
            self.complaints.append(import_complaint(error, collector.path, self.root))
            return pytest.CollectReport(collector.nodeid, "failed", "", [])
        call: pytest.CallInfo[Any] = vars(report)["call"]
        if call.excinfo is not None:
            self.complaints.append(import_complaint(call.excinfo.value, collector.path, self.root))
        return report

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            if not isinstance(item, pytest.Function):
                continue
            self.complaints.extend(found := list(complaints_of(item, self.root)))
            if not found:
                case = case_of(item, self.root)
                self.cases.append(case)
                self.items[case.key] = item

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.serve(self)
        return True


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "scenario(id): pins the scenario's id, whatever its file is called")
    config.addinivalue_line("markers", "environment(image=, limits=, network=): what its environment is given")
    config.addinivalue_line("markers", "evaluation(mode, artifacts=, collect=, fixtures=): how it is evaluated")


@pytest.fixture
def workspace() -> WorkspaceHandle:
    return current("the workspace fixture").workspace


@pytest.fixture
def agent() -> AgentHandle:
    return current("the agent fixture").agent


@pytest.fixture
def evaluation() -> Evaluation:
    return current("the evaluation fixture").evaluation


@pytest.fixture
def tmp_path() -> Path:
    """A folder of this trial's own, outside the world and away from the agent's temporary files."""
    return current("tmp_path").scratch()
