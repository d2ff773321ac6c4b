// SPDX-License-Identifier: Apache-2.0
// The kernel reads every array [B,H,T,D] as [B,T,H,D] and writes the outputs in this layout, or only writes them in it.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {
namespace {

CheckCase relaid(const CheckCase &problem) {
  CheckCase other = problem;
  other.weights = {};
  for (Tensor tensor : all_tensors)
    other.given[tensor] = as_bthd(problem.given[tensor], problem.given.shape, width_of(tensor, problem.given.shape));
  return other;
}

} // namespace

Mistake tensors_read_as_bthd() {
  Mistake m;
  m.what = "arrays are laid out [B,T,H,D], not [B,H,T,D]";
  m.shows = "every output, where T and H are more than 1";
  m.reports = {"fla #547"};
  m.make = [](const CheckCase &problem, const PartList &right) -> std::vector<Made> {
    const Shape &n = problem.given.shape;
    if (n.T == 1 || n.H == 1) return {};
    const auto written = [&right, &n] {
      return changed(right, {"o"}, [&](Part &o) { o.values = from_bthd(o.values, n, n.Dv); });
    };
    const auto read = [&problem, &right, &n] {
      const Numbers o = outputs_of(relaid(problem)).o;
      return changed(right, {"o"}, [&](Part &part) { part.values = from_bthd(o, n, n.Dv); });
    };
    return {{"the output is laid out [B,T,H,D]", written, nullptr}, {"arrays are taken for [B,T,H,D]", read, nullptr}};
  };
  return m;
}

} // namespace recollect::mistakes
