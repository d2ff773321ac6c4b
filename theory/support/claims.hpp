// SPDX-License-Identifier: Apache-2.0
// The points of claims: the parameters that label them, and whether they come from the suite or from the user.
#pragma once
#include "harness/core/text.hpp"
#include "harness/numerics/verdict.hpp"

namespace recollect::theory {
using Vector = std::vector<double>;

/// The user's point if there is one, else the points `own` of the suite.
inline std::vector<Params> points_of(const Protocol &protocol, const std::vector<Params> &own) {
  return protocol.point ? std::vector<Params>{*protocol.point} : own;
}

/// A rival law that predicts a whole array. `point` must already hold the comparison with this prediction.
inline Point rival_law(Point point, const Params &params, std::string name) {
  point.params = params;
  return rival_law(point, std::move(name), point.predicted);
}

/// A parameter and its value: part of the label of a point, or a change of a default.
struct Change {
  SPECIAL_MEMBERS(Change);
  template <class Number, class = std::enable_if_t<std::is_arithmetic_v<Number>>>
  Change(const char *name_of, Number value) : Change(name_of, Params::Value{double(value), ""}) {}
  Change(const char *name_of, const std::string &text) : Change(name_of, Params::Value{0, text}) {}
  Change(const char *name_of, const Params::Value &value_of);
  std::string name;
  Params::Value value;
};
using Changes = std::vector<Change>;

/// The parameters with some of them changed or added.
Params changed(Params p, const Changes &changes);
/// Parameters that label points.
inline Params labels(const Changes &values) { return changed({}, values); }
inline Params::Value num(double number) { return {number, ""}; }
inline Params::Value txt(const std::string &text) { return {0, text}; }
} // namespace recollect::theory
