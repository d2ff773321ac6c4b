// SPDX-License-Identifier: Apache-2.0
// Every claim that takes --point, at two random points: it gives the expected verdict, or a usage error that says why
// the statement does not apply there.
#include "harness/core/text.hpp"
#include "harness/numerics/random.hpp"
#include "tests/theory/examine.hpp"
#include <algorithm>
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(points)

/// A random value within a factor of two of the default and within the declared range, so that a point costs about as
/// much as the default one.
std::string drawn(const ParamSpec &spec, double uniform) {
  if (spec.kind == ParamSpec::choice) return spec.choices[size_t(uniform * spec.choices.size())];
  const double half = std::fabs(spec.fallback) / 2;
  const double low = std::max(spec.low, spec.fallback - half), high = std::min(spec.high, spec.fallback + 2 * half);
  if (spec.kind == ParamSpec::integer) {
    const double first = std::ceil(low), count = std::floor(high) - first + 1;
    return number(first + std::floor(uniform * count));
  }
  return number(low + uniform * (high - low));
}

Assignments drawn(const Claim &claim, int which) {
  Assignments point;
  const Stream stream(1, "test/points/" + claim.id, which);
  for (size_t i = 0; i < claim.params.size(); ++i)
    if (claim.params[i].automatic.empty()) point[claim.params[i].name] = drawn(claim.params[i], stream.uniform(i));
  return point;
}

BOOST_AUTO_TEST_CASE(claims_come_out_as_stated_or_say_why_they_do_not_apply) {
  int measured = 0, refused = 0;
  for (const Claim &claim : all_claims())
    for (int which = 0; which < 2 && !claim.params.empty(); ++which) {
      const Assignments point = drawn(claim, which);
      try {
        check_claim_at(claim.id, point);
        ++measured;
      } catch (const Error &e) {
        BOOST_TEST(e.code == exit_usage, claim.id << ": " << e.what());
        BOOST_TEST_MESSAGE(claim.id << ": " << e.what());
        ++refused;
      }
    }
  BOOST_TEST_MESSAGE(measured << " measured, " << refused << " refused");
  BOOST_TEST(measured > 0);
  BOOST_TEST(refused <= measured / 10);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
