"""The command: an expression, then names as NAME=NUMBER."""

import sys

from minicalc import CalcError, calculate


def main(arguments):
    if not arguments:
        print("usage: python -m minicalc EXPRESSION [NAME=NUMBER ...]", file=sys.stderr)
        return 2
    try:
        print(f"{calculate(arguments[0], _names(arguments[1:])):g}")
    except CalcError as error:
        print(f"minicalc: {error}", file=sys.stderr)
        return 1
    return 0


def _names(arguments):
    names = {}
    for argument in arguments:
        name, separator, number = argument.partition("=")
        try:
            names[name] = float(number)
        except ValueError:
            raise CalcError(f"{argument!r} is not NAME=NUMBER") from None
    return names
