// SPDX-License-Identifier: Apache-2.0
// The points of claims: the parameters that label them, and whether they come from the suite or from the user.
#pragma once
#include "harness/core/text.hpp"
#include "harness/numerics/verdict.hpp"

namespace recollect::theory {

/// The user's point if there is one, else the suite's own.
inline std::vector<Params> points_of(const Protocol &protocol, const std::vector<Params> &own) {
  return protocol.point ? std::vector<Params>{*protocol.point} : own;
}

/// A rival law that predicts a whole array; the point already has its prediction.
inline Point rival_law(Point point, const Params &params, std::string name) {
  point.params = params;
  return rival_law(point, std::move(name), point.predicted);
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
