import unittest

from minicalc import parse, to_text


class PrinterTest(unittest.TestCase):
    def test_parentheses_stand_only_where_they_are_needed(self):
        for text in ("1 + 2 * 3", "(1 + 2) * 3", "2 ^ 3 ^ 2", "(2 ^ 3) ^ 2", "-(1 + x)", "max(1, 2 + 3)"):
            self.assertEqual(to_text(parse(text)), text)

    def test_spare_parentheses_go(self):
        self.assertEqual(to_text(parse("(1) + ((2 * 3))")), "1 + 2 * 3")
