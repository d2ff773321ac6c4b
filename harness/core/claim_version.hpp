// SPDX-License-Identifier: Apache-2.0
// The version of a claim, which changes with its statement or its expected verdict.
//
// claim_versions.inc has a row per claim with the digest of each version, the oldest first: the version is the number
// of digests. ci/claim_versions.py appends to it; a test fails if it is out of date.
#pragma once
#include "harness/core/claim.hpp"

namespace recollect {

/// "000/snr_exp": paper and id.
std::string name_in_paper(const Claim &);
/// Digest of the statement and the expected verdict with its qualifier: 16 hexadecimal digits.
std::string digest_of(const Claim &);
/// The version of the claim's statement and verdict. 0 if the table does not have them: the claim belongs to another
/// program, or was changed without a new version.
int version_of(const Claim &);
/// "000/snr_exp@3", a permanent name of one statement with one verdict; without "@" if the version is 0.
std::string address_of(const Claim &);

/// The rows of the table: name in the paper, then digests separated by spaces. The last one is "withdrawn" if the claim
/// was removed.
struct ClaimVersions {
  const char *name, *digests;
};
const std::vector<ClaimVersions> &claim_versions();

} // namespace recollect
