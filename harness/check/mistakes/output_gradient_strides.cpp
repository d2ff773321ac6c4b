// SPDX-License-Identifier: Apache-2.0
// The kernel reads do [B,H,T,D] as if its layout were [B,T,H,D].
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake output_gradient_strides() {
  Mistake m;
  m.what = "do is read at the wrong strides: [B,T,H,D] for [B,H,T,D]";
  m.shows = "every gradient, where T and H are more than 1";
  m.reports = {"fla #871", "fla #1139"};
  m.make = [](const CheckCase &problem, const PartList &) -> std::vector<Made> {
    const Shape &n = problem.given.shape;
    if (!problem.wants_gradient() || n.T == 1 || n.H == 1) return {};
    return {{"do is read as [B,T,H,D]", nullptr, [&] {
               return gradients_with(problem, {as_bthd(problem.weights.o, n, n.Dv), problem.weights.state});
             }}};
  };
  return m;
}

} // namespace recollect::mistakes
