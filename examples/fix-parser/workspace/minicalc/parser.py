"""Tokens to a tree, by precedence climbing."""

from minicalc.errors import CalcError
from minicalc.lexer import tokens
from minicalc.nodes import Binary, Call, Name, Negative, Number
from minicalc.operators import NEGATION, PRECEDENCE


def parse(text):
    """Give the tree of a text, or raise CalcError."""
    return _Parser(tokens(text)).whole()


class _Parser:
    def __init__(self, found):
        self._tokens = found
        self._at = 0

    def whole(self):
        tree = self._expression(1)
        if self._next.kind != "end":
            raise CalcError(f"unexpected {self._next.text!r} at position {self._next.position}")
        return tree

    @property
    def _next(self):
        return self._tokens[self._at]

    def _take(self):
        token = self._next
        self._at += 1
        return token

    def _expect(self, text):
        if self._next.text != text or self._next.kind != "symbol":
            raise CalcError(f"expected {text!r} at position {self._next.position}")
        self._take()

    def _expression(self, least):
        """Read operands and the operators between them that bind at least so tightly."""
        left = self._operand()
        while self._next.kind == "symbol" and PRECEDENCE.get(self._next.text, 0) >= least:
            operator = self._take().text
            right = self._expression(PRECEDENCE[operator])
            left = Binary(operator, left, right)
        return left

    def _operand(self):
        token = self._take()
        if token.kind == "number":
            return Number(float(token.text))
        if token.kind == "name":
            return self._name(token)
        if token.text == "-":
            return Negative(self._expression(NEGATION))
        if token.text == "(":
            tree = self._expression(1)
            self._expect(")")
            return tree
        raise CalcError(f"expected a number, a name or '(' at position {token.position}")

    def _name(self, token):
        if self._next.text != "(" or self._next.kind != "symbol":
            return Name(token.text)
        self._take()
        arguments = [self._expression(1)]
        while self._next.text == ",":
            self._take()
            arguments.append(self._expression(1))
        self._expect(")")
        return Call(token.text, tuple(arguments))
