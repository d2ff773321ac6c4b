// SPDX-License-Identifier: Apache-2.0
#include "tests/reductions.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(log_linear_mamba2)

BOOST_AUTO_TEST_CASE(four_steps_by_hand) {
  // Without decay, keys and queries 1. Step 4 (t = 3, binary 11) reads its own value 1000 by the weight of level 0, step
  // 3's 100 by that of level 1, and the sum 11 of steps 1 and 2 by that of level 2. Step 3 (t = 2, binary 10) has nothing
  // in level 1.
  Sequence s =
      one_head(4, {1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0}, {1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0}, {1, 10, 100, 1000});
  s.alpha = {1, 1, 1, 1}, s.beta = {1, 1, 1, 1};
  s.w = {1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3};
  for (const char *form : {"recurrent", "chunked"})
    check_close(forward(find_variant("log_linear_mamba2"), s, {form, Real::f64, 2, {}}).o,
                {1, 10 + 2 * 1, 100 + 3 * 11, 1000 + 2 * 100 + 3 * 11}, 0);
}

BOOST_AUTO_TEST_CASE(levels_decay_and_are_written_by_their_strengths) {
  // S of level 1 at step 2 is 0.5 * (4 * 3), of level 0 it is 2 * 5.
  Sequence s = one_head(2, {1, 0, 1, 0}, {1, 0, 1, 0}, {3, 5});
  s.alpha = {0.25, 0.5}, s.beta = {4, 2}, s.w = {10, 7, 10, 7};
  for (const char *form : {"recurrent", "chunked"})
    check_close(forward(find_variant("log_linear_mamba2"), s, {form, Real::f64, 2, {}}).o, {120, 100 + 7 * 6}, 0);
}

BOOST_AUTO_TEST_CASE(weights_of_one_are_mamba2) {
  for (int T : {1, 2, 37, 64, 65}) {
    Sequence s = random_sequence({1, 2, T, 6, 5}, 41);
    s.w.clear();
    check_reduction("log_linear_mamba2", s, "mamba2", s, {}, {}, false);
    Sequence ones = s;
    ones.w.assign(s.k.size(), 1.0);
    check_close(forward(find_variant("log_linear_mamba2"), ones).o, forward(find_variant("log_linear_mamba2"), s).o, 0);
  }
}

BOOST_AUTO_TEST_CASE(gates_and_weights_of_one_are_linear_attention) {
  Sequence s = random_sequence({1, 2, 40, 6, 5}, 42);
  s.alpha.assign(s.alpha.size(), 1), s.beta.clear(), s.w.clear();
  check_reduction("log_linear_mamba2", s, "linear", s, {}, {}, false);
}

BOOST_AUTO_TEST_CASE(a_level_weighs_what_the_masks_of_the_reference_say) {
  // Pair by pair, as fla's naive form: bit l - 1 of t set, and i in the 2^(l-1) steps before t with the lower bits
  // cleared.
  const int T = 45, D = 8;
  Sequence s = random_sequence({1, 1, T, D, 3}, 43);
  std::vector<double> wanted(s.v.size(), 0.0);
  for (int t = 0; t < T; ++t) {
    double decay = 1;
    for (int i = t; i >= 0; decay *= s.alpha[i], --i) {
      int level = 0;
      for (int l = 1; l < D && i < t; ++l) {
        const int half = 1 << (l - 1), begin = t - t % half;
        if (t % (1 << l) >= half && i + half >= begin && i < begin) level = l;
      }
      double weight = decay * s.beta[i] * s.w[t * D + level], along = 0;
      for (int j = 0; j < D; ++j) along += s.q[t * D + j] * s.k[i * D + j];
      for (int c = 0; c < 3; ++c) wanted[t * 3 + c] += weight * along * s.v[i * 3 + c];
    }
  }
  const Variant &layer = find_variant("log_linear_mamba2");
  const double bound = accumulated_terms(s.shape, 16) * epsilon_of(Real::f64) *
                       input_condition(layer, s, variant_params(layer)) * max_abs(wanted);
  for (const char *form : {"recurrent", "chunked"})
    check_close(forward(layer, s, {form, Real::f64, 16, {}}).o, wanted, bound);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
