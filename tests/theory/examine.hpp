// SPDX-License-Identifier: Apache-2.0
// What the tests assert of a claim: the quick run gives the expected verdict, every obligation holds, every rival is
// refuted. verdicts.cpp asserts it of every claim at its suite's points, other tests at points of their own.
#pragma once
#include "harness/core/error.hpp"
#include "harness/numerics/verdict.hpp"
#include "tests/testing.hpp"
#include "tests/theory/wrong_points.hpp"
#include <algorithm>

namespace recollect {

inline Finding check_claim(const Claim &claim, const Protocol &protocol) {
  const Finding finding = examine(claim, protocol);
  BOOST_TEST_CONTEXT(claim.id << " under seed " << protocol.seed
                              << (protocol.point ? " at " + protocol.point->str() : std::string())) {
    BOOST_TEST(std::string(name_of(finding.verdict)) == name_of(claim.expected));
    for (const std::string &wrong : wrong_points(finding)) BOOST_ERROR(wrong);
    BOOST_TEST(finding.passed);
    for (const Point &p : finding.points) { // formulas are marked in labels, in pairs, and in no parameter
      BOOST_TEST(std::count(p.label.begin(), p.label.end(), '$') % 2 == 0, p.label);
      BOOST_TEST(p.params.str().find('$') == std::string::npos, p.params.str());
    }
  }
  return finding;
}

/// The claim at a point of the test's own.
inline Finding check_claim_at(const std::string &id, const Assignments &point, std::uint64_t seed = 1) {
  const Claim &claim = find_claim(id);
  return check_claim(claim, {Effort::quick, seed, resolve(claim.params, point, claim.id)});
}

/// A point at which the claim's statement does not apply: usage error.
inline void refuse_point(const std::string &id, const Assignments &point) {
  const Claim &claim = find_claim(id);
  const auto is_usage = [](const Error &e) { return e.code == exit_usage; };
  BOOST_CHECK_EXCEPTION(examine(claim, {Effort::quick, 1, resolve(claim.params, point, claim.id)}), Error, is_usage);
}

} // namespace recollect
