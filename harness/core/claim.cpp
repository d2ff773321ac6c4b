// SPDX-License-Identifier: Apache-2.0
#include "harness/core/claim.hpp"
#include "harness/core/text.hpp"

namespace recollect {

DEFINE_SPECIAL_MEMBERS(Point);
DEFINE_SPECIAL_MEMBERS(Claim);

namespace {
template <class Enum, size_t n> const char *pick(const char *const (&names)[n], Enum value) {
  return names[static_cast<size_t>(value)];
}
} // namespace

const char *name_of(Verdict verdict) {
  const char *const names[] = {"holds", "holds_asymptotically", "refuted", "not_tested", "inconclusive", "holds_under"};
  return pick(names, verdict);
}
const char *name_of(Scope scope) {
  const char *const names[] = {"", "paper", "boundary", "typo", "untrained"};
  return pick(names, scope);
}
const char *name_of(Reason reason) {
  const char *const names[] = {"", "under_specified", "not_numeric", "needs_training", "needs_gpu"};
  return pick(names, reason);
}
const char *name_of(Role role) {
  const char *const names[] = {"statement", "limit", "obligation", "rival", "condition"};
  return pick(names, role);
}
const char *name_of(RivalKind kind) {
  const char *const names[] = {"", "law", "system"};
  return pick(names, kind);
}
const char *name_of(Point::Relation relation) {
  const char *const names[] = {"equal", "at_most", "at_least"};
  return pick(names, relation);
}

const char *system_of(const Claim &claim) { return claim.variants.empty() ? "algebra" : "layer"; }
std::string qualified(Verdict verdict, const Claim &claim) {
  const std::string more = verdict == claim.expected ? qualifier(claim) : "";
  return name_of(verdict) + (more.empty() ? "" : " (" + more + ")");
}
std::string qualifier(const Claim &claim) {
  return std::string(name_of(claim.scope)) + name_of(claim.reason) + unmarked(claim.condition);
}

} // namespace recollect
