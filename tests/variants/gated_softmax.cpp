// SPDX-License-Identifier: Apache-2.0
#include "harness/call/backward.hpp"
#include "tests/harness/call/gradient_case.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(gated_softmax)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // Both logits are 0 at step 2, and the gate halves the first weight: 1/3 and 2/3.
  Sequence s = one_head(2, {1, 0}, {1, 2}, {9, 3});
  s.alpha = {0.1, 0.5};
  for (const char *form : {"recurrent", "parallel"})
    check_close(forward(find_variant("gated_softmax"), s, {form, Real::f64, 1, {}}).o, {9, 5},
                32 * epsilon_of(Real::f64));
}

BOOST_AUTO_TEST_CASE(open_gates_leave_softmax) {
  Sequence s = random_sequence({2, 2, 70, 8, 4}, 6);
  std::fill(s.alpha.begin(), s.alpha.end(), 1.0);
  const double bound = accumulated_terms(s.shape, 16) * epsilon_of(Real::f64) * max_abs(s.v);
  for (const char *form : {"recurrent", "parallel"})
    check_close(forward(find_variant("gated_softmax"), s, {form, Real::f64, 16, {}}).o,
                forward(find_variant("softmax"), s).o, bound);
}

BOOST_AUTO_TEST_CASE(a_closed_gate_forgets_all_before_it) {
  Sequence s = random_sequence({1, 1, 40, 8, 4}, 7);
  s.alpha[20] = 0, s.alpha[5] = 0;
  const Variant &layer = find_variant("gated_softmax");
  for (const char *form : {"recurrent", "parallel"}) {
    const std::vector<double> whole = forward(layer, s, {form, Real::f64, 8, {}}).o,
                              rest = forward(layer, slice_steps(s, 20, 40), {form, Real::f64, 8, {}}).o;
    check_close({whole.begin() + 20 * 4, whole.end()}, rest,
                accumulated_terms(s.shape, 8) * epsilon_of(Real::f64) * max_abs(s.v));
  }
}

BOOST_AUTO_TEST_CASE(a_closed_gate_has_the_slope_of_one_almost_closed, *boost::unit_test::precondition(tape_runs)) {
  // o_2 = (9 a + 3) / (a + 1), so that its slope is 6 / (a + 1)^2.
  const Variant &layer = find_variant("gated_softmax");
  for (double a : {0.0, 1e-300, 1e-12, 0.5, 1.0}) {
    Sequence s = one_head(2, {1, 0}, {1, 2}, {9, 3});
    s.alpha = {0.1, a};
    const OutputWeights last{{0, 1}, {}};
    const std::vector<double> slopes{0, 6 / ((a + 1) * (a + 1))};
    BOOST_TEST_INFO("gate " << a);
    check_close(gradient(layer, s, variant_params(layer), last).alpha, slopes, 1e-12);
    check_close(backward(layer, s, {"parallel", Real::f64, 1, {}}, last).alpha, slopes, 1e-12);
  }
}

BOOST_AUTO_TEST_CASE(a_faint_gate_keeps_the_digits_of_its_gradient) {
  // Pairs on the two sides of the gate have weights of 1e-12 of the others; a difference of sums over all pairs would
  // keep four digits of them.
  const int T = 90, faint = 40;
  GradientCase c{find_variant("gated_softmax"), {}, random_sequence({1, 1, T, 4, 3}, 9), {}};
  c.weights.o = Stream(9, "do").normals(T * 3);
  std::vector<double> slope;
  for (double gate : {1e-12, 0.0}) { // a gate of 0 is computed separately
    c.s.alpha[faint] = gate;
    slope.push_back(backward(c.variant, c.s, {"parallel", Real::f64, 16, {}}, c.weights).alpha[faint]);
  }
  BOOST_TEST(std::fabs(slope[0] - slope[1]) <= 1e-10 * std::fabs(slope[1]));
}

