// SPDX-License-Identifier: Apache-2.0
// Every exact fast form of every variant equals the recurrent form, on outputs and final state (000 Appendix D.3, Eq 96-100).
//
// Reference: the recurrent form in float64. Bound: n eps(real) kappa with n = T + Dk + C accumulated terms and kappa the
// measured input condition number (conditioning.hpp, after 000 Eq 51); for float32 the inputs are rounded first, which is one
// more perturbation of relative size eps and is inside the same bound. Control: the reference run with v negated at the last
// step, an error of one single write, must be seen. Variants that declare themselves unstable have bounds of their own, in their
// tests.
#include "conditioning.hpp"
#include "inputs.hpp"
#include "registry.hpp"
#include "verdict.hpp"
#include <algorithm>

namespace recollect::theory {
namespace {

struct Cell {
  int T, C;
};

std::vector<Cell> cells(bool full) {
  std::vector<Cell> all;
  for (int T : full ? std::vector<int>{1, 2, 63, 64, 65, 500} : std::vector<int>{2, 65})
    for (int C : full ? std::vector<int>{1, 16, 32, 64, T} : std::vector<int>{16, T})
      if (C <= T) all.push_back({T, C});
  return all;
}

std::vector<Point> compare(const Protocol &protocol, bool control) {
  std::vector<Point> points;
  for (const Variant &variant : all_variants()) {
    const Params params = variant_params(variant);
    for (const Cell cell : cells(protocol.full())) {
      const Shape shape{1, 2, cell.T, 12, 7};
      if (!variant.traits.stable || (variant.unsuitable && !variant.unsuitable(shape, params).empty())) continue;
      const Sequence sequence = random_sequence(shape, protocol.seed);
      Sequence wrong = sequence;
      if (control)
        for (int c = 0; c < shape.Dv; ++c) wrong.v[size_t(shape.T - 1) * shape.Dv + c] *= -1;
      const Output reference = forward(variant, sequence, {"recurrent", Real::f64, 1, params});
      const double kappa = input_condition(variant, sequence, params), terms = accumulated_terms(shape, cell.C);
      for (const Form &form : variant.forms)
        for (Real real : {Real::f32, Real::f64}) {
          if (form.name == "recurrent" || !form.exact) continue;
          const Output fast = forward(variant, wrong, {form.name, real, cell.C, params});
          Params at_params;
          at_params.set("variant", variant.name).set("form", form.name).set("real", name_of(real)).set("T", cell.T).set("C", cell.C);
          const double tolerance = terms * epsilon_of(real) * kappa;
          Point p = bounded_point(deviation(fast, reference).largest(), Point::at_most, 0, tolerance, 1e-2);
          points.push_back(at(p, "exact", at_params));
        }
    }
  }
  return points;
}

} // namespace

std::vector<Claim> chunk_equals_recurrent() {
  Claim c;
  c.id = "chunk_equals_recurrent";
  c.source = "000 D.3, Eq 96-100";
  c.statement = "The chunked form of every layer gives the outputs and the final state of its recurrence.";
  c.exact = "Identity in exact arithmetic for every T, C <= T and Dk != Dv; rounding within (T + Dk + C) eps kappa.";
  c.covers = {"chunked-equals-sequential"};
  c.measure = [](const Protocol &p) { return compare(p, false); };
  c.control = [](const Protocol &p) { return compare(p, true); };
  return {c};
}

} // namespace recollect::theory
