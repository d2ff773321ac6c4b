// SPDX-License-Identifier: Apache-2.0
#include "harness/core/error.hpp"
#include "tests/gates.hpp"
#include "tests/reductions.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(gated_linear)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // S_1 = v_1 k_1^T = [[3,6]]; o_1 = 3.  alpha_2 lambda_2 = 0.5 [1, 0.5]: S_2 = [[1.5,1.5]] + 5 [1,-1] = [[6.5,-3.5]];
  // o_2 = 2*6.5 - 3.5 = 9.5.
  Sequence s = one_head(2, {1, 0, 2, 1}, {1, 2, 1, -1}, {3, 5});
  s.alpha = {0.25, 0.5}, s.lambda = {0.5, 0.5, 1, 0.5};
  const Output both = forward(find_variant("gated_linear"), s);
  check_close(both.o, {3, 9.5}, 0);
  check_close(both.state, {6.5, -3.5}, 0);
  // alpha alone: S_2 = [[1.5,3]] + [[5,-5]]; o_2 = 13 - 2.  lambda alone: S_2 = [[3,3]] + [[5,-5]]; o_2 = 16 - 2.
  Sequence scalar = s, channel = s;
  scalar.lambda.clear(), channel.alpha.clear();
  check_close(forward(find_variant("gated_linear"), scalar).o, {3, 11}, 0);
  check_close(forward(find_variant("gated_linear"), channel).o, {3, 14}, 0);
}

BOOST_AUTO_TEST_CASE(needs_a_gate) {
  const Sequence s = one_head(1, {1}, {1}, {1});
  BOOST_CHECK_EXCEPTION(forward(find_variant("gated_linear"), s), Error, [](const Error &e) {
    return e.code == exit_input && std::string(e.what()).find("alpha or lambda") != std::string::npos;
  });
}

BOOST_AUTO_TEST_CASE(gates_of_one_are_linear_attention) {
  Sequence s = random_sequence({1, 2, 40, 6, 5}, 5);
  s.alpha.assign(s.alpha.size(), 1), s.lambda.assign(s.lambda.size(), 1);
  check_reduction("linear", s, "gated_linear", s);
}

// Rounding units of one output against the float64 recurrence: each weight is a product of at most T gates and each sum
// has at most T + Dk terms, all positive, and the inputs of float32 were rounded first (q, k, v and T gates).
BOOST_AUTO_TEST_CASE(harsh_gates_cost_no_digits) {
  const Variant &variant = find_variant("gated_linear");
  const Shape shape{1, 1, 500, 9, 5};
  for (int gates = 1; gates <= 3; ++gates) {
    Sequence s = positive_sequence(shape);
    s.alpha = gates & 1 ? harsh_gates(s.alpha.size()) : std::vector<double>();
    s.lambda = gates & 2 ? harsh_gates(s.lambda.size()) : std::vector<double>();
    const Output reference = forward(variant, s);
    for (Real real : {Real::f32, Real::f64})
      for (int C : {1, 16, 17, 64, 500}) {
        const Output fast = forward(variant, s, {"chunked", real, C, {}});
        const double bound = (4 * shape.T + shape.Dk) * epsilon_of(real);
        BOOST_TEST_INFO("gates " << gates << " " << name_of(real) << " C=" << C << " bound " << bound);
        BOOST_TEST(largest_relative_error(fast.o, reference.o) <= bound);
        BOOST_TEST(largest_relative_error(fast.state, reference.state) <= bound);
      }
  }
}

BOOST_AUTO_TEST_CASE(long_sequences_with_tiny_gates_stay_exact) {
  const Variant &variant = find_variant("gated_linear");
  const Shape shape{1, 1, 65536, 3, 2};
  for (bool every : {true, false}) { // 1e-8 at every step, and now and then
    Sequence s = positive_sequence(shape);
    s.alpha.clear();
    s.lambda = every ? std::vector<double>(s.lambda.size(), 1e-8) : harsh_gates(s.lambda.size());
    const Output reference = forward(variant, s), fast = forward(variant, s, {"chunked", Real::f64, 64, {}});
    const double bound = 4.0 * shape.T * epsilon_of(Real::f64);
    BOOST_TEST(largest_relative_error(fast.o, reference.o) <= bound);
    BOOST_TEST(largest_relative_error(fast.state, reference.state) <= bound);
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
