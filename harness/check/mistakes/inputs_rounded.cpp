// SPDX-License-Identifier: Apache-2.0
// The kernel rounds its inputs to a narrower type than it claims.
#include "harness/check/precision.hpp"
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake inputs_rounded() {
  Mistake m;
  m.what = "the inputs are rounded to a narrower type";
  m.shows = "every output, in a type wider than that";
  m.reports = {"fla #736"};
  m.misread = [](const CheckCase &problem) {
    std::vector<Misread> all;
    for (Precision precision : {Precision::f16, Precision::bf16})
      all.push_back({std::string("the inputs are rounded to ") + name_of(precision), [&problem, precision] {
                       Sequence other = problem.given;
                       for (Tensor tensor : all_tensors)
                         for (double &x : other[tensor]) x = rounded(x, precision);
                       for (double &x : other.state) x = rounded(x, precision);
                       return other;
                     }});
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
