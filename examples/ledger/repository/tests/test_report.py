import unittest

from ledger.report import owed, render_report


class ReportTest(unittest.TestCase):
    def test_shares_add_up_to_the_bill(self):
        totals = owed([("dinner", 1000)], ["Ada", "Ben", "Cleo"])
        self.assertEqual(sum(totals.values()), 1000)

    def test_renders_everybody(self):
        text = render_report([("taxi", 900)], ["Ada", "Ben", "Cleo"])
        self.assertEqual(text.splitlines()[0], "Ada: 3.00")


if __name__ == "__main__":
    unittest.main()
