// SPDX-License-Identifier: Apache-2.0
#include "tests/testing.hpp"
#include <algorithm>
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(longhorn)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // delta = 1. |k_1|^2 = 1, beta = 1/2: S_1 = [2,0]; o_1 = 2.
  // |k_2|^2 = 3 (with a third channel), beta = 1/4: reads 2, residual 8, S_2 = [4,2,2]; o_2 = 14.
  const Sequence s = one_head(2, {1, 1, 0, 3, 1, 0}, {1, 0, 0, 1, 1, 1}, {4, 10});
  for (const char *form : {"recurrent", "chunked"}) {
    const Output out = forward(find_variant("longhorn"), s, {form, Real::f64, 2, {}});
    check_close(out.o, {2, 14}, 32 * epsilon_of(Real::f64)); // lengths are square roots
    check_close(out.state, {4, 2, 2}, 16 * epsilon_of(Real::f64));
  }
}

BOOST_AUTO_TEST_CASE(no_weight_on_the_pair_leaves_the_memory) {
  Sequence s = random_sequence({1, 1, 9, 4, 3}, 31);
  s.state = Sequence(random_sequence({1, 1, 3, 4, 1}, 32)).k;
  const Variant &variant = find_variant("longhorn");
  for (const char *form : {"recurrent", "chunked"})
    check_close(forward(variant, s, {form, Real::f64, 4, variant_params(variant, {{"delta", "0"}})}).state, s.state, 0);
}

BOOST_AUTO_TEST_CASE(beta_is_a_factor_on_delta) {
  Sequence s = random_sequence({1, 2, 20, 5, 3}, 36, Keys::gaussian);
  const Variant &variant = find_variant("longhorn");
  std::fill(s.beta.begin(), s.beta.end(), 0.3);
  Sequence without = s;
  without.beta.clear();
  const Params weaker = variant_params(variant, {{"delta", "0.3"}});
  for (const char *form : {"recurrent", "chunked"})
    check_close(forward(variant, s, {form, Real::f64, 8, {}}).o,
                forward(variant, without, {form, Real::f64, 8, weaker}).o, 100 * epsilon_of(Real::f64));
}

BOOST_AUTO_TEST_CASE(an_infinite_weight_is_nlms) {
  // The difference from NLMS after one write is |e| / (|k| (1 + delta |k|^2)): it falls as 1 / delta until only
  // rounding is left.
  const Sequence s = random_sequence({1, 2, 30, 8, 4}, 33);
  const Variant &variant = find_variant("longhorn"), &limit = find_variant("nlms");
  const Output exact = forward(limit, s);
  double last = 0;
  for (double delta : {1e3, 1e4, 1e5}) {
    const Output out =
        forward(variant, s, {"recurrent", Real::f64, 1, variant_params(variant, {{"delta", std::to_string(delta)}})});
    const double difference = deviation(out, exact).largest();
    if (last > 0) BOOST_TEST(std::abs(difference / last - 0.1) <= 0.001); // next order: 1 / delta of the first
    last = difference;
  }
  const Output out = forward(variant, s, {"recurrent", Real::f64, 1, variant_params(variant, {{"delta", "1e30"}})});
  BOOST_TEST(deviation(out, exact).largest() <=
             accumulated_terms(s.shape, 1) * epsilon_of(Real::f64) * input_condition(limit, s, {}));
}

BOOST_AUTO_TEST_CASE(each_write_minimises_its_objective) {
  // 003 Eq 30: the gradient S - S_0 + delta (S k - v) k^T is 0 at S_1.
  Sequence s = random_sequence({1, 1, 1, 5, 3}, 34, Keys::gaussian);
  s.state = random_sequence({1, 1, 3, 5, 1}, 35).k, s.beta.clear();
  const Variant &variant = find_variant("longhorn");
  const Output out = forward(variant, s, {"recurrent", Real::f64, 1, variant_params(variant, {{"delta", "2.5"}})});
  for (int i = 0; i < 3; ++i) {
    double read = 0;
    for (int j = 0; j < 5; ++j) read += out.state[i * 5 + j] * s.k[j];
    for (int j = 0; j < 5; ++j)
      BOOST_TEST(std::abs(out.state[i * 5 + j] - s.state[i * 5 + j] + 2.5 * (read - s.v[i]) * s.k[j]) <=
                 100 * epsilon_of(Real::f64));
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
