// SPDX-License-Identifier: Apache-2.0
// Builders for claims and their points. A claim that measures one row of the ledger has the row's id.
#pragma once
#include "harness/core/text.hpp"
#include "harness/numerics/verdict.hpp"

namespace recollect::theory {

using Measure = std::function<std::vector<Point>(const Protocol &)>;

/// A statement that is expected to hold.
inline Claim ledger_row(const std::string &row, const std::string &source, const std::string &statement,
                        const std::string &exact, Measure measure) {
  Claim c;
  c.id = canonical(row), c.covers = {row};
  c.source = source, c.statement = statement, c.exact = exact, c.measure = std::move(measure);
  return c;
}

/// A statement that is expected to be refuted.
/// The scope follows from what was read (core/reading.hpp).
inline Claim refuted_row(const std::string &row, Reading reading, const std::string &source,
                         const std::string &statement, const std::string &exact, Measure measure) {
  Claim c = ledger_row(row, source, statement, exact, std::move(measure));
  c.expected = Verdict::refuted, c.scope = scope_of(reading), c.reading = std::move(reading);
  return c;
}

/// A statement that nothing here decides. What can be measured about it is a separate claim.
inline Claim untested_row(const std::string &row, Reason reason, const std::string &source,
                          const std::string &statement, const std::string &exact) {
  Claim c = ledger_row(row, source, statement, exact, nullptr);
  c.expected = Verdict::not_tested, c.reason = reason;
  return c;
}

/// The same claim, expected to hold only in its limit.
inline Claim asymptotic(Claim claim) {
  claim.expected = Verdict::holds_asymptotically;
  return claim;
}
/// The same claim, expected to hold only under a condition; "if " + condition must read as a clause.
inline Claim under(const std::string &condition, Claim claim) {
  claim.expected = Verdict::holds_under, claim.condition = condition;
  return claim;
}
/// The same claim, naming the variants that it runs.
inline Claim running(Claim claim, std::vector<std::string> variants) {
  claim.variants = std::move(variants);
  return claim;
}
/// The same claim, with its explanation.
inline Claim explained(Claim claim, const std::string &explanation) {
  claim.explanation = explanation;
  return claim;
}
/// The same claim, accepting --point.
inline Claim at_parameters(Claim claim, std::vector<ParamSpec> params) {
  claim.params = std::move(params);
  return claim;
}

/// The user's point if there is one, else the suite's own.
inline std::vector<Params> points_of(const Protocol &protocol, const std::vector<Params> &own) {
  return protocol.point ? std::vector<Params>{*protocol.point} : own;
}

/// A rival law that predicts a whole array; the point already has its prediction.
inline Point rival_law(Point point, const Params &params, std::string name) {
  point.params = params;
  return rival_law(point, std::move(name), point.predicted);
}

/// A measurement, number or array, compared with another law's prediction.
template <class Measured, class Law>
Point rival_law(const Measured &measured, const Params &params, std::string name, const Law &law, double units) {
  return rival_law(exact_point(measured, law, units), params, std::move(name));
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
/// The parameters given with --point, or the defaults.
inline Params point_of(const Protocol &protocol, const std::vector<ParamSpec> &params) {
  return protocol.point ? *protocol.point : resolve(params, {}, "the suite");
}

inline Params::Value num(double number) { return {number, ""}; }
inline Params::Value txt(const std::string &text) { return {0, text}; }

} // namespace recollect::theory
