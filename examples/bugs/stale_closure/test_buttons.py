import unittest

from buttons import row


class Row(unittest.TestCase):
    def test_each_button_knows_its_label(self):
        handlers = row(["save", "open", "quit"])
        pressed = handlers["save"]()
        self.assertEqual(pressed, "save@0")

    def test_the_last_one(self):
        self.assertEqual(row(["save", "quit"])["quit"](2), "quit@1quit@1")


if __name__ == "__main__":
    unittest.main()
