// SPDX-License-Identifier: Apache-2.0
#include "harness/run/compare.hpp"
#include "harness/numerics/false_discovery.hpp"
#include "harness/numerics/statistics.hpp"
#include <algorithm>
#include <cmath>

namespace recollect {
namespace {

double mean_of_headline(const Ensemble &e) {
  const std::vector<double> values = values_of(e, e.headline);
  return values.empty() ? std::nan("") : mean_of(values).mean;
}

} // namespace

std::vector<EnsembleList> under_same_conditions(const std::vector<Ensemble> &all,
                                                const std::vector<std::string> &except) {
  std::map<std::tuple<std::string, std::string, std::map<std::string, std::string>>, size_t> places;
  std::vector<EnsembleList> groups;
  for (const Ensemble &e : all) {
    std::map<std::string, std::string> conditions = e.of_task;
    for (const std::string &name : except) conditions.erase(name);
    const auto [place, fresh] = places.emplace(std::make_tuple(e.experiment, e.task, conditions), groups.size());
    if (fresh) groups.emplace_back();
    groups[place->second].push_back(&e);
  }
  return groups;
}

EnsembleList ranked(EnsembleList layers) {
  const auto merit = [](const Ensemble *e) {
    const double mean = mean_of_headline(*e);
    return !std::isfinite(mean) ? -HUGE_VAL : e->larger_is_better ? mean : -mean;
  };
  std::stable_sort(layers.begin(), layers.end(),
                   [&](const Ensemble *a, const Ensemble *b) { return merit(a) > merit(b); });
  return layers;
}

std::vector<ComparedPair> compare(const std::vector<std::pair<const Ensemble *, const Ensemble *>> &pairs,
                                  const std::string &metric) {
  std::vector<ComparedPair> all;
  std::vector<double> p;
  for (const auto &[first, second] : pairs) {
    const SharedSeeds shared = shared_seeds(*first, *second, metric);
    ComparedPair one{first, second, shared.first.size(), {NAN, NAN, NAN, NAN}, NAN};
    if (one.seeds > 0) one.found = compare_pairs(shared.first, shared.second);
    if (std::isfinite(one.found.p)) p.push_back(one.found.p);
    all.push_back(one);
  }
  const std::vector<double> adjusted = adjusted_for_discoveries(p);
  size_t next = 0;
  for (ComparedPair &one : all)
    if (std::isfinite(one.found.p)) one.q = adjusted[next++];
  return all;
}

std::vector<std::pair<const Ensemble *, const Ensemble *>> pairs_of(const EnsembleList &layers, bool of_best) {
  std::vector<std::pair<const Ensemble *, const Ensemble *>> pairs;
  for (size_t i = 0; i < layers.size() && (i == 0 || !of_best); ++i)
    for (size_t j = i + 1; j < layers.size(); ++j) pairs.emplace_back(layers[i], layers[j]);
  return pairs;
}

} // namespace recollect
