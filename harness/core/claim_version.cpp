// SPDX-License-Identifier: Apache-2.0
#include "harness/core/claim_version.hpp"
#include "harness/core/fnv.hpp"
#include "harness/core/text.hpp"
#include <cstdio>

namespace recollect {

const std::vector<ClaimVersions> &claim_versions() {
  static const std::vector<ClaimVersions> rows{
#include "harness/core/claim_versions.inc"
  };
  return rows;
}

std::string name_in_paper(const Claim &c) { return c.source.substr(0, c.source.find(' ')) + "/" + c.id; }

std::string digest_of(const Claim &c) {
  char text[17];
  const unsigned long long digest = fnv1a(qualified(c.expected, c), fnv1a("\n", fnv1a(unmarked(c.statement))));
  std::snprintf(text, sizeof text, "%016llx", digest);
  return text;
}

int version_of(const Claim &c) {
  const std::string name = name_in_paper(c);
  for (const ClaimVersions &row : claim_versions())
    if (name == row.name) {
      const std::vector<std::string> digests = split(row.digests, ' ');
      return digests.back() == digest_of(c) ? int(digests.size()) : 0;
    }
  return 0;
}

std::string address_of(const Claim &c) {
  const int version = version_of(c);
  return name_in_paper(c) + (version ? "@" + std::to_string(version) : "");
}

} // namespace recollect
