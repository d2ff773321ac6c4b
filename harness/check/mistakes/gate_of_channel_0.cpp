// SPDX-License-Identifier: Apache-2.0
// The kernel uses the lambda of channel 0 for every channel.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake gate_of_channel_0() {
  Mistake m;
  m.what = "every channel takes the decay of channel 0";
  m.shows = "channels from 1 on, where lambda differs between them";
  m.reports = {"mlx-lm #1792"};
  m.misread = [](const CheckCase &problem) -> std::vector<Misread> {
    if (!gives(problem, Tensor::lambda)) return {};
    return {gathered(problem, {"lambda"}, "every channel takes the lambda of channel 0", [](Place p) {
      return Place{p.head, p.row, 0};
    })};
  };
  return m;
}

} // namespace recollect::mistakes
