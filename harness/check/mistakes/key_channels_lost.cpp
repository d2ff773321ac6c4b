// SPDX-License-Identifier: Apache-2.0
// From some channel j on (such as 64), the kernel uses k_j = 0 and q_j = 0.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake key_channels_lost() {
  Mistake m;
  m.what = "key channels from some multiple of a tile on are ignored";
  m.shows = "every output, where Dk exceeds this multiple";
  m.reports = {"fla-npu #477"};
  m.misread = [](const CheckCase &problem) {
    std::vector<Misread> all;
    for (long width : {16, 32, 64, 128})
      if (width < problem.given.shape.Dk)
        all.push_back(gathered(problem, {"q", "k", "w"},
                               "key channels from " + std::to_string(width) + " on are ignored",
                               [width](Place p) { return p.column < width ? p : nowhere; }));
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
