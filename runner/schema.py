"""What a bench can record: measures, read from a class and its source, never by running scenarios."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from .digests import digest

MeasureType = Literal["bool", "int", "float", "category", "text"]
Reducer = Literal["rate", "mean", "median", "min", "max", "sum", "counts", "none"]
LARGEST_NUMBER = 1e100
"""What a number may be at most: squares of larger ones, added up, would leave the range of a float."""


@dataclass(frozen=True)
class MeasureSpec:
    """One declared measure. `objective` is "maximize", "minimize", "target(x)" or "" (no direction)."""

    key: str
    type: MeasureType
    description: str = ""
    objective: str = ""
    unit: str = ""
    label: str = ""
    aggregate: Reducer = "none"
    required: bool = False
    headline: bool = False
    worst: float | None = None
    categories: tuple[str, ...] = ()

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> MeasureSpec:
        known = {key: value for key, value in row.items() if key in cls.__dataclass_fields__}
        return cls(**{**known, "categories": tuple(row.get("categories", ()))})

    @property
    def worst_value(self) -> float | None:
        """The value `errors-fail/1` counts for an error; None where the measure has none."""
        if self.worst is not None:
            return self.worst
        if self.type == "bool":
            return 1.0 if self.objective == "minimize" else 0.0
        return None


def schema_hash(measures: Sequence[MeasureSpec]) -> str:
    """Hash the schema's canonical JSON: comments, import order and formatting do not change it."""
    return digest([asdict(measure) for measure in measures])
