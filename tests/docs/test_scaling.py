# SPDX-License-Identifier: Apache-2.0
"""The model of times over ranks: what it is fitted to, and what it predicts."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "docs"))
import scaling  # noqa: E402


def rows(times, T=1000):
    return [{"layer": "linear", "D": "64", "T": str(T), "ranks": str(ranks), "milliseconds": str(time),
             "million steps per second": "1", "GiB per GPU": "1", "exchange": "0.5"} for ranks, time in times.items()]  # fmt: skip


class Model(unittest.TestCase):
    def test_it_recovers_the_work_and_the_exchange(self):
        (found,) = scaling.fitted(rows({1: 90, 2: 80 / 2 + 3, 4: 80 / 4 + 3}))
        self.assertEqual(found, (("linear", "64", 1000), 80.0, 3.0))

    def test_one_process_is_no_part_of_it(self):
        one, other = (list(scaling.fitted(rows({1: first, 2: 43, 4: 23}))) for first in (1, 1000))
        self.assertEqual(one, other)

    def test_its_prediction_falls_to_the_exchange(self):
        columns, ((*_, on_8, on_64, on_1000),) = scaling.predicted(rows({1: 90, 2: 43, 4: 23}))
        self.assertEqual((on_8, on_64, on_1000), ("13.0", "4.2", "3.1"))
        self.assertEqual(columns[-1], "1,000 ranks, ms")

    def test_sequences_without_two_and_four_ranks_are_not_compared(self):
        data = rows({1: 90, 2: 43, 4: 23}) + rows({4: 100}, T=9000)
        self.assertEqual(len(scaling.strong(data)[1]), 1)
        self.assertEqual([row[2] for row in scaling.longer(data)[1]], ["9,000"])

    def test_gains_over_one_process_are_empty_where_it_was_not_measured(self):
        (with_one,) = scaling.strong(rows({1: 90, 2: 45, 4: 30}))[1]
        (without,) = scaling.strong(rows({2: 45, 4: 30}))[1]
        self.assertEqual(with_one[3:], ["90.0", "45.0", "30.0", "2.00", "3.00", "1.50", "0.5"])
        self.assertEqual(without[3:], ["", "45.0", "30.0", "", "", "1.50", "0.5"])
        (without_two,) = scaling.strong(rows({1: 90, 4: 30}))[1]
        self.assertEqual(without_two[3:], ["90.0", "", "30.0", "", "3.00", "", "0.5"])


if __name__ == "__main__":
    unittest.main()
