"""A tree to a number."""

import math

from minicalc.errors import CalcError
from minicalc.nodes import Binary, Call, Name, Negative, Number

FUNCTIONS = {"sqrt": math.sqrt, "min": min, "max": max, "abs": abs}


def evaluate(tree, names):
    """Give the number a tree stands for; `names` maps names to numbers."""
    if isinstance(tree, Number):
        return tree.value
    if isinstance(tree, Name):
        return _named(tree.name, names)
    if isinstance(tree, Negative):
        return -evaluate(tree.operand, names)
    if isinstance(tree, Binary):
        return _binary(tree.operator, evaluate(tree.left, names), evaluate(tree.right, names))
    if isinstance(tree, Call):
        return _call(tree.function, [evaluate(argument, names) for argument in tree.arguments])
    raise CalcError(f"cannot evaluate {tree!r}")


def _named(name, names):
    if name not in names:
        raise CalcError(f"there is no {name!r}")
    return names[name]


def _binary(operator, left, right):
    if operator == "+":
        return left + right
    elif operator == "-":
        return left - right
    elif operator == "*":
        return left * right
    elif operator == "/":
        if right == 0:
            raise CalcError("division by zero")
        return left / right
    elif operator == "^":
        return left**right
    raise CalcError(f"there is no operator {operator!r}")


def _call(function, arguments):
    if function not in FUNCTIONS:
        raise CalcError(f"there is no function {function!r}")
    try:
        return float(FUNCTIONS[function](*arguments))
    except (TypeError, ValueError) as error:
        raise CalcError(f"{function} cannot take {arguments}: {error}") from error
