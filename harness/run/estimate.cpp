// SPDX-License-Identifier: Apache-2.0
#include "harness/run/estimate.hpp"
#include <algorithm>
#include <set>

namespace recollect {
namespace {

double work_of(const Case &c) {
  try {
    return recollect::work_of(*c.variant, c.task->shape(c.task_params), c.variant_params);
  } catch (const std::exception &) { // running the case will report the reason
    return 0;
  }
}

/// "12,345"
std::string grouped(size_t count) {
  std::string text = std::to_string(count);
  for (size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}
std::string counted(size_t count, const std::string &what) {
  return grouped(count) + " " + what + (count == 1 ? "" : "s");
}

} // namespace

Estimate estimate(const std::vector<const Case *> &cases, double budget,
                  const std::function<double(const Case &)> &time) {
  constexpr size_t most_tried = 16;
  if (cases.empty()) return {};
  std::vector<std::pair<double, const Case *>> by_work;
  double all_work = 0;
  for (const Case *c : cases) by_work.emplace_back(work_of(*c), c), all_work += by_work.back().first;
  std::stable_sort(by_work.begin(), by_work.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
  std::vector<double> works, times;
  double spent = 0;
  const size_t tries = std::min(most_tried, by_work.size());
  for (size_t i = 0; i < tries && spent < budget; ++i) {
    const auto &[work, c] = by_work[tries == 1 ? 0 : i * (by_work.size() - 1) / (tries - 1)];
    const double rate = works.empty() || works.back() <= 0 ? 0 : times.back() / works.back();
    if (i > 0 && rate * work > budget - spent) break; // this case alone would exceed the budget
    works.push_back(work), times.push_back(time(*c));
    spent += times.back();
  }
  if (times.size() == 1 && cases.size() > 1 && works[0] > 0)
    return {times[0] / works[0] * all_work, 1}; // one time cannot separate the overhead from the time per operation
  // The overhead per case is the time of the fastest case. The time per operation follows from the time beyond this
  // overhead and the work beyond that of the lightest case.
  const double overhead = *std::min_element(times.begin(), times.end());
  double beyond = 0, work = 0;
  for (size_t i = 0; i < times.size(); ++i) beyond += times[i] - overhead, work += works[i] - works[0];
  const double rate = work > 0 ? beyond / work : 0;
  return {double(cases.size()) * overhead + rate * (all_work - double(cases.size()) * works[0]), times.size()};
}

std::string size_of(const std::vector<Case> &plan) {
  std::set<const Variant *> variants;
  std::set<const Task *> tasks;
  std::set<std::uint64_t> seeds;
  size_t trials = 0;
  for (const Case &c : plan) {
    variants.insert(c.variant), tasks.insert(c.task);
    if (c.setting == Setting::trial)
      ++trials;
    else
      seeds.insert(c.seed);
  }
  return counted(plan.size(), "case") + ": " + counted(variants.size(), "layer") + " on " +
         counted(tasks.size(), "task") + ", " + counted(seeds.size(), "seed") +
         (trials ? ", " + counted(trials, "tuning trial") : "");
}

} // namespace recollect
