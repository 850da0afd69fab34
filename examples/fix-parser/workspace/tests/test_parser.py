import unittest

from minicalc import CalcError, parse
from minicalc.nodes import Binary, Call, Name, Negative, Number


class ParserTest(unittest.TestCase):
    def test_times_binds_tighter_than_plus(self):
        self.assertEqual(
            parse("1 + 2 * 3"), Binary("+", Number(1), Binary("*", Number(2), Number(3)))
        )

    def test_powers_are_read_from_the_right(self):
        self.assertEqual(
            parse("2 ^ 3 ^ 2"), Binary("^", Number(2), Binary("^", Number(3), Number(2)))
        )

    def test_a_power_binds_tighter_than_a_sign(self):
        self.assertEqual(parse("-x ^ 2"), Negative(Binary("^", Name("x"), Number(2))))

    def test_calls(self):
        self.assertEqual(parse("max(1, x)"), Call("max", (Number(1), Name("x"))))

    def test_what_is_missing_is_named(self):
        with self.assertRaisesRegex(CalcError, r"expected '\)' at position 6"):
            parse("(1 + 2")
        with self.assertRaisesRegex(CalcError, "expected a number"):
            parse("1 +")
