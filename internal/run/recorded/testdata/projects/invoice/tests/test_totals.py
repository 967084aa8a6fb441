import unittest

from invoice.totals import Line, total


class TotalTest(unittest.TestCase):
    def test_one_line(self):
        net, tax, gross = total([Line("Hosting", 1, 100.0)])
        self.assertEqual((net, tax, gross), (100.0, 19.0, 119.0))

    def test_half_a_cent_is_rounded_up(self):
        # 5.50 at 19 % is 1.045: the tax office wants 1.05
        net, tax, gross = total([Line("Domain", 1, 5.50)])
        self.assertEqual(f"{tax:.2f}", "1.05")
        self.assertEqual(f"{gross:.2f}", "6.55")


if __name__ == "__main__":
    unittest.main()
