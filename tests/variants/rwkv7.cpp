// SPDX-License-Identifier: Apache-2.0
#include "tests/gates.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(rwkv7)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // S_1 = 4 [1,2] = [4,8]; o_1 = 12. Step 2: x = [1,0], half of the first channel's 4 is removed, channels keep 1/2 and
  // 1/4, S_2 = [2 - 2, 2] + 6 [1,-1] = [6,-4]; o_2 = 14.
  Sequence s = one_head(2, {1, 1, 3, 1}, {1, 2, 1, -1}, {4, 6});
  s.w = {0, 1, 3, 0}, s.beta = {0.5, 0.5}, s.lambda = {1, 1, 0.5, 0.25};
  for (const char *form : {"recurrent", "chunked"}) {
    const Output out = forward(find_variant("rwkv7"), s, {form, Real::f64, 2, {}});
    check_close(out.o, {12, 14}, 0);
    check_close(out.state, {6, -4}, 0);
  }
}

/// S_t = S_{t-1} (keep I - erase k k^T) + u k^T with a unit key k: the common form of 003 Eq 37 to 39.
struct Common {
  Sequence s; // v holds u
  std::vector<double> keep, erase;
};

void scale_values(Sequence &s, size_t t, double factor) {
  for (int i = 0; i < s.shape.Dv; ++i) s.v[t * s.shape.Dv + i] *= factor;
}

/// Converts a layer's inputs to the common form, and back.
Common read_as(const std::string &layer, const Sequence &s) {
  Common c{s, s.alpha, s.beta};
  for (size_t t = 0; t < s.alpha.size(); ++t) {
    if (layer == "gated_delta_net") c.erase[t] = s.alpha[t] * s.beta[t];
    if (layer != "rwkv7") scale_values(c.s, t, s.beta[t]);
  }
  return c;
}
Sequence written_for(const std::string &layer, const Common &c) {
  Sequence s = c.s;
  s.alpha = c.keep, s.beta = c.erase, s.w = s.k;
  for (size_t t = 0; t < s.alpha.size(); ++t) {
    if (layer == "gated_delta_net") s.beta[t] = c.erase[t] / c.keep[t];
    if (layer != "rwkv7") scale_values(s, t, 1 / s.beta[t]);
    for (int j = 0; j < s.shape.Dk; ++j) s.lambda[t * s.shape.Dk + j] = c.keep[t];
  }
  return s;
}

BOOST_AUTO_TEST_CASE(is_leaky_lms_and_gated_delta_net_by_the_invertible_map_both_ways) { // 003 Eq 38-41
  Sequence inputs = random_sequence({2, 2, 70, 9, 5}, 71);
  inputs.w = inputs.k;
  for (size_t i = 0; i < inputs.lambda.size(); ++i)
    inputs.lambda[i] = inputs.alpha[i / 9]; // rwkv7's decay, the same in every channel
  for (const char *from : {"rwkv7", "leaky_lms", "gated_delta_net"}) {
    const Output expected = forward(find_variant(from), inputs);
    const double bound = 2 * accumulated_terms(inputs.shape, 70) * epsilon_of(Real::f64) *
                         input_condition(find_variant(from), inputs, {});
    for (const char *to : {"rwkv7", "leaky_lms", "gated_delta_net"})
      for (const char *form : {"recurrent", "chunked"}) {
        const Output out = forward(find_variant(to), written_for(to, read_as(from, inputs)), {form, Real::f64, 70, {}});
        BOOST_TEST_INFO(from << " as " << to << ", " << form);
        BOOST_TEST(deviation(out, expected).largest() <= bound);
      }
  }
}

BOOST_AUTO_TEST_CASE(small_channel_decays_neither_overflow_nor_lose_what_follows) {
  Sequence s = random_sequence({1, 1, 200, 6, 4}, 72);
  for (size_t i = 0; i < s.lambda.size(); i += 7) s.lambda[i] = 1e-8;
  chunks_give_the_definition("rwkv7", s);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
