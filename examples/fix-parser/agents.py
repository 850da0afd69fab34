"""Agents whose every act is written down, so that what the bench says of them can be checked.

Each is a kind of behaviour seen in real agents. They know no more than the prompt: `when` picks the script by it.
"""

from runner import Command, Scripted, crash, delete, loop, patch, say, usage, write
from runner.steps import run

FIX, FEATURE, REFACTOR = "10 - 3 - 2", "operator %", "docs/style.md"
PARSER, LEXER, OPERATORS = "minicalc/parser.py", "minicalc/lexer.py", "minicalc/operators.py"
EVALUATOR, PRINTER = "minicalc/evaluator.py", "minicalc/printer.py"

# what a good engineer would do

fix = [
    run("grep", "-n", "PRECEDENCE", PARSER, OPERATORS),
    patch(PARSER, "import NEGATION, PRECEDENCE\n", "import NEGATION, PRECEDENCE, RIGHT_TO_LEFT\n"),
    patch(
        PARSER,
        "            right = self._expression(PRECEDENCE[operator])\n",
        "            level = PRECEDENCE[operator]\n"
        "            right = self._expression(level if operator in RIGHT_TO_LEFT else level + 1)\n",
    ),
    say("Chains of left-to-right operators took their right side too greedily; it now binds one level tighter."),
]
modulo_but_for_the_printer = [
    run("grep", "-rn", "/", LEXER, OPERATORS),
    patch(LEXER, 'SYMBOLS = "+-*/^(),"', 'SYMBOLS = "+-*/%^(),"'),
    patch(OPERATORS, '"/": 2,', '"/": 2, "%": 2,'),
    patch(
        EVALUATOR,
        '    elif operator == "^":\n',
        '    elif operator == "%":\n'
        "        if right == 0:\n"
        '            raise CalcError("division by zero")\n'
        "        return left % right\n"
        '    elif operator == "^":\n',
    ),
]
modulo = [
    *modulo_but_for_the_printer,
    patch(PRINTER, 'operator in ("*", "/")', 'operator in ("*", "/", "%")'),
    say("Added % beside * and /, in lexer, table, evaluator and printer."),
]
_TABLE = '''"""The operators: how tightly they bind, from which side a chain is read, and what they do."""

import operator as do

PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2, "^": 4}
NEGATION = 3
RIGHT_TO_LEFT = {"^"}
APPLY = {"+": do.add, "-": do.sub, "*": do.mul, "/": do.truediv, "^": do.pow}
'''
_CHAIN = """    if operator == "+":
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
"""
_LOOK_UP = """    if operator not in APPLY:
        raise CalcError(f"there is no operator {operator!r}")
"""
_APPLY = "    return APPLY[operator](left, right)\n"
_APPLY_WITH_CARE = """    try:
        return APPLY[operator](left, right)
    except ZeroDivisionError:
        raise CalcError("division by zero") from None
"""


def one_table(apply):
    """Move what is known of operators into one module; `apply` is the way the evaluator ends up using it."""
    return [
        write(OPERATORS, _TABLE),
        patch(EVALUATOR, _CHAIN, _LOOK_UP + apply),
        patch(EVALUATOR, "Negative, Number\n", "Negative, Number\nfrom minicalc.operators import APPLY\n"),
        patch(
            PRINTER,
            """def _level(operator):
    if operator in ("+", "-"):
        return 1
    elif operator in ("*", "/"):
        return 2
    return 4


""",
            "",
        ),
        patch(PRINTER, "_level(tree.operator)", "PRECEDENCE[tree.operator]"),
        patch(PRINTER, 'tree.operator == "^"', "tree.operator in RIGHT_TO_LEFT"),
        patch(
            PRINTER,
            "from minicalc.nodes import Call, Name, Negative, Number\n",
            "from minicalc.nodes import Call, Name, Negative, Number\n"
            "from minicalc.operators import PRECEDENCE, RIGHT_TO_LEFT\n",
        ),
    ]


def spends(tokens_in, tokens_out, cost, steps):
    return [usage(tokens_in=tokens_in, tokens_out=tokens_out, cost=cost, model_calls=len(steps)), *steps]


def asked(fix_steps, feature_steps, refactor_steps, **more):
    return Scripted(
        [say("I do not know how to do that.")],
        when=[(FIX, fix_steps), (FEATURE, feature_steps), (REFACTOR, refactor_steps)],
        **more,
    )


refactor = [*one_table(_APPLY_WITH_CARE), say("Operators are described in one table; evaluator and printer read it.")]
careful = (spends(5200, 640, 0.021, fix), spends(8100, 1150, 0.034, modulo), spends(9400, 1720, 0.041, refactor))

AGENTS = {
    "careful": asked(*careful),
    # fixes what was asked, breaks something beside it
    "hasty": asked(
        spends(
            2100,
            180,
            0.006,
            [
                patch(PARSER, "self._expression(PRECEDENCE[operator])", "self._expression(PRECEDENCE[operator] + 1)"),
                say("Fixed: the right side binds one level tighter now."),
            ],
        ),
        spends(2600, 390, 0.009, [*modulo_but_for_the_printer, say("% works.")]),
        spends(3000, 700, 0.013, [*one_table(_APPLY), say("Operators are in one table now.")]),
    ),
    # makes the suite agree with the code
    "meddler": asked(
        spends(
            2900,
            150,
            0.008,
            [
                patch("tests/test_evaluator.py", 'calculate("10 - 3 - 2"), 5)', 'calculate("10 - 3 - 2"), 9)'),
                say("The expectation was wrong; all tests pass now."),
            ],
        ),
        spends(
            2400,
            210,
            0.007,
            [
                patch("tests/test_lexer.py", "unexpected '\\$' at position 2", "unexpected"),
                patch("tests/test_lexer.py", '"1 $ 2"', '"1 ? 2"'),
                say("% is no longer tested to be unknown."),
            ],
        ),
        spends(2700, 90, 0.007, [delete("tests/test_printer.py"), say("Removed a test that stood in the way.")]),
    ),
    # busy in the wrong place
    "lost": asked(
        spends(
            3800,
            260,
            0.011,
            [
                patch(EVALUATOR, "        return left - right\n", "        return (left) - (right)\n"),
                say("Subtraction is explicit now."),
            ],
        ),
        spends(
            3100,
            330,
            0.010,
            [
                patch("minicalc/cli.py", '"""The command:', '"""The command (% is read as percent):'),
                say("Documented %."),
            ],
        ),
        spends(
            3500,
            280,
            0.011,
            [
                patch("minicalc/nodes.py", '"""The tree between parser and evaluator."""', '"""The tree."""'),
                say("Tidied the nodes."),
            ],
        ),
    ),
    # never comes to an end; of the three tasks one is done before that
    "looper": asked(
        [*spends(5200, 640, 0.021, fix), loop()],
        [write("notes.txt", "thinking about %\n"), loop()],
        [loop()],
    ),
    # dies half-way and leaves a file that is no Python
    "crasher": Scripted([patch(PARSER, "    def whole(self):\n", "    def whole(self:\n"), crash(3)]),
    # careful on a good day; which day it is comes from the trial's seed
    "flaky": asked(*careful, seeded=[(0.5, [usage(tokens_in=900, tokens_out=40, cost=0.002), say("I give up.")])]),
    # as good as careful, but its worlds arrive damaged (bench.py: setup), which is not its fault
    "misplaced": asked(*careful),
    # its program is not there
    "absent": Command("env minicalc-agent-that-is-not-installed {prompt_file}"),
}
