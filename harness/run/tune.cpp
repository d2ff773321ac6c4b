// SPDX-License-Identifier: Apache-2.0
#include "harness/run/tune.hpp"
#include "harness/numerics/statistics.hpp"
#include <algorithm>
#include <cmath>

namespace recollect {
namespace {

bool reads(const Variant &variant, const std::string &input) {
  return std::any_of(variant.inputs.begin(), variant.inputs.end(), [&](const Input &i) { return i.name == input; });
}

std::string params_of(const Case &c) { return c.variant_params.str() + ";" + c.task_params.str(); }

/// Adds to `choice` the parameters in which the trials of a case differ, with their values in `params`.
void add_chosen(const std::string &owner, const std::vector<ParamSpec> &specs, const Params &params,
                const std::vector<const Params *> &tried, Choice &choice) {
  for (const ParamSpec &spec : specs) {
    if (spec.grid.empty()) continue;
    const double value = params.real(spec.name);
    const auto differs = [&](const Params *other) {
      const double theirs = other->real(spec.name);
      return theirs != value && !(std::isnan(theirs) && std::isnan(value));
    };
    if (std::any_of(tried.begin(), tried.end(), differs)) choice.push_back({owner, spec.name, value});
  }
}

} // namespace

std::vector<Free> free_parameters(const Variant &variant, const Task &task, const Assignments &of_variant,
                                  const Assignments &of_task) {
  std::vector<Free> free;
  if (task.metrics.at(0).better == Metric::neither) return free;
  for (const ParamSpec &spec : variant.params)
    if (!spec.grid.empty() && !of_variant.count(spec.name))
      free.push_back({false, spec.name, spec.fallback, spec.grid});
  for (const ParamSpec &spec : task.params) {
    // If a layer reads alpha and lambda and both are constant, only their product acts, as one decay. (In titans lambda
    // is not a decay, but a factor on the momentum eta.)
    const bool decays_by_alpha = spec.name == "lambda" && reads(variant, "alpha");
    if (!spec.grid.empty() && !of_task.count(spec.name) && reads(variant, spec.name) && !decays_by_alpha)
      free.push_back({true, spec.name, spec.fallback, spec.grid});
  }
  return free;
}

std::vector<Case> trials(const Case &c, const std::vector<Free> &free) {
  std::vector<Case> all{c};
  all[0].setting = Setting::trial;
  for (const Free &parameter : free) {
    std::vector<double> values{parameter.fallback};
    for (double value : parameter.grid)
      if (value != parameter.fallback) values.push_back(value);
    std::vector<Case> more;
    for (const Case &known : all)
      for (double value : values) {
        more.push_back(known);
        (parameter.of_task ? more.back().task_params : more.back().variant_params).set(parameter.name, value);
      }
    all = std::move(more);
  }
  return all;
}

Trials::Trials(const std::vector<Case> &plan, const std::map<int, double> &headlines) {
  for (const Case &c : plan) {
    if (c.setting != Setting::trial) continue;
    std::vector<Candidate> &group = groups_[c.group];
    if (std::string params = params_of(c); group.empty() || group.back().params != params)
      group.push_back({&c, std::move(params), {}});
    if (const auto found = headlines.find(c.index); found != headlines.end()) add(c, found->second);
  }
}

void Trials::add(const Case &trial, double headline) {
  const std::string params = params_of(trial);
  for (Candidate &candidate : groups_.at(trial.group))
    if (candidate.params == params) candidate.headlines.push_back(headline);
}

std::pair<Case, Choice> Trials::settled(const Case &c) const {
  if (c.setting != Setting::tuned) return {c, {}};
  const std::vector<Candidate> &candidates = groups_.at(c.group);
  const double sign = c.task->metrics.at(0).better == Metric::larger ? 1 : -1;
  const Candidate *best = &candidates.front();
  double best_mean = -HUGE_VAL;
  for (const Candidate &candidate : candidates) {
    const double mean = candidate.headlines.empty() ? std::nan("") : sign * mean_of(candidate.headlines).mean;
    if (mean > best_mean) best_mean = mean, best = &candidate;
  }
  Case chosen = c;
  chosen.variant_params = best->first->variant_params, chosen.task_params = best->first->task_params;
  std::vector<const Params *> variants, tasks;
  for (const Candidate &candidate : candidates)
    variants.push_back(&candidate.first->variant_params), tasks.push_back(&candidate.first->task_params);
  Choice choice;
  add_chosen(c.variant->name, c.variant->params, chosen.variant_params, variants, choice);
  add_chosen(c.task->name, c.task->params, chosen.task_params, tasks, choice);
  return {chosen, choice};
}

} // namespace recollect
