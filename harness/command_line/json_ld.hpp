// SPDX-License-Identifier: Apache-2.0
// Findings as linked data: schema.org's Claim and ClaimReview, PROV's wasGeneratedBy.
#pragma once
#include "harness/files/results.hpp"

namespace recollect {

/// A finding, and how it was measured.
struct Reviewed {
  Finding finding;
  Protocol protocol;
};

/// A JSON-LD 1.1 document: a Claim and a ClaimReview per finding, and the program. A claim's id is "#" and its address;
/// a review's is "#review/" and the address, plus the point if the user named one. `meta` describes the run.
std::string findings_json_ld(const std::vector<Reviewed> &findings, const Facts &meta);

} // namespace recollect
