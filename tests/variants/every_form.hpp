// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of all variants: every form in both real types at odd sizes, and the bounds on its rounding.
#pragma once
#include "tests/testing.hpp"
#include <limits>

namespace recollect {

constexpr Shape odd{2, 3, 21, 5, 3};

/// Calls f(variant, params, form, real) for every variant, form and real type; without approximate forms if the
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

/// The largest difference may be `allowed` times the largest number. Where the type underflows, each of `terms`
/// operations may add the smallest number of the type.
inline bool within(const std::vector<double> &measured, const std::vector<double> &reference, double allowed,
                   double terms, Real real) {
  const double least = real == Real::f32 ? std::numeric_limits<float>::denorm_min() : 5e-324;
  return max_difference(measured, reference) <= allowed * max_abs(reference) + terms * least;
}

inline bool within(const Output &measured, const Output &reference, double allowed, double terms, Real real) {
  return within(measured.o, reference.o, allowed, terms, real) &&
         within(measured.state, reference.state, allowed, terms, real);
}

inline std::string label(const Variant &variant, const Form &form, Real real) {
  return variant.name + " " + form.name + " " + name_of(real);
}

} // namespace recollect
