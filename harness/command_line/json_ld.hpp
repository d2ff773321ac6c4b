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

/// A JSON-LD 1.1 document: a Claim and a ClaimReview a finding, and the program. Ids: "#" and the claim's address; of
/// reviews "#review/" and the address, with the point where the user named one. `meta` is of the run.
std::string findings_json_ld(const std::vector<Reviewed> &findings, const Facts &meta);

} // namespace recollect
