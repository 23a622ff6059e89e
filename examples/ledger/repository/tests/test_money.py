import unittest

from ledger.money import parse_amount, render_amount


class MoneyTest(unittest.TestCase):
    def test_parses_and_renders(self):
        for text, cents in [("12.34", 1234), ("12", 1200), ("-0.50", -50)]:
            self.assertEqual(parse_amount(text), cents)
        self.assertEqual(render_amount(-1205), "-12.05")


if __name__ == "__main__":
    unittest.main()
