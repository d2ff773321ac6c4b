// SPDX-License-Identifier: Apache-2.0
// Ratios, places and power computed by hand: two heads of three rows of two numbers.
#include "harness/check/judge.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(judgements)

struct Given {
  Part part{"o", 2, 3, 2, {100, 100, 1, 1, 1, 1, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3}, true};
  PartNoise noise{"o", {1e-1, 1e-3, 1e-3, 1e-6, 1e-6, 1e-6}, Precision::bf16};
  Judged judged(const std::vector<double> &candidate) const { return judge(part, noise, candidate, 2); }
};

BOOST_AUTO_TEST_CASE(errors_are_counted_in_units_of_each_rows_noise) {
  const Given given;
  std::vector<double> candidate = given.part.values;
  candidate[2] += 3e-3, candidate[3] -= 4e-3; // row 1: RMS 5e-3 / sqrt(2)
  const Judged found = given.judged(candidate);
  BOOST_TEST(std::fabs(found.row - 5 / std::sqrt(2)) < 1e-9);
  BOOST_TEST((found.judgement == Judgement::right && found.first_bad.empty()));
  BOOST_TEST((given.judged(given.part.values).judgement == Judgement::right));
}

BOOST_AUTO_TEST_CASE(a_small_row_beside_a_large_one_and_a_small_head_beside_a_large_one_are_not_hidden) {
  const Given given;
  std::vector<double> candidate = given.part.values;
  candidate[4] = candidate[5] = 0; // a row of size 1, where another row has size 100
  Judged found = given.judged(candidate);
  BOOST_TEST((found.judgement == Judgement::wrong && found.bad_heads == std::vector<size_t>{0}));
  BOOST_TEST((found.first_bad == std::vector<long>{0, 0, 2, 0}));
  candidate = given.part.values;
  std::fill(candidate.begin() + 6, candidate.end(), 0.0); // a head of size 1e-3
  found = given.judged(candidate);
  BOOST_TEST((found.judgement == Judgement::wrong && found.bad_heads == std::vector<size_t>{1}));
  BOOST_TEST((found.first_bad == std::vector<long>{0, 1, 0, 0}));
}

BOOST_AUTO_TEST_CASE(what_is_not_finite_is_wrong) {
  const Given given;
  for (double x : {std::nan(""), HUGE_VAL}) {
    std::vector<double> candidate = given.part.values;
    candidate[9] = x;
    const Judged found = given.judged(candidate);
    BOOST_TEST((found.judgement == Judgement::wrong && !found.finite));
    BOOST_TEST((found.first_bad == std::vector<long>{0, 1, 1, 1}));
  }
}

BOOST_AUTO_TEST_CASE(noise_as_large_as_the_values_decides_nothing_and_true_zeros_do) {
  Given given;
  for (size_t row = 3; row < 6; ++row) given.noise.rows[row] = 1e-3;           // as large as the second head's values
  BOOST_TEST((given.judged(given.part.values).judgement == Judgement::right)); // few numbers, so the heads are pooled
  for (size_t row = 0; row < 3; ++row) given.noise.rows[row] = given.part.values[2 * row];
  Judged found = given.judged(given.part.values);
  BOOST_TEST((found.judgement == Judgement::undecided && found.without_power == std::vector<size_t>{0, 1}));
  std::vector<double> far = given.part.values; // wrong by 100 times the noise: undecided
  far[0] = 1e4, far[7] = -1;
  BOOST_TEST((given.judged(far).judgement == Judgement::undecided));
  far[7] = std::nan("");
  BOOST_TEST((given.judged(far).judgement == Judgement::wrong));
  for (size_t i = 6; i < 12; ++i) given.part.values[i] = 1e-19; // zero up to float64 rounding
  found = given.judged(given.part.values);
  BOOST_TEST((found.judgement == Judgement::right));
  std::vector<double> candidate = given.part.values;
  candidate[6] = 1;
  BOOST_TEST((given.judged(candidate).judgement == Judgement::wrong));
}

BOOST_AUTO_TEST_CASE(one_row_is_judged_as_a_row_and_many_as_a_head) {
  const Limits limits = limits_of(Precision::bf16);
  BOOST_TEST(limits.head_of(1) == limits.row);
  BOOST_TEST((limits.head_of(4) < limits.row && limits.head_of(4) > limits.head));
  BOOST_TEST(limits.head_of(1000000) < 1.01 * limits.head);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
