// SPDX-License-Identifier: Apache-2.0
#include "harness/check/check.hpp"
#include "harness/core/error.hpp"
#include "harness/core/text.hpp"
#include "harness/numerics/linalg.hpp"
#include "harness/pipeline/conditioning.hpp"
#include "harness/check/diagnosis.hpp"
#include <algorithm>
#include <cmath>

namespace recollect {
namespace {

const std::vector<std::string> precision_names{"f32", "tf32", "f16", "bf16"};

/// |a - b|, and infinity where it is no number: an element that is not there is wrong.
double gap(double a, double b) {
  const double difference = std::fabs(a - b);
  return std::isnan(difference) ? HUGE_VAL : difference;
}

std::vector<std::array<double, 3>> octaves(const std::vector<double> &candidate, const std::vector<double> &reference,
                                           const Shape &n) {
  std::vector<std::array<double, 3>> curve;
  const double scale = max_abs(reference);
  for (int begin = 0, end = 1; begin < n.T; begin = end, end *= 2) {
    const int stop = std::min(end, n.T);
    double worst = 0;
    for (size_t head = 0; head < n.heads(); ++head)
      for (size_t i = (head * n.T + begin) * n.Dv; i < (head * n.T + stop) * n.Dv; ++i)
        worst = std::max(worst, gap(candidate[i], reference[i]));
    curve.push_back({double(begin), double(stop), scale > 0 ? worst / scale : worst});
  }
  return curve;
}

/// A mistake explains the candidate where it comes within the bound of it and nearer than a tenth of what was wrong.
std::string diagnose(const Variant &variant, const Sequence &s, const Params &params, const Output &candidate,
                     const Checked &checked) {
  std::string best;
  double nearest = std::min(0.1 * checked.outputs.worst, HUGE_VAL);
  for (const Mistake &mistake : likely_mistakes(variant, s, params)) {
    Output made;
    try {
      made = mistake.make();
    } catch (const Error &) {
      continue; // this variant cannot make it
    }
    if (made.o.size() != candidate.o.size()) continue;
    const double scale = max_abs(made.o), apart = max_difference(candidate.o, made.o) / (scale > 0 ? scale : 1);
    if (apart < nearest && apart <= checked.bound) nearest = apart, best = mistake.name;
  }
  return best;
}

} // namespace

Precision parse_precision(const std::string &name) {
  const auto found = std::find(precision_names.begin(), precision_names.end(), name);
  if (found == precision_names.end()) usage_error("unknown type '" + name + "'" + suggestion(name, precision_names));
  return Precision(found - precision_names.begin());
}

double spacing(Precision precision) {
  const double spacings[] = {0x1p-23, 0x1p-10, 0x1p-10, 0x1p-7};
  return spacings[int(precision)];
}

/// The first bad one in order of rows (steps), then of lead.
Errors compare(const std::vector<double> &candidate, const std::vector<double> &reference, size_t H, size_t rows,
               size_t columns, double bound) {
  Errors e;
  const double scale = max_abs(reference);
  double squares = 0, whole = 0;
  size_t first = candidate.size(), first_row = rows;
  for (size_t i = 0; i < candidate.size(); ++i) {
    const double difference = gap(candidate[i], reference[i]);
    e.worst = std::max(e.worst, scale > 0 ? difference / scale : difference);
    squares += difference * difference, whole += reference[i] * reference[i];
    const size_t row = i / columns % rows;
    if (difference > bound * scale && row < first_row) first = i, first_row = row;
  }
  e.rms = whole > 0 ? std::sqrt(squares / whole) : std::sqrt(squares);
  if (first < candidate.size()) {
    const size_t lead = first / columns / rows;
    e.first_bad = {long(lead / H), long(lead % H), long(first_row), long(first % columns)};
  }
  return e;
}

double rounding_units(double terms, double passages, Precision precision) {
  return terms * spacing(Precision::f32) + (precision == Precision::f32 ? 0 : passages * spacing(precision));
}

Checked check(const Variant &variant, const Sequence &s, const Params &params, const Output &candidate,
              Precision precision, int chunk) {
  const Output reference = forward(variant, s, {"recurrent", Real::f64, 1, params});
  Checked c;
  c.condition = input_condition(variant, s, params);
  constexpr double passages =
      16; // through the lower precision: inputs, scores, solves, state, output, each a few times
  c.bound = rounding_units(accumulated_terms(s.shape, chunk), passages, precision) * c.condition;
  c.outputs = compare(candidate.o, reference.o, size_t(s.shape.H), size_t(s.shape.T), size_t(s.shape.Dv), c.bound);
  c.by_step = octaves(candidate.o, reference.o, s.shape);
  c.has_state = !candidate.state.empty();
  if (c.has_state)
    c.state = compare(candidate.state, reference.state, size_t(s.shape.H), size_t(reference.state_shape.rows),
                      size_t(reference.state_shape.columns), c.bound);
  if (!c.outputs.first_bad.empty()) c.diagnosis = diagnose(variant, s, params, candidate, c);
  return c;
}

} // namespace recollect
