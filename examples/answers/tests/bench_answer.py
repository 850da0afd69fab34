import json
from pathlib import Path

import pytest

from runner import expect, observe

QUESTIONS = json.loads((Path(__file__).parents[1] / "fixtures/questions.json").read_text())


@pytest.mark.parametrize("row", [pytest.param(row, id=row["id"]) for row in QUESTIONS])
def bench_answer(agent, evaluation, row):
    """One question, one answer; what is expected is never in the agent's reach."""
    expect(row["question"]).to_be_truthy()
    reply = agent.request(f"{row['question']}\nAnswer with the result alone, in one word or number.")
    with evaluation():  # nothing of the environment is needed to grade: it is closed by now
        answer = reply.text.strip().rstrip(".")
        correct = answer.casefold() == row["answer"].casefold()
        declined = "not know" in answer
        observe("correct", correct)
        observe("verdict", "right" if correct else "declined" if declined else "wrong")
        observe("words", len(answer.split()))
        observe("answer", answer)
        if (error := _error(answer, row["answer"])) is not None:
            observe("error", error)


def _error(answer, expected):
    try:
        return abs(float(answer) - float(expected)) / abs(float(expected)) * 100
    except ValueError:
        return None
