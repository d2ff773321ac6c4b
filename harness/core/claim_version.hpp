// SPDX-License-Identifier: Apache-2.0
// The version of a claim, which changes with its statement or its expected verdict.
//
// claim_versions.inc has a row for every claim with the digests of its versions, the oldest first. The version of a
// claim is the number of its digests. ci/claim_versions.py appends new digests; a test fails if the file is out of
// date.
#pragma once
#include "harness/core/claim.hpp"

namespace recollect {

/// "000/snr_exp": paper and id.
std::string name_in_paper(const Claim &);
/// Digest of the statement and the expected verdict with its qualifier: 16 hexadecimal digits.
std::string digest_of(const Claim &);
/// The version of the claim. 0 if its digest is not the last one of its row in claim_versions.inc: then the claim
/// belongs to another program, or was changed without a new version.
int version_of(const Claim &);
/// "000/snr_exp@3", a permanent name of one statement with one verdict; without "@" if the version is 0.
std::string address_of(const Claim &);

/// A row of claim_versions.inc: the claim's name in the paper, and its digests, separated by spaces. If the claim was
/// removed, the last digest is "withdrawn".
struct ClaimVersions {
  const char *name, *digests;
};
const std::vector<ClaimVersions> &claim_versions();

} // namespace recollect
