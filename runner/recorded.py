"""What the agents of an earlier run did, as a run that only grades it again reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .errors import RunnerError
from .faults import FAULTS
from .manifest import Manifest
from .records import Attempt, Trial
from .replay import read
from .selection import TrialName, name_of


@dataclass(frozen=True)
class Work:
    """What one trial's agent did. `kept` is the world it left, where that was kept."""

    run: str
    attempt: Attempt
    kept: Path | None = None

    @property
    def ended_by(self) -> str:
        """Name the fault that left nothing to grade ("" where there is something): it stands, whatever is checked."""
        attempt = self.attempt
        code = attempt.fault or ""
        return code if attempt.state == "run_error" and code in FAULTS and FAULTS[code].door != "bench" else ""


class Recorded:
    """The work of each trial of a run that grades again, by the trial's index."""

    def __init__(self, manifest: Manifest, trials: Mapping[TrialName, Trial], folder: Path) -> None:
        self.manifest, self._trials, self._folder = manifest, trials, folder

    @classmethod
    def of(cls, run_dir: Path, manifest: Manifest) -> Recorded:
        """Find the run whose agents did the work: it lies beside the one that grades it again."""
        name = manifest.regrades or ""
        folder = run_dir.parent / name
        if not folder.is_dir():
            raise RunnerError(
                f"The run {name}, whose agents did the work that is graded again, is not in {run_dir.parent}."
            )
        result = read(folder)
        trials = {name_of(result.manifest, trial.planned.index): trial for trial in result.trials}
        return cls(manifest, trials, folder)

    def work(self, index: int) -> Work | None:
        """Give what there is to grade again of a trial; None where its agent never came to an end."""
        trial = self._trials.get(name_of(self.manifest, index))
        final = trial.final if trial else None
        if trial is None or final is None or trial.state != final.state or trial.state in ("running", "cancelled"):
            return None
        kept = self._folder / final.kept.path if final.kept else None
        return Work(self._folder.name, final, kept if kept and kept.is_dir() else None)

    def nothing(self) -> dict[int, str]:
        """Say of each trial without work why it is not run."""
        return {
            planned.index: f"Nothing to grade again: in the run {self._folder.name} {self._state(planned.index)}."
            for planned in self.manifest.trials
            if self.work(planned.index) is None
        }

    def _state(self, index: int) -> str:
        trial = self._trials.get(name_of(self.manifest, index))
        return f"it is {trial.state.replace('_', ' ')}" if trial else "there is no such trial"
