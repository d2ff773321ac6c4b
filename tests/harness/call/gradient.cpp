// SPDX-License-Identifier: Apache-2.0
// Gradients against hand computations and, for every layer, against central differences. They must not depend on where
// a sequence is cut.
#include "harness/call/gradient.hpp"
#include "harness/call/differences.hpp"
#include "harness/core/error.hpp"
#include "harness/system/memory.hpp"
#include "tests/harness/call/gradient_case.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(gradients, *boost::unit_test::precondition(tape_runs))

double weighted(const Output &out, const OutputWeights &weights) {
  return inner(out.o, weights.o) + (weights.state.empty() ? 0 : inner(out.state, weights.state));
}

BOOST_AUTO_TEST_CASE(linear_attention_by_hand) {
  // o_1 = q_1 (k_1 v_1), o_2 = q_2 (k_1 v_1 + k_2 v_2), weighted by 1 and 10
  const Variant &v = find_variant("linear");
  const Sequence g = gradient(v, one_head(2, {2, 3}, {5, 7}, {11, 13}), variant_params(v), {{1, 10}, {}});
  BOOST_TEST((g.q == std::vector<double>{5 * 11, 10 * (5 * 11 + 7 * 13)}));
  BOOST_TEST((g.k == std::vector<double>{2 * 11 + 30 * 11, 30 * 13}));
  BOOST_TEST((g.v == std::vector<double>{2 * 5 + 30 * 5, 30 * 7}));
}

BOOST_AUTO_TEST_CASE(every_layer_against_central_differences) {
  for (const Variant &variant : all_variants()) {
    const GradientCase c = case_of(variant, {1, 2, 7, 8, 8}, 3);
    const Sequence g = gradient(variant, c.s, c.params, c.weights);
    for (Tensor tensor : all_tensors)
      BOOST_TEST(g[tensor].size() == c.s[tensor].size(), variant.name << " " << name_of(tensor));
    double size = 0;
    for (const Slope &slope : slopes(variant, c.s, c.params, c.weights, g)) {
      BOOST_TEST(slope.right(), variant.name << " " << slope.name << ": tape " << slope.claimed << ", differences "
                                             << slope.measured << ", terms " << slope.size);
      size += std::fabs(slope.claimed);
    }
    BOOST_TEST(size > 1e-9); // large enough that a missing part would show
  }
}

BOOST_AUTO_TEST_CASE(heads_that_are_joined) {
  const Variant &variant = find_variant("delta_former");
  GradientCase c = case_of(variant, {2, 3, 7, 4, 5}, 4);
  c.params = variant_params(variant, {{"lookups", "shared"}, {"kappa1", "exp"}, {"scale", "0.3"}});
  BOOST_TEST((variant.joins_heads(c.params) && !variant.joins_heads(variant_params(variant))));
  const Sequence g = gradient(variant, c.s, c.params, c.weights);
  for (const Slope &slope : slopes(variant, c.s, c.params, c.weights, g))
    BOOST_TEST(slope.right(), slope.name << ": tape " << slope.claimed << ", differences " << slope.measured);
  const auto half = c.weights.o.begin() + std::ptrdiff_t(c.weights.o.size() / 2);
  std::fill(half + 7 * 5, c.weights.o.end(), 0.0); // weights only on the first head of the second text
  const Sequence first = gradient(variant, c.s, c.params, c.weights);
  for (Tensor tensor : {Tensor::k, Tensor::w, Tensor::beta})
    BOOST_TEST(max_abs(std::vector<double>(first[tensor].end() - 8, first[tensor].end())) > 1e-6, name_of(tensor));
}

BOOST_AUTO_TEST_CASE(a_cut_changes_nothing) {
  for (const Variant &variant : all_variants()) {
    const GradientCase c = case_of(variant, {1, 1, 9, 8, 8}, 5);
    if (c.s.state.empty()) continue;
    const Sequence whole = gradient(variant, c.s, c.params, c.weights);
    for (int cut : {1, 4, 8}) {
      Sequence first = slice_steps(c.s, 0, cut), rest = slice_steps(c.s, cut, 9);
      first.state = c.s.state, rest.state = c.run(first).state;
      const auto middle = c.weights.o.begin() + cut * 8;
      const Sequence late = gradient(variant, rest, c.params, {{middle, c.weights.o.end()}, c.weights.state}),
                     early = gradient(variant, first, c.params, {{c.weights.o.begin(), middle}, late.state});
      std::vector<double> k = early.k, v = early.v;
      k.insert(k.end(), late.k.begin(), late.k.end()), v.insert(v.end(), late.v.begin(), late.v.end());
      BOOST_TEST_INFO(variant.name << " cut at " << cut);
      BOOST_TEST(max_difference(k, whole.k) <= 1e-10 * (1 + max_abs(whole.k)));
      BOOST_TEST(max_difference(v, whole.v) <= 1e-10 * (1 + max_abs(whole.v)));
      BOOST_TEST(max_difference(early.state, whole.state) <= 1e-10 * (1 + max_abs(whole.state)));
    }
  }
}

BOOST_AUTO_TEST_CASE(long_sequences_go_in_segments) { // 600 steps of at least 6 * 32 * 32 operations: several segments
  const GradientCase c = case_of(find_variant("delta_net"), {1, 1, 1500, 32, 32}, 6);
  const Sequence g = gradient(c.variant, c.s, c.params, c.weights);
  Sequence moved = c.s;
  const double h = 1e-5;
  moved.k[3] += h; // at the first step, whose effect passes through every segment
  const double up = weighted(c.run(moved), c.weights);
  moved.k[3] -= 2 * h;
  const double difference = (up - weighted(c.run(moved), c.weights)) / (2 * h);
  BOOST_TEST(std::fabs(g.k[3] - difference) <= 1e-6 * (1 + std::fabs(difference)));
}

BOOST_AUTO_TEST_CASE(a_w_that_is_not_given_is_the_key) {
  const Variant &v = find_variant("delta_former");
  GradientCase c = case_of(v, {1, 1, 6, 4, 4}, 7);
  Sequence same = c.s;
  same.w = c.s.k, c.s.w.clear();
  const Sequence implied = gradient(v, c.s, c.params, c.weights), given = gradient(v, same, c.params, c.weights);
  std::vector<double> sum = given.k;
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += given.w[i];
  BOOST_TEST(implied.w.empty());
  check_close(implied.k, sum, 1e-12 * (1 + max_abs(sum)));
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused) {
  const GradientCase c = case_of(find_variant("softmax"), {1, 1, 40, 8, 8}, 8);
  set_memory_limit(1 << 20);
  BOOST_CHECK_THROW(gradient(c.variant, c.s, c.params, c.weights), Error);
  set_memory_limit(0);
  OutputWeights shorter = c.weights;
  shorter.o.pop_back();
  BOOST_CHECK_THROW(gradient(c.variant, c.s, c.params, shorter), Error);
  OutputWeights more = c.weights; // softmax has no state of finite size
  more.state = {1};
  BOOST_CHECK_THROW(gradient(c.variant, c.s, c.params, more), Error);
}

BOOST_AUTO_TEST_CASE(in_logarithms_of_gates) {
  Sequence s, g;
  s.alpha = {0.5, 0.25}, s.lambda = {0, 1}, s.beta = {3};
  g.alpha = {8, 8}, g.lambda = {5, 5}, g.beta = {7};
  in_logarithms(g, s);
  BOOST_TEST((g.alpha == std::vector<double>{4, 2} && g.lambda == std::vector<double>{0, 5} && g.beta[0] == 7));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
