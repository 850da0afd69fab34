import unittest

from minicalc import CalcError, calculate


class EvaluatorTest(unittest.TestCase):
    def test_arithmetic(self):
        for text, number in (("1 + 2 * 3", 7), ("(1 + 2) * 3", 9), ("2 ^ 10", 1024), ("7 / 2", 3.5)):
            self.assertEqual(calculate(text), number, text)

    def test_a_chain_of_subtractions_is_read_from_the_left(self):
        self.assertEqual(calculate("10 - 3 - 2"), 5)

    def test_powers_are_read_from_the_right(self):
        self.assertEqual(calculate("2 ^ 3 ^ 2"), 512)

    def test_names_and_functions(self):
        self.assertEqual(calculate("max(a, b) + abs(-1)", {"a": 2.0, "b": 3.0}), 4)

    def test_what_does_not_exist_is_named(self):
        for text, said in (("1 / 0", "division by zero"), ("nix", "there is no 'nix'"), ("f(1)", "no function 'f'")):
            with self.assertRaisesRegex(CalcError, said):
                calculate(text)
