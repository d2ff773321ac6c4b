// SPDX-License-Identifier: Apache-2.0
// The kernel reads one array [B,H,T,D] as if its layout were [B,T,H,D].
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake strides_assumed() {
  Mistake m;
  m.what = "one input is read at the wrong strides: [B,T,H,D] for [B,H,T,D]";
  m.shows = "every output, where T and H are more than 1";
  m.reports = {"fla #871", "fla #1139", "flashinfer #3693"};
  m.misread = [](const CheckCase &problem) {
    const long T = problem.given.shape.T, H = problem.given.shape.H;
    std::vector<Misread> all;
    if (T == 1 || H == 1) return all;
    for (Tensor tensor : all_tensors)
      if (gives(problem, tensor))
        all.push_back(gathered(
            problem, {name_of(tensor)}, std::string(name_of(tensor)) + " alone is read as [B,T,H,D]", [=](Place p) {
              const long at = p.row * H + p.head % H; // index of (step, head) in [T,H], which the kernel finds in [H,T]
              return Place{p.head / H * H + at / T, at % T, p.column};
            }));
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
