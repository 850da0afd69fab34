"""How tightly the operators bind, and from which side a chain of them is read."""

PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2, "^": 4}
NEGATION = 3
RIGHT_TO_LEFT = {"^"}
