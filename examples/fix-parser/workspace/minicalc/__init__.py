"""Arithmetic with names."""

from minicalc.errors import CalcError
from minicalc.evaluator import evaluate
from minicalc.parser import parse
from minicalc.printer import to_text

__all__ = ["CalcError", "calculate", "evaluate", "parse", "to_text"]


def calculate(text, names=None):
    """Give the number that a text stands for."""
    return evaluate(parse(text), names or {})
