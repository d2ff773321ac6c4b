// SPDX-License-Identifier: Apache-2.0
// One layer as a special case of another.
#pragma once
#include "tests/testing.hpp"

namespace recollect {

/// Asserts that the recurrent forms of `special` on one input and `general` on another give the same outputs and, with
/// `states`, the same final state: within the rounding of T + Dk terms at the input's own condition number.
inline void check_reduction(const std::string &special, const Sequence &its_input, const std::string &general,
                            const Sequence &input, const Assignments &special_params = {},
                            const Assignments &general_params = {}, bool states = true) {
  const Variant &one = find_variant(special), &other = find_variant(general);
  const Params params = variant_params(one, special_params), general_resolved = variant_params(other, general_params);
  Output a = forward(one, its_input, {"recurrent", Real::f64, 1, params});
  Output b = forward(other, input, {"recurrent", Real::f64, 1, general_resolved});
  if (!states) a.state.clear(), b.state.clear();
  const double bound =
      accumulated_terms(input.shape, 1) * epsilon_of(Real::f64) * input_condition(other, input, general_resolved);
  const double error = deviation(a, b).largest();
  BOOST_TEST_INFO(special << " as " << general << ": error " << error << ", bound " << bound);
  BOOST_TEST(error <= bound);
}

} // namespace recollect
