// SPDX-License-Identifier: Apache-2.0
#include "harness/call/segment.hpp"
#include "tests/testing.hpp"
#include <set>

namespace recollect {
namespace {

/// One head in three segments, of which two do not wait for their state; their maps are combined as in a scan.
Output in_three(const Variant &variant, const Sequence &s, const Run &run) {
  const int cuts[] = {0, 7, 16, s.shape.T};
  std::vector<Segment> all;
  Output joined;
  for (int i = 0; i < 3; ++i) {
    all.push_back(prepare_segment(variant, slice_steps(s, cuts[i], cuts[i + 1]), run, i == 0));
    all.back().reset();
    all.back().launch();
  }
  const StateShape state = variant.state_shape(s.shape, run.params);
  const Rows start = all[0].end(), map = through(all[1].end(), all[2].end(), 1, state.rows, state.columns);
  all[1].respond(start);
  all[2].respond(through(start, all[1].end(), 1, state.rows, state.columns));
  for (const Segment &segment : all) {
    const Output one = segment.fetch();
    joined.o.insert(joined.o.end(), one.o.begin(), one.o.end());
  }
  joined.state = through(start, map, 1, state.rows, state.columns);
  return joined;
}

} // namespace

BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(segments)

BOOST_AUTO_TEST_CASE(maps_of_one_number_by_hand) { // S -> 5 S + 3, then S -> 2 S + 7: S -> 10 S + 13
  BOOST_TEST((through({3, 5}, {7, 2}, 1, 1, 1) == Rows{13, 10}));
  BOOST_TEST((through({4}, {3, 5}, 1, 1, 1) == Rows{23}));
  BOOST_TEST((through({4, 1}, {3, 5, 1, 2}, 2, 1, 1) == Rows{23, 3})); // two heads
}

BOOST_AUTO_TEST_CASE(rows_widen_and_narrow) {
  BOOST_TEST((widened_rows({1, 2, 3, 4}, 2, 1) == std::vector<double>{1, 2, 0, 3, 4, 0}));
  BOOST_TEST((narrowed_rows({1, 2, 0, 3, 4, 0}, 2, 1) == std::vector<double>{1, 2, 3, 4}));
}

BOOST_AUTO_TEST_CASE(heads_are_sliced_with_their_state) {
  Sequence s = random_sequence({2, 2, 3, 2, 1}, 5);
  s.state = {0, 1, 2, 3, 4, 5, 6, 7};
  const Sequence part = slice_heads(s, 1, 2);
  BOOST_TEST((part.shape.B == 1 && part.shape.H == 2 && part.shape.T == 3));
  BOOST_TEST((part.state == std::vector<double>{2, 3, 4, 5}));
  BOOST_TEST((part.v == std::vector<double>(s.v.begin() + 3, s.v.begin() + 9)));
  BOOST_TEST((part.alpha == std::vector<double>(s.alpha.begin() + 3, s.alpha.begin() + 9)));
}

BOOST_AUTO_TEST_CASE(segments_that_wait_for_no_state_come_to_what_the_whole_does) {
  const Shape shape{1, 1, 29, 6, 5};
  std::set<std::string> found;
  for (const Variant &variant : all_variants()) {
    const Params params = variant_params(variant);
    if (variant.unsuitable && !variant.unsuitable(shape, params).empty()) continue;
    Sequence s = random_sequence(shape, 8);
    if (!needs_no_state(variant, s, params)) continue;
    found.insert(variant.name);
    for (double &x : s.alpha) x *= x < 0.81 ? 0 : 1; // some gates are 0
    s.state = random_sequence({1, 1, int(variant.state_shape(shape, params).size()), 1, 1}, 9).v;
    const Output whole = forward(variant, s, {"recurrent", Real::f64, 1, params});
    const double kappa = input_condition(variant, s, params, 2);
    for (const Form &form : variant.forms)
      for (Real real : {Real::f32, Real::f64}) {
        if (!form.exact || !form.causal) continue;
        const double error = deviation(in_three(variant, s, {form.name, real, 4, params}), whole).largest(),
                     bound = 2 * accumulated_terms(shape, 4) * epsilon_of(real) * kappa;
        BOOST_TEST_INFO(variant.name << " " << form.name << " " << name_of(real) << ": error " << error << ", bound "
                                     << bound);
        BOOST_TEST(error <= bound);
      }
  }
  // These states follow S -> S A + B and are read linearly. Mamba's rows have different step sizes, and Titans' memory
  // is not a matrix.
  for (const char *name : {"linear", "retnet", "gated_linear", "delta_net", "gated_delta_net", "delta_product", "lru"})
    BOOST_TEST(found.count(name), name);
  for (const char *name : {"mamba", "hgrn", "titans", "linear_rms", "mlstm", "softmax", "mesa"})
    BOOST_TEST(!found.count(name), name);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
