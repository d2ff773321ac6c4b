// SPDX-License-Identifier: Apache-2.0
#include "harness/run/plan.hpp"
#include "harness/call/forward.hpp"
#include "harness/core/error.hpp"
#include "harness/core/lookup.hpp"
#include "harness/core/sweep.hpp"
#include "harness/core/text.hpp"
#include "harness/run/state_budget.hpp"
#include "harness/run/tune.hpp"
#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace recollect {
namespace {

/// The settings that apply to `entry`, a variant or a task. A setting called "owner.name" applies if owner is one of
/// the entry's names. A setting called "name" applies if the entry declares a parameter with this name.
template <class Entry> Assignments meant_for(const Entry &entry, const Assignments &settings) {
  Assignments mine;
  const auto declared = [&](const std::string &name) { // a declared name in the descriptor's spelling, others unchanged
    for (const ParamSpec &spec : entry.params)
      if (lookup::same(name, spec.name)) return spec.name;
    return name;
  };
  for (const auto &[key, value] : settings)
    for (const ParamSpec &spec : entry.params)
      if (lookup::same(key, spec.name)) mine[spec.name] = value;
  for (const std::string &owner : lookup::names(entry))
    for (const auto &[key, value] : settings) // "owner.name" overrides "name"
      if (const size_t dot = key.find('.'); dot != std::string::npos && lookup::same(key.substr(0, dot), owner))
        mine[declared(key.substr(dot + 1))] = value;
  return mine;
}

} // namespace

Assignments settings_for(const Variant &variant, const Assignments &settings) { return meant_for(variant, settings); }

std::vector<std::string> left_out(const Variant &variant, const std::vector<std::string> &names) {
  std::vector<std::string> own;
  for (const Input &input : variant.inputs)
    if (!input.required && std::find(names.begin(), names.end(), input.name) != names.end()) own.push_back(input.name);
  return own;
}

void refuse_left_out(const std::vector<std::string> &names, const std::vector<const Variant *> &variants) {
  std::set<std::string> optional;
  for (const Variant *variant : variants)
    for (const Input &input : variant->inputs)
      if (!input.required) optional.insert(input.name);
  for (const std::string &name : names)
    if (!optional.count(name))
      usage_error("--without takes optional inputs of " +
                  (variants.size() == 1 ? variants[0]->name : "the selected variants") + " (" +
                  (optional.empty() ? "none" : join({optional.begin(), optional.end()}, ", ")) + "), got '" + name +
                  "'");
}

void refuse_unused(const Assignments &settings, const std::vector<const Variant *> &variants,
                   const std::vector<const Task *> &tasks) {
  std::vector<std::string> names, owners;
  for (const Variant *v : variants) {
    for (const std::string &name : lookup::names(*v)) owners.push_back(name);
    for (const ParamSpec &spec : v->params) names.push_back(spec.name);
  }
  for (const Task *t : tasks) {
    owners.push_back(t->name);
    for (const ParamSpec &spec : t->params) names.push_back(spec.name);
  }
  const auto known = [](const std::vector<std::string> &all, const std::string &name) {
    for (const std::string &candidate : all)
      if (lookup::same(candidate, name)) return true;
    return false;
  };
  for (const auto &[key, value] : settings) {
    const size_t dot = key.find('.');
    if (dot == std::string::npos ? !known(names, key) : !known(owners, key.substr(0, dot)))
      usage_error(
          "--set " + key + "=" + value + ": no selected " + (tasks.empty() ? "variant" : "variant or task") +
          " has it" +
          suggestion(dot == std::string::npos ? key : key.substr(0, dot), dot == std::string::npos ? names : owners));
  }
}

namespace {

/// The widths that request.shapes lists; one empty assignment if it lists none.
std::vector<Assignments> widths(const RunRequest &request) {
  if (request.shapes.empty()) return {{}};
  std::vector<Assignments> all;
  for (const std::string &shape : request.shapes) {
    const std::vector<std::string> parts = split(shape, ',');
    if (parts.size() != 2) usage_error("--shape is d,dv, got '" + shape + "'");
    all.push_back({{"d", parts[0]}, {"dv", parts[1]}});
  }
  for (const char *name : {"d", "dv"})
    if (request.settings.count(name)) usage_error("--shape and --set " + std::string(name) + " exclude each other");
  return all;
}

class Planner {
public:
  explicit Planner(const RunRequest &request, std::vector<Case> &plan) : request_(request), plan_(plan) {}

