// SPDX-License-Identifier: Apache-2.0
// One rank only; tests/files/test_ranks.py tests several.
#include "harness/call/along_ranks.hpp"
#include "harness/core/error.hpp"
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(along_ranks)

BOOST_AUTO_TEST_CASE(steps_are_shared_out_in_whole_chunks) {
  for (int T : {5, 64, 65, 1000, 2147483647})
    for (int ranks : {1, 2, 3, 5}) {
      int next = 0;
      for (int r = 0; r < ranks; ++r) {
        const Steps steps = steps_of_rank(T, 64, r, ranks);
        BOOST_TEST((steps.begin == next && steps.count() > 0));
        if (T / ranks >= 64) BOOST_TEST(steps.begin % 64 == 0);
        next = steps.end;
      }
      BOOST_TEST(next == T);
    }
  BOOST_CHECK_THROW(steps_of_rank(2, 64, 0, 3), Error);
}

BOOST_AUTO_TEST_CASE(one_rank_exchanges_nothing) {
  const Variant &linear = find_variant("linear");
  BOOST_TEST(exchange_seconds(linear, {1, 1, 64, 4, 4}, variant_params(linear)) == 0);
}

BOOST_AUTO_TEST_CASE(one_rank_computes_what_forward_does) {
  const Sequence s = random_sequence({2, 2, 21, 4, 3}, 12);
  for (const char *name : {"gated_delta_net", "mamba"}) {
    const Variant &variant = find_variant(name);
    const Run run{"recurrent", Real::f64, 8,
                  variant_params(variant)}; // a fast form chooses its schedule by the number of heads
    const Output wanted = forward(variant, s, run);
    for (const char *asked : {"auto", "chain"}) {
      const Job job = prepare_along_ranks(variant, s, run, carry_along(variant, s, run, asked));
      job.reset();
      job.launch();
      const Output found = joined(job.fetch(), s.shape);
      BOOST_TEST((found.o == wanted.o && found.state == wanted.state));
      BOOST_TEST(found.state_shape.rows == wanted.state_shape.rows);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_scan_is_taken_where_there_is_one) {
  const Sequence s = random_sequence({1, 1, 21, 4, 3}, 12);
  const auto carry = [&](const char *name, const char *form, const char *asked) {
    const Variant &variant = find_variant(name);
    return carry_along(variant, s, {form, Real::f64, 8, variant_params(variant)}, asked);
  };
  BOOST_TEST((carry("delta_net", "chunked", "auto") == Carry::scan));
  BOOST_TEST((carry("delta_net", "chunked", "chain") == Carry::chain));
  BOOST_TEST((carry("mamba", "chunked", "auto") == Carry::chain));
  BOOST_CHECK_THROW(carry("mamba", "chunked", "scan"), Error);
  BOOST_CHECK_THROW(carry("softmax", "recurrent", "auto"), Error); // it has no state
  for (const Variant &variant : all_variants())
    for (const Form &form : variant.forms)
      if (!form.exact || !form.causal) BOOST_CHECK_THROW(carry(variant.name.c_str(), form.name.c_str(), "auto"), Error);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