BOOST_AUTO_TEST_CASE(gentle_gates_after_a_long_hard_stretch_keep_their_digits) {
  // 3000 gates of 1e-8 have a log sum of -55262; a last gate of 1e-30 hides all earlier steps, so that only the tail
  // counts.
  const int T = 3050, tail = 50;
  Sequence s = random_sequence({1, 1, T, 4, 3}, 8);
  for (int t = 0; t < T - tail; ++t) s.alpha[t] = 1e-8;
  s.alpha[T - tail] = 1e-30;
  const Variant &layer = find_variant("gated_softmax");
  const std::vector<double> alone = forward(layer, slice_steps(s, T - tail, T)).o;
  for (Real real : {Real::f32, Real::f64}) {
    const std::vector<double> whole = forward(layer, s, {"parallel", real, 64, {}}).o;
    check_close({whole.end() - tail * 3, whole.end()}, alone,
                accumulated_terms({1, 1, tail, 4, 3}, 64) * epsilon_of(real) * max_abs(s.v));
  }
}

/// With a sink of logit x.
Params with_sink(const std::string &x) { return variant_params(find_variant("gated_softmax"), {{"sink", x}}); }

BOOST_AUTO_TEST_CASE(a_sink_takes_its_share_by_hand) {
  // Logits are 0. Step 1: one of two equal weights. Step 2: weights 0.5, 1 and the sink's 1, which the gate does not
  // change.
  Sequence s = one_head(2, {1, 0}, {0, 2}, {9, 3});
  s.alpha = {0.1, 0.5};
  for (const char *form : {"recurrent", "parallel"})
    check_close(forward(find_variant("gated_softmax"), s, {form, Real::f64, 1, with_sink("0")}).o, {4.5, 3},
                32 * epsilon_of(Real::f64));
}

BOOST_AUTO_TEST_CASE(a_sink_is_a_key_that_no_gate_decays_and_that_reads_0) {
  // Equals softmax with one more key in a separate channel, which gives every query that logit, and the value 0.
  const Shape shape{1, 1, 40, 6, 4}, longer{1, 1, 41, 7, 4};
  Sequence s = random_sequence(shape, 10), keys = random_sequence(longer, 10);
  s.alpha.assign(s.alpha.size(), 1.0), keys.alpha.assign(keys.alpha.size(), 1.0);
  std::fill(keys.k.begin(), keys.k.end(), 0.0), std::fill(keys.q.begin(), keys.q.end(), 0.0);
  std::fill(keys.v.begin(), keys.v.begin() + 4, 0.0), std::copy(s.v.begin(), s.v.end(), keys.v.begin() + 4);
  keys.k[6] = 1;
  for (int t = 0; t < 40; ++t) {
    std::copy_n(s.k.begin() + t * 6, 6, keys.k.begin() + (t + 1) * 7);
    std::copy_n(s.q.begin() + t * 6, 6, keys.q.begin() + (t + 1) * 7), keys.q[(t + 1) * 7 + 6] = 0.75;
  }
  Params sunk = with_sink("0.75"), plain = variant_params(find_variant("softmax"), {{"scale", "1"}});
  sunk.set("scale", 1);
  const std::vector<double> wanted = forward(find_variant("softmax"), keys, {"recurrent", Real::f64, 1, plain}).o;
  for (const char *form : {"recurrent", "parallel"})
    check_close(forward(find_variant("gated_softmax"), s, {form, Real::f64, 8, sunk}).o,
                {wanted.begin() + 4, wanted.end()},
                accumulated_terms(s.shape, 8) * epsilon_of(Real::f64) * max_abs(s.v));
}

BOOST_AUTO_TEST_CASE(a_sinks_gradients_are_those_of_the_definition, *boost::unit_test::precondition(tape_runs)) {
  for (const char *sink : {"-3", "0", "2", "40"}) {
    Sequence s = random_sequence({1, 2, 70, 6, 4}, 11);
    s.alpha[30] = 0; // a gate of 0 is computed separately
    for (Tensor tensor : {Tensor::beta, Tensor::lambda, Tensor::w}) s[tensor].clear();
    const Variant &layer = find_variant("gated_softmax");
    const OutputWeights weights{Stream(11, "do").normals(s.v.size()), {}};
    const Sequence found = backward(layer, s, {"parallel", Real::f64, 16, with_sink(sink)}, weights);
    const Params params = with_sink(sink);
    const Sequence wanted = gradient(layer, s, params, weights);
    const double bound = accumulated_terms(s.shape, 16) * epsilon_of(Real::f64) * input_condition(layer, s, params, 2);
    for (Tensor tensor : {Tensor::q, Tensor::k, Tensor::v, Tensor::alpha})
      check_close(found[tensor], wanted[tensor], bound * max_abs(wanted[tensor]));
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
