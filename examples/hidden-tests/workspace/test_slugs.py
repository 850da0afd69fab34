import unittest

from slugs import slug


class Slugs(unittest.TestCase):
    def test_words_are_joined(self):
        self.assertEqual(slug("Hello, World"), "hello-world")

    def test_long_titles_end_with_a_whole_word(self):
        self.assertEqual(slug("one two three four five six seven eight"), "one-two-three-four-five-six")

    def test_accents_are_left_out(self):
        self.assertEqual(slug("Crème brûlée"), "creme-brulee")
