// SPDX-License-Identifier: Apache-2.0
#include "tests/reductions.hpp"
#include <algorithm>
#include <cmath>
#include <tuple>

namespace recollect {
namespace {
Params nsa_with(const char *block, const char *topk, const char *window) {
  return variant_params(find_variant("nsa"), {{"block", block}, {"topk", topk}, {"window", window}});
}

/// The sequence with the gates of the three branches (compressed, selected, sliding) set to these values.
Sequence gated(Sequence s, double compressed, double selected, double sliding) {
  const size_t steps = s.shape.heads() * size_t(s.shape.T);
  s.alpha.assign(steps, compressed), s.beta.assign(steps, selected), s.lambda.assign(steps * s.shape.Dk, sliding);
  return s;
}

void check_forms(const Sequence &s, const Params &params, const std::vector<double> &expected, double bound) {
  for (const char *form : {"recurrent", "parallel"})
    check_close(forward(find_variant("nsa"), s, {form, Real::f64, 1, params}).o, expected, bound);
}
} // namespace

BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(nsa)

BOOST_AUTO_TEST_CASE(each_branch_by_hand) {
  // Blocks of two tokens; queries of 0 weigh all that they read alike. Means of the values' blocks: 3, 12, 21.
  const Sequence s = one_head(7, std::vector<double>(7, 0.0), {1, 1, 5, 5, 2, 2, 3}, {2, 4, 8, 16, 20, 22, 60});
  const Params params = nsa_with("2", "3", "3");
  const double bound = 32 * epsilon_of(Real::f64) * 60;
  check_forms(gated(s, 1, 0, 0), params, {0, 3, 3, 7.5, 7.5, 12, 12}, bound); // complete blocks only
  check_forms(gated(s, 0, 0, 1), params, {2, 3, 14 / 3.0, 28 / 3.0, 44 / 3.0, 58 / 3.0, 34}, bound);
  // the first block, the one before and the own one: at the last step tokens 1, 2, 5, 6 and 7, at step 5 all
  check_forms(gated(s, 0, 1, 0), params, {2, 3, 14 / 3.0, 7.5, 10, 12, 108 / 5.0}, bound);
  // gates add; topk = 4 selects all four blocks at the last step
  Sequence mixed = gated(s, 0.5, 0.25, 1);
  check_forms(mixed, nsa_with("2", "4", "3"),
              {2.5, 5.25, 1.5 + (1 + 0.25) * 14 / 3.0, 3.75 + 7.5 / 4 + 28 / 3.0, 3.75 + 2.5 + 44 / 3.0,
               6 + 3 + 58 / 3.0, 6 + 132 / 28.0 + 34},
              bound);
}

BOOST_AUTO_TEST_CASE(a_query_selects_the_block_whose_mean_key_is_nearest) {
  // Blocks of one token at the last of six: the first, the fifth and the last are given; of the others the query -1
  // prefers the key -3. Logits are 1000 times as far apart as the weights of values can show.
  Sequence s = one_head(6, {0, 0, 0, 0, 0, -1000}, {-1, 2, -3, 1, -1, -1}, {1, 2, 3, 4, 5, 6});
  for (const char *form : {"recurrent", "parallel"}) {
    const auto last = [&](const char *topk) {
      return forward(find_variant("nsa"), gated(s, 0, 1, 0), {form, Real::f64, 1, nsa_with("1", topk, "1")}).o.back();
    };
    BOOST_TEST(std::fabs(last("3") - 4) <= 1e-12); // the mean of the values 1, 5 and 6
    BOOST_TEST(last("4") == 3);
  }
}

BOOST_AUTO_TEST_CASE(all_blocks_selected_is_softmax_attention) {
  const Sequence s = random_sequence({2, 2, 61, 8, 4}, 71);
  const double bound = accumulated_terms(s.shape, 8) * epsilon_of(Real::f64) * max_abs(s.v);
  check_forms(gated(s, 0, 1, 0), nsa_with("8", "8", "1"), forward(find_variant("softmax"), s).o, bound);
  check_forms(gated(s, 0, 0, 1), nsa_with("8", "3", "61"), forward(find_variant("softmax"), s).o, bound);
  check_forms(gated(s, 1, 0, 0), nsa_with("1", "3", "1"), forward(find_variant("softmax"), s).o, bound);
}

BOOST_AUTO_TEST_CASE(its_compressed_branch_is_softmax_attention_to_means) {
  const int T = 24, block = 4;
  const Sequence s = random_sequence({1, 1, T, 5, 3}, 72);
  Sequence means; // one token per block, whose query is that of the block's last token
  means.shape = {1, 1, T / block, 5, 3};
  for (int e = 0; e < T / block; ++e) {
    const size_t last = size_t(e * block + block - 1);
    means.q.insert(means.q.end(), s.q.begin() + last * 5, s.q.begin() + (last + 1) * 5);
    for (const auto &[from, to, width] : {std::tuple{&s.k, &means.k, 5}, {&s.v, &means.v, 3}})
      for (int c = 0; c < width; ++c) {
        double sum = 0;
        for (int i = 0; i < block; ++i) sum += (*from)[size_t((e * block + i) * width + c)];
        to->push_back(sum / block);
      }
  }
  const std::vector<double> expected = forward(find_variant("softmax"), means).o;
  for (const char *form : {"recurrent", "parallel"}) {
    const std::vector<double> o =
        forward(find_variant("nsa"), gated(s, 1, 0, 0), {form, Real::f64, 1, nsa_with("4", "3", "1")}).o;
    for (int e = 0; e < T / block; ++e)
      for (int c = 0; c < 3; ++c)
        BOOST_TEST(std::fabs(o[size_t((e * block + block - 1) * 3 + c)] - expected[size_t(e * 3 + c)]) <= 1e-13);
  }
}

BOOST_AUTO_TEST_CASE(few_selected_blocks_are_those_of_moba_and_the_given_ones) {
  // moba selects the same rows if the first block and the one before are among its own choice. This holds here, because
  // the keys point away from the query everywhere else.
  Sequence s = random_sequence({1, 1, 40, 6, 3}, 73);
  for (int t = 0; t < 40; ++t)
    for (int j = 0; j < 6; ++j) {
      s.q[size_t(t * 6 + j)] = 1;
      if (t >= 4 && t < 32) s.k[size_t(t * 6 + j)] -= 9; // blocks 1 ... 7 of 0 ... 9
    }
  const Variant &moba = find_variant("moba");
  const std::vector<double>
      nsa = forward(find_variant("nsa"), gated(s, 0, 1, 0), {"parallel", Real::f64, 1, nsa_with("4", "3", "1")}).o,
      other = forward(moba, s, {"parallel", Real::f64, 1, variant_params(moba, {{"block", "4"}, {"topk", "3"}})}).o;
  check_close({nsa.end() - 12, nsa.end()}, {other.end() - 12, other.end()}, 1e-13);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
