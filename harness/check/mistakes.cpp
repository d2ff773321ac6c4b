// SPDX-License-Identifier: Apache-2.0
#include "harness/check/mistakes.hpp"
#include "harness/check/remake.hpp"

namespace recollect {
namespace {

void add_misread(std::vector<Made> &all, const Misread &misread, const CheckCase &problem) {
  const auto forward = [&problem, misread] { return forward_results(problem, misread.inputs()); };
  const auto backward = [&problem, misread](bool chained) {
    return gradient_results(problem, misread.inputs(), chained ? misread.chain : nullptr);
  };
  if (!problem.wants_gradient()) {
    all.push_back({misread.what, forward, nullptr});
    return;
  }
  all.push_back({misread.what, forward, [=] { return backward(true); }});
  all.push_back({misread.what + "; the backward pass is right", forward, nullptr});
  all.push_back({"in the backward pass alone: " + misread.what, nullptr, [=] { return backward(false); }});
}

} // namespace

std::vector<Made> ways_to_make(const Mistake &mistake, const CheckCase &problem, const PartList &right) {
  if (mistake.make) return mistake.make(problem, right);
  std::vector<Made> all;
  for (const Misread &misread : mistake.misread(problem)) add_misread(all, misread, problem);
  return all;
}

PartList results_of(const Made &made, const CheckCase &problem, const PartList &right) {
  PartList all = right;
  const auto put = [&](const std::function<PartList()> &compute) {
    if (!compute) return;
    for (Part &part : compute())
      if (Part *place = find_part(all, part.name)) *place = std::move(part);
  };
  put(made.forward);
  if (problem.wants_gradient()) put(made.backward);
  return all;
}

} // namespace recollect
