// SPDX-License-Identifier: Apache-2.0
// Included by every test file: Boost.Test's macros and the harness.
#pragma once
#include "harness/call/conditioning.hpp"
#include "harness/call/forward.hpp"
#include "harness/core/registry.hpp"
#include "harness/numerics/inputs.hpp"
#include "harness/numerics/linalg.hpp"
#include <boost/test/unit_test.hpp>

// Boost joins a line and a counter without a separator, so that line 5 with 40 and line 54 with 0 are one name where
// CMake compiles several files as one.
#undef BOOST_TEST_APPEND_UNIQUE_ID
#define BOOST_TEST_APPEND_UNIQUE_ID(name) BOOST_JOIN(BOOST_JOIN(name, _), __COUNTER__)

namespace recollect {

/// Labels a case that takes more than two seconds: BOOST_AUTO_TEST_CASE(name, *slow). `ctest -L quick` leaves it out.
inline const boost::unit_test::label slow("slow");

/// One head with the given rows; T, Dk, Dv follow from the sizes.
inline Sequence one_head(int T, std::vector<double> q, std::vector<double> k, std::vector<double> v) {
  Sequence s;
  s.shape = {1, 1, T, int(k.size()) / T, int(v.size()) / T};
  s.q = std::move(q), s.k = std::move(k), s.v = std::move(v);
  return s;
}

/// Asserts |a - b| <= bound elementwise, with the largest difference in the message.
inline void check_close(const std::vector<double> &a, const std::vector<double> &b, double bound) {
  const double difference = max_difference(a, b);
  BOOST_TEST_INFO("largest difference " << difference << ", allowed " << bound);
  BOOST_TEST(difference <= bound);
}

} // namespace recollect
