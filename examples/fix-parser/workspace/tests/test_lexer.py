import unittest

from minicalc import CalcError
from minicalc.lexer import tokens


class LexerTest(unittest.TestCase):
    def test_kinds(self):
        self.assertEqual([token.kind for token in tokens("2.5 * x")], ["number", "symbol", "name", "end"])

    def test_positions_skip_spaces(self):
        self.assertEqual([token.position for token in tokens(" 1 +  2")], [1, 3, 6, 7])

    def test_an_unknown_character_is_named(self):
        with self.assertRaisesRegex(CalcError, r"unexpected '\$' at position 2"):
            tokens("1 $ 2")
