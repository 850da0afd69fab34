from typing import Annotated, Literal

from runner import Measure, Python, Timeouts, define_bench


class Schema:
    correct: Annotated[bool, Measure(headline=True, required=True)]
    """Is the answer the expected one, apart from case, spaces and a full stop?"""

    verdict: Literal["right", "wrong", "declined"]
    """A wrong answer and an admission that none is known are different things."""

    error: Annotated[float, Measure(objective="minimize", aggregate="median", unit="%")]
    """How far off a number is, in per cent of the expected one; missing where either is no number."""

    words: Annotated[int, Measure(objective="minimize")]
    """Words in the answer; one was asked for."""

    answer: str
    """What was said."""


bench = define_bench(
    name="examples/answers",
    version="1.0.0",
    title="Short questions with one right answer",
    schema=Schema,
    workspace=None,
    agents={"apprentice": Python("solver:apprentice"), "master": Python("solver:master")},
    matrix={"agent": ["apprentice", "master"]},
    trials=2,
    evaluation="none",
    timeouts=Timeouts(request=20, trial=60),
)
