// SPDX-License-Identifier: Apache-2.0
// Every exact fast form of every variant is compared with the float64 recurrent form on well-conditioned keys, and with
// itself on a sequence that is cut in two. invariants.cpp tests ill-conditioned keys.
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(fast_forms)

BOOST_AUTO_TEST_CASE(equal_the_recurrent_form, *slow) {
  for (const Variant &variant : all_variants())
    for (int T : {1, 2, 63, 64, 65, 500}) {
      const Shape shape{1, 2, T, 10, 6};
      const Params params = variant_params(variant);
      if (variant.unsuitable && !variant.unsuitable(shape, params).empty()) continue;
      const Sequence s = random_sequence(shape, 7);
      const Output reference = forward(variant, s);
      const double kappa = input_condition(variant, s, params, 2);
      for (const Form &form : variant.forms)
        for (int C : {1, 16, 32, 64, T})
          for (Real real : {Real::f32, Real::f64}) {
            if (C > T || !form.exact) continue;
            const double error = deviation(forward(variant, s, {form.name, real, C, params}), reference).largest();
            const double bound = accumulated_terms(shape, C) * epsilon_of(real) * kappa;
            BOOST_TEST_INFO(variant.name << " " << form.name << " " << name_of(real) << " T=" << T << " C=" << C
                                         << ": error " << error << ", bound " << bound << ", kappa " << kappa);
            BOOST_TEST(error <= bound);
          }
    }
}

BOOST_AUTO_TEST_CASE(one_pass_equals_two_with_the_state_handed_over) {
  const Shape shape{2, 1, 19, 6, 5};
  for (const Variant &variant : all_variants()) {
    const Params params = variant_params(variant);
    if (variant.state_shape(shape, params).size() == 0) continue;
    const Sequence s = random_sequence(shape, 8);
    const double kappa = input_condition(variant, s, params, 2);
    for (const Form &form : variant.forms)
      for (int cut = 1; cut < shape.T; ++cut)
        for (Real real : {Real::f32, Real::f64}) {
          const bool between_batches = params.has("minibatch") && cut % params.integer("minibatch") == 0;
          if (!form.exact && !between_batches) continue; // an approximate form may only be cut between its batches
          const Run run{form.name, real, 8, params};
          const Output whole = forward(variant, s, run);
          const Output first = forward(variant, slice_steps(s, 0, cut), run);
          Sequence rest = slice_steps(s, cut, shape.T);
          rest.state = first.state;
          const Output second = forward(variant, rest, run);
          Output joined{{}, second.state, second.state_shape};
          for (int b = 0; b < shape.B; ++b) {
            const auto head = [&](const Output &o, int T) { return o.o.begin() + size_t(b) * T * shape.Dv; };
            joined.o.insert(joined.o.end(), head(first, cut), head(first, cut) + cut * shape.Dv);
            joined.o.insert(joined.o.end(), head(second, shape.T - cut),
                            head(second, shape.T - cut) + (shape.T - cut) * shape.Dv);
          }
          const double error = deviation(joined, whole).largest(),
                       bound = 2 * accumulated_terms(shape, 8) * epsilon_of(real) * kappa;
          BOOST_TEST_INFO(variant.name << " " << form.name << " " << name_of(real) << " cut=" << cut << ": error "
                                       << error << ", bound " << bound
                                       << "; what depends on the position belongs in the state");
          BOOST_TEST(error <= bound);
        }
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
