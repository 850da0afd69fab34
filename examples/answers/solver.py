"""Two agents that answer by rules: the apprentice knows some kinds of question, the master more, neither all."""

import re
from datetime import date, timedelta

ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
METRES = {"inch": 0.0254, "foot": 0.3048, "yard": 0.9144, "mile": 1609.344}


def apprentice(prompt, workspace, axes):
    return _answered(prompt, (_sum, _roman_by_adding))


def master(prompt, workspace, axes):
    return _answered(prompt, (_sum, _roman, _weekday, _later, _metres))


def _answered(prompt, rules):
    """The first rule that fits answers; what it would have cost a model is told as its usage."""
    question = prompt.splitlines()[0]
    text = next((answer for rule in rules if (answer := rule(question))), "I do not know.")
    usage = {"tokens_in": len(prompt) // 4, "tokens_out": len(text) // 4 + 1, "model_calls": 1}
    return {"text": text, "usage": usage}


def _sum(question):
    found = re.fullmatch(r"What is (\d+) (plus|times) (\d+)\?", question)
    if not found:
        return None
    left, right = int(found[1]), int(found[3])
    return str(left + right if found[2] == "plus" else left * right)


def _roman_by_adding(question):
    """Right until a smaller sign stands before a greater one."""
    found = re.search(r"Roman numeral ([IVXLCDM]+)", question)
    return str(sum(ROMAN[sign] for sign in found[1])) if found else None


def _roman(question):
    found = re.search(r"Roman numeral ([IVXLCDM]+)", question)
    if not found:
        return None
    values = [ROMAN[sign] for sign in found[1]]
    following = [*values[1:], 0]
    return str(sum(-one if one < after else one for one, after in zip(values, following, strict=True)))


def _weekday(question):
    found = re.search(r"weekday was (\d{4}-\d\d-\d\d)", question)
    return date.fromisoformat(found[1]).strftime("%A") if found else None


def _later(question):
    found = re.search(r"date is (\d+) days after (\d{4}-\d\d-\d\d)", question)
    return str(date.fromisoformat(found[2]) + timedelta(days=int(found[1]))) if found else None


def _metres(question):
    """Rounds too soon: right to a centimetre in a metre, wrong over a distance."""
    found = re.search(r"How many metres are (\d+) (\w+)\?", question)
    unit = {"inches": "inch", "feet": "foot", "yards": "yard", "miles": "mile"}.get(found[2]) if found else None
    return f"{int(found[1]) * round(METRES[unit], 2):g}" if found and unit else None
