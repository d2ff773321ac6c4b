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

/// A JSON-LD 1.1 document that holds a Claim and a ClaimReview per finding, and the program. The id of a claim is "#"
/// followed by the claim's address. The id of a review is "#review/" followed by this address and, if the user named a
/// point, by the point. `meta` describes the run.
std::string findings_json_ld(const std::vector<Reviewed> &findings, const Facts &meta);

} // namespace recollect