  /// Adds the cases of one layer on one task with given parameters: first the trials, if layers are tuned, then one
  /// case per seed.
  void add(Case c, const Assignments &variant_settings, const Assignments &task_settings) {
    const std::vector<Free> free = free_parameters(*c.variant, *c.task, variant_settings, task_settings);
    c.experiment = request_.experiment;
    c.setting = free.empty() ? Setting::fixed : request_.tune ? Setting::tuned : Setting::untuned;
    const bool together = c.setting == Setting::tuned;
    c.group = next_group();
    if (together)
      for (const Case &trial : trials(c, free))
        for (int s = 0; s < request_.tuning_seeds; ++s) push(trial, request_.seeds + s);
    for (int s = 0; s < request_.seeds; ++s) {
      if (s && !together) ++c.group;
      push(c, s);
    }
  }

private:
  int next_group() const { return plan_.empty() ? 0 : plan_.back().group + 1; }
  void push(Case c, int seed) {
    c.index = int(plan_.size()), c.seed = request_.seed + std::uint64_t(seed);
    plan_.push_back(std::move(c));
  }
  const RunRequest &request_;
  std::vector<Case> &plan_;
};

void add_plan(const RunRequest &request, std::vector<Case> &plan) {
  refuse_math(request.real, request.math);
  const auto variants = select_variants(request.variants);
  const auto tasks = select_tasks(request.tasks);
  refuse_unused(request.settings, variants, tasks);
  Planner planner(request, plan);
  for (const Task *task : tasks)
    for (const Variant *variant : variants) {
      std::set<std::string> seen; // settings of this layer and task; combinations may repeat them
      for (const Assignments &settings : combinations(request.settings, "--set", widths(request))) {
        const Assignments of_variant = settings_for(*variant, settings), of_task = meant_for(*task, settings);
        Case c;
        c.variant = variant, c.task = task;
        c.variant_params = resolve(variant->params, of_variant, variant->name);
        c.task_params = resolve(task->params, of_task, task->name);
        if (request.state_bytes > 0)
          c.task_params = widths_within(request.state_bytes, *variant, c.variant_params, *task, c.task_params, of_task,
                                        request.real);
        c.state_limit = request.state_bytes;
        c.form = &find_form(*variant, request.form, task->shape(c.task_params), c.variant_params);
        static_cast<ExecutionOptions &>(c) = request;
        if (seen.insert(c.variant_params.str() + ";" + c.task_params.str()).second)
          planner.add(std::move(c), of_variant, of_task);
      }
    }
}

} // namespace

std::vector<Case> make_joint_plan(const std::vector<RunRequest> &requests) {
  std::vector<Case> plan;
  for (const RunRequest &request : requests) add_plan(request, plan);
  return plan;
}

std::vector<Case> make_plan(const RunRequest &request) { return make_joint_plan({request}); }

std::vector<Group> groups_of(const std::vector<Case> &plan) {
  std::vector<Group> groups;
  std::map<int, size_t> place;
  for (const Case &c : plan) {
    const auto [found, fresh] = place.emplace(c.group, groups.size());
    if (fresh) groups.emplace_back();
    groups[found->second].push_back(&c);
  }
  return groups;
}

double work_of(const Variant &variant, const Shape &n, const Params &params) {
  return double(n.heads()) * n.T * (variant.cost.flops.at(n, params) + variant.cost.functions.at(n, params));
}

std::vector<double> work_of(const std::vector<Group> &groups) {
  std::vector<double> work;
  for (const Group &group : groups) {
    work.push_back(0);
    for (const Case *c : group) {
      try {
        work.back() += work_of(*c->variant, c->task->shape(c->task_params), c->variant_params);
      } catch (const std::exception &) { // running the case will report the reason
      }
    }
  }
  return work;
}

std::vector<size_t> longest_first(const std::vector<double> &work) {
  std::vector<size_t> order(work.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return work[a] > work[b]; });
  return order;
}

} // namespace recollect
