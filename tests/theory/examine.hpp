// SPDX-License-Identifier: Apache-2.0
// What every test of claims asserts: the quick run gives the expected verdict, every obligation holds, every rival is
// refuted.
#pragma once
#include "harness/numerics/verdict.hpp"
#include "tests/testing.hpp"

namespace recollect {

inline void check_claim(const std::string &id, std::uint64_t seed) {
  for (const Claim *claim : select_claims({id})) {
    const Finding finding = examine(*claim, {Effort::quick, seed, {}});
    BOOST_TEST_CONTEXT(claim->id << " under seed " << seed) {
      BOOST_TEST(std::string(name_of(finding.verdict)) == name_of(claim->expected));
      for (const Point &point : finding.points)
        if (point.role != Role::statement &&
            point.verdict != (point.role == Role::rival ? Verdict::refuted : Verdict::holds))
          BOOST_ERROR(name_of(point.role) << " " << point.label << " " << point.params.str() << ": measured "
                                          << point.measured << ", predicted " << point.predicted << ", tolerance "
                                          << point.tolerance << ", " << name_of(point.verdict));
      BOOST_TEST(finding.passed);
    }
  }
}

/// Every claim of a list under seeds 1 ... 3.
inline void check_claims(const std::vector<std::string> &ids) {
  for (const std::string &id : ids)
    for (std::uint64_t seed : {1, 2, 3}) check_claim(id, seed);
}

} // namespace recollect
