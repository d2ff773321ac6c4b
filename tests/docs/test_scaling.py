# SPDX-License-Identifier: Apache-2.0
"""The model of times over ranks: what it is fitted to, and what it predicts."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "docs"))
import scaling  # noqa: E402


def rows(times, T=1000):
    return [{"layer": "linear", "D": "64", "T": str(T), "ranks": str(ranks), "milliseconds": str(time),
             "million steps a second": "1", "GiB a GPU": "1"} for ranks, time in times.items()]  # fmt: skip


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

    def test_sequences_without_all_three_numbers_of_ranks_are_not_compared(self):
        data = rows({1: 90, 2: 43, 4: 23}) + rows({4: 100}, T=9000)
        self.assertEqual(len(scaling.strong(data)[1]), 1)
        self.assertEqual([row[2] for row in scaling.longer(data)[1]], ["9,000"])


if __name__ == "__main__":
    unittest.main()
