// SPDX-License-Identifier: Apache-2.0
// A claim that measures one row of the ledger: its id is the row's, its verdict the one that the points must come out
// with.
#pragma once
#include "text.hpp"
#include "verdict.hpp"

namespace recollect::theory {

inline Claim ledger_row(const std::string &row, const std::string &source, const std::string &statement,
                        const std::string &exact, std::function<std::vector<Point>(const Protocol &)> measure) {
  Claim c;
  c.id = canonical(row), c.covers = {row}, c.cost = "quick";
  c.source = source, c.statement = statement, c.exact = exact, c.measure = std::move(measure);
  return c;
}

/// The same for a statement that is refuted: `scope` is paper, boundary, typo or untrained.
inline Claim refuted_row(const std::string &row, const std::string &scope, const std::string &source,
                         const std::string &statement, const std::string &exact,
                         std::function<std::vector<Point>(const Protocol &)> measure) {
  Claim c = ledger_row(row, source, statement, exact, std::move(measure));
  c.expected = Verdict::refuted, c.scope = scope;
  return c;
}

/// The same claim, naming the variants that it runs.
inline Claim running(Claim claim, std::vector<std::string> variants) {
  claim.variants = std::move(variants);
  return claim;
}

inline void append(std::vector<Point> &points, const std::vector<Point> &more) {
  points.insert(points.end(), more.begin(), more.end());
}

/// Parameters from a list of pairs, for labelling points.
inline Params labels(std::initializer_list<std::pair<const char *, Params::Value>> values) {
  Params p;
  for (const auto &[name, value] : values) value.text.empty() ? p.set(name, value.number) : p.set(name, value.text);
  return p;
}
inline Params::Value num(double number) { return {number, ""}; }
inline Params::Value txt(const std::string &text) { return {0, text}; }

} // namespace recollect::theory
