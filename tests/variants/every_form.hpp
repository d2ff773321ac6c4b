// SPDX-License-Identifier: Apache-2.0
// What the tests of all variants share: every form in both real types at odd sizes, and the bound on its rounding.
#pragma once
#include "tests/testing.hpp"

namespace recollect {

constexpr Shape odd{2, 3, 21, 5, 3};

/// f(variant, params, form, real) for every variant, form and real type; without the approximate forms where the
/// definition is the reference.
template <class F> void every_form(const F &f, bool approximate = true) {
  for (const Variant &variant : all_variants()) {
    const Params params = variant_params(variant);
    BOOST_TEST_REQUIRE((!variant.unsuitable || variant.unsuitable(odd, params).empty()));
    for (const Form &form : variant.forms)
      for (Real real : {Real::f32, Real::f64})
        if (form.exact || approximate) f(variant, params, form, real);
  }
}

inline double bound(const Variant &variant, const Params &params, const Sequence &s, Real real) {
  return accumulated_terms(s.shape, 8) * epsilon_of(real) * input_condition(variant, s, params, 2);
}

inline std::string label(const Variant &variant, const Form &form, Real real) {
  return variant.name + " " + form.name + " " + name_of(real);
}

} // namespace recollect
