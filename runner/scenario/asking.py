"""`bench.judge(...)`: one question to the bench's judge from a scenario, recorded apart from what the subject spent."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from runner.judges import names_model, under_test
from runner.records import Usage

from .outputs import store_text

if TYPE_CHECKING:
    from runner.definition import Judge

    from .live import LiveTrial

_FENCED = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)


@dataclass(frozen=True)
class Judgement:
    """What the judge said. `model` is the version that the provider says has answered."""

    text: str
    model: str
    usage: Usage
    seconds: float
    _trial: LiveTrial

    def json(self) -> Any:
        """Read the answer as JSON, a fence around it left aside. One that is none ends the trial as `judge`."""
        fenced = _FENCED.search(self.text)
        try:
            return json.loads(fenced[1] if fenced else self.text)
        except (ValueError, RecursionError) as error:
            sentence = f"The judge's answer is not the JSON that the scenario asked it for: {error}."
            raise self._trial.fail("judge", sentence, self.text) from error


def ask_judge(trial: LiveTrial, prompt: str) -> Judgement:
    """Ask, and journal prompt, answer and usage. A judge that cannot answer is an `eval_error`, never a low score."""
    from runner.judging import JudgeFault, ask  # with http.client and all it needs, for who has a judge

    judge = trial.setting.bench.judge
    if judge is None:
        raise ValueError(
            "bench.judge was called, but this bench declares no judge; give define_bench judge=Judge(...)."
        )
    if not isinstance(prompt, str) or not prompt.strip():
        raise ValueError("bench.judge needs a prompt that is not empty.")
    trial.check_wall()
    try:
        answer = ask(judge, prompt, os.environ, trial.setting.deadline)
    except JudgeFault as error:
        trial.check_wall()
        raise trial.fail(error.code, trial.redactor.text(str(error))) from error
    trial.judged += 1
    blobs = trial.setting.blobs
    trial.emit(
        "judge",
        number=trial.judged,
        model=answer.model,
        prompt=store_text(blobs, prompt, trial.redactor),
        text=store_text(blobs, answer.text, trial.redactor),
        seconds=round(answer.seconds, 6),
        usage=answer.usage.to_json(),
        cut=answer.cut,
    )
    _check_answer(trial, judge, answer.model)
    if answer.cut:
        trial.issue("warning", "judge_cut", "The judge's answer was cut short at its limit of tokens.")
    return Judgement(answer.text, answer.model, answer.usage, answer.seconds, trial)


def _check_answer(trial: LiveTrial, judge: Judge, model: str) -> None:
    """The judge's name may stand for a model that is under test; and what worked here may have told no name at all."""
    models = [name for row in trial.requests for name in row.get("models", ())]
    where = under_test(trial.setting.bench, model)
    if not where and not judge.same_model and names_model(models, model):
        where = "it has answered the agent's own requests"
    if where:
        said = f"The judge {judge.model!r} answered as {model!r}, which is under test ({where})"
        raise trial.fail("judge_refused", f"{said}, and a model is no judge of itself.")
    if not judge.same_model and not models and "model" not in trial.axes and trial.agent.has_model:
        trial.flag("model_unknown")


def check_answered(trial: LiveTrial, models: Iterable[str]) -> None:
    """What an agent chooses by itself no declaration tells; its own output may."""
    judge = trial.setting.bench.judge
    if judge is None or judge.same_model or not names_model(models, judge.model):
        return
    said = f"The agent {trial.agent.name!r} has worked with the judge's model {judge.model!r}, as its own output tells"
    raise trial.fail("judge_refused", f"{said}, and no model judges itself.")
