// SPDX-License-Identifier: Apache-2.0
#include "tests/variants/mlp_testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(titans)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // One hidden unit on scalars: M(x) = a silu(b x), b = 1, a = 0; write s = silu, s' its slope. lr = 1, eta = 1/2,
  // alpha = (1/4, 3/4). Step 1, k = 1, v = 2: error -2; d/da = -2 s(1), d/db = 0. Z = (0, 2 s(1)); b = 1/4, a = 2 s(1).
  // Step 2, k = 4, v = 2 s(1)^2 - 1: M = 2 s(1) s(1), error 1; d/da = s(1), d/db = a s'(1) 4. Z = (-4 a s'(1), a/2 -
  // s(1)) = (-4 a s'(1), 0); b = 3/16 - 4 a s'(1), a = 3/2 s(1). Reads at q_1 = 4, where b q = 1, and q_2 = 1.
  const double sigmoid = 1 / (1 + std::exp(-1.0)), silu = sigmoid, slope = sigmoid * (1 + 1 - sigmoid);
  const double b2 = 3 / 16.0 - 8 * silu * slope, a2 = 1.5 * silu;
  Sequence s = one_head(2, {4, 1}, {1, 4}, {2, 2 * silu * silu - 1});
  s.alpha = {0.25, 0.75}, s.state = {1, 0, 0, 0};
  const Variant &layer = find_variant("titans");
  const Params params = variant_params(layer, {{"width", "1"}, {"minibatch", "1"}, {"lr", "1"}, {"eta", "0.5"}});
  for (const char *form : {"recurrent", "minibatch"}) {
    const Output out = forward(layer, s, {form, Real::f64, 1, params});
    check_close(out.o, {2 * silu * silu, a2 * b2 / (1 + std::exp(-b2))}, 64 * epsilon_of(Real::f64));
    check_close(out.state, {b2, a2, -8 * silu * slope, 0}, 64 * epsilon_of(Real::f64));
  }
}

BOOST_AUTO_TEST_CASE(a_momentum_of_its_own_every_step_by_hand) {
  // No steps are taken (lr = 0): one hidden unit whose weights a alone move, by a momentum of 16 that is kept by eta
  // lambda[0] = 1/2, 1/4, 0: a = 1 + 8, 9 + 2, 11. b = 1, and reads at 1 are a silu(1). lambda's second channel is idle.
  const double silu = 1 / (1 + std::exp(-1.0));
  Sequence s = one_head(3, {1, 0, 1, 0, 1, 0}, {1, 0, 1, 0, 1, 0}, {0, 0, 0});
  s.lambda = {1, 0.3, 0.5, 0.7, 0, 0.2}, s.state = {1, 0, 1, 0, 0, 16};
  const Variant &layer = find_variant("titans");
  for (const char *batch : {"1", "2", "3"}) {
    const Params params = variant_params(layer, {{"width", "1"}, {"minibatch", batch}, {"lr", "0"}, {"eta", "0.5"}});
    for (const char *form : {"recurrent", "minibatch"}) {
      const Output out = forward(layer, s, {form, Real::f64, 1, params});
      check_close(out.o, {9 * silu, 11 * silu, 11 * silu}, 64 * epsilon_of(Real::f64));
      check_close(out.state, {1, 0, 11, 0, 0, 0}, 64 * epsilon_of(Real::f64));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_step_descends_its_own_loss) { check_gradient("titans", {}); }
BOOST_AUTO_TEST_CASE(minibatches) { check_minibatches("titans", "2e-5", "1e-5"); }

BOOST_AUTO_TEST_CASE(an_empty_memory_reads_zero_and_learns) {
  Sequence s = random_sequence({1, 1, 200, 6, 3}, 44);
  std::fill(s.alpha.begin(), s.alpha.end(), 1.0), std::fill(s.beta.begin(), s.beta.end(), 1.0);
  for (size_t i = 6; i < s.k.size(); ++i) s.k[i] = s.k[i % 6]; // one pair again and again
  for (size_t i = 3; i < s.v.size(); ++i) s.v[i] = s.v[i % 3];
  s.q = s.k;
  const Variant &layer = find_variant("titans");
  const Output out = forward(layer, s),
               frozen = forward(layer, s, {"recurrent", Real::f64, 1, variant_params(layer, {{"lr", "0"}})});
  check_close(frozen.o, std::vector<double>(600, 0.0), 0);
  check_close({out.o.end() - 3, out.o.end()}, {s.v.begin(), s.v.begin() + 3}, 1e-2);
}

BOOST_AUTO_TEST_CASE(without_momentum_left_nothing_is_written_at_strength_zero_or_at_a_key_of_zero) {
  const Variant &layer = find_variant("titans");
  const Params params = variant_params(layer);
  Sequence s = random_sequence({1, 2, 21, 5, 3}, 31);
  std::fill(s.alpha.begin(), s.alpha.end(), 1.0);
  s.state = forward(layer, random_sequence(s.shape, 32), {"recurrent", Real::f64, 1, params}).state;
  const size_t head = s.state.size() / 2; // the memory, then the momentum
  for (size_t i = 0; i < s.state.size(); ++i)
    if (i % head >= head / 2) s.state[i] = 0;
  Sequence no_step = s, no_key = s;
  std::fill(no_step.beta.begin(), no_step.beta.end(), 0.0), std::fill(no_key.k.begin(), no_key.k.end(), 0.0);
  for (const Sequence *still : {&no_step, &no_key})
    for (const char *form : {"recurrent", "minibatch"})
      check_close(forward(layer, *still, {form, Real::f64, 8, params}).state, s.state,
                  accumulated_terms(s.shape, 8) * epsilon_of(Real::f64) * max_abs(s.state));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
