from __future__ import annotations

import pytest

from runner.reports.figures import number


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0, "0"),
        (2 / 3, "0.6667"),
        (-12.5, "-12.5"),
        (999.94, "999.9"),
        (999.96, "1,000"),
        (20_000, "20,000"),
        (-1.5e9, "-1,500,000,000"),
    ],
)
def test_a_number_is_written_without_an_exponent(value: float, written: str) -> None:
    assert number(value) == written
