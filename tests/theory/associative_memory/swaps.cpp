// SPDX-License-Identifier: Apache-2.0
#include "theory/associative_memory/swaps.hpp"
#include "tests/theory/examine.hpp"
#include "theory/support/delta_recursion.hpp"

namespace recollect {
using namespace recollect::theory;
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(swaps)

BOOST_AUTO_TEST_CASE(claims_come_out_as_stated) {
  check_claims({"swap_theorem", "lemma1", "theorem1_order", "theorem1_query_step", "theorem1_eps_threshold",
                "theorem1_random_keys", "theorem1_typo_fkiki", "theorem1_tie_mode", "stress_linear_vs_round",
                "swap_householder"});
}

BOOST_AUTO_TEST_CASE(one_exchange_by_hand) {
  // Two unit vectors, values 1 and 2; then k = e2 - e1, v = 0: u_3 = -(f(-1) 1 + f(1) 2) = -1,
  // o(e1) = f(1) 1 + f(0) 2 + f(-1) u_3 = 2 and o(e2) = f(0) 1 + f(1) 2 + f(1) u_3 = 1.
  const Dense k(3, 2, {1, 0, 0, 1, -1, 1}), v(3, 1, {1, 2, 0});
  const Dense u = substitute(causal_weights(k, k, round_kernel, Triangle::strict), v);
  check_close(u.data, {1, 2, -1}, 0);
  const auto last_read = [&](double x, double y) {
    return (causal_weights(k, Dense(3, 2, {0, 0, 0, 0, x, y}), round_kernel, Triangle::with_diagonal) * u)(2, 0);
  };
  BOOST_TEST(last_read(1, 0) == 2);
  BOOST_TEST(last_read(0, 1) == 1);
}

BOOST_AUTO_TEST_CASE(the_story_keeps_the_books) {
  const Dense keys = Dense::identity(3);
  const SwapStory story = tell_swaps(keys, 50, 4);
  BOOST_TEST(story.sequence.shape.T == 53);
  std::vector<double> values{1, 2, 3};
  for (int t = 3; t < 53; ++t) {
    int up = -1, down = -1, asked = -1;
    for (int c = 0; c < 3; ++c) {
      if (story.sequence.k[t * 3 + c] > 0) up = c;
      if (story.sequence.k[t * 3 + c] < 0) down = c;
      if (story.sequence.q[t * 3 + c] == 1) asked = c;
    }
    BOOST_TEST_REQUIRE((up > down && down >= 0 && asked >= 0));
    BOOST_TEST(story.sequence.v[t] == 0);
    std::swap(values[up], values[down]);
    BOOST_TEST(story.target[t] == values[asked]);
  }
  BOOST_TEST(story.values == values);
}

BOOST_AUTO_TEST_CASE(the_variant_is_the_host_recursion) {
  const SwapStory story = tell_swaps(Dense(8, 8, make_keys({"orthonormal", 8, 8}, 1, 5)), 100, 5);
  const Shape &n = story.sequence.shape;
  const Dense k = head_rows(story.sequence.k, n, 0, n.Dk), q = head_rows(story.sequence.q, n, 0, n.Dk),
              v = head_rows(story.sequence.v, n, 0, 1);
  const Dense reads = causal_weights(k, q, round_kernel, Triangle::with_diagonal) *
                      substitute(causal_weights(k, k, round_kernel, Triangle::strict), v);
  const Variant &delta_former = find_variant("delta_former");
  const Params round = variant_params(delta_former, {{"kappa1", "round"}, {"kappa2", "round"}});
  for (const Form &form : delta_former.forms)
    check_close(forward(delta_former, story.sequence, {form.name, Real::f32, 16, round}).o, reads.data, 0);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
