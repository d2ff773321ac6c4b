// SPDX-License-Identifier: Apache-2.0
// Comparisons of layers over the seeds that they share, for --compare and --state-bytes.
#include "harness/command_line/print.hpp"
#include "harness/command_line/table.hpp"
#include "harness/core/text.hpp"
#include "harness/numerics/statistics.hpp"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ostream>

namespace recollect {
namespace {

constexpr size_t most_all_pairs = 6; // all pairs are printed if there are at most this many layers

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

/// The layer's name, followed by the parameters in which this row differs from the layer's other rows.
std::string name_of_row(const Ensemble &e, const Swept &swept) {
  std::string name = e.variant;
  for (const auto &[parameter, value] : swept.of_variant(e)) name += " " + parameter + "=" + value;
  return name;
}

/// The task's swept parameters, such as " n=16", except those in `except`: widths that are chosen for each layer.
std::string conditions(const Ensemble &e, const Swept &swept, const std::vector<std::string> &except) {
  std::string text;
  for (const auto &[name, value] : swept.of_task(e))
    if (std::find(except.begin(), except.end(), name) == except.end()) text += " " + name + "=" + value;
  return text;
}

void print_pairs(std::ostream &out, const std::vector<ComparedPair> &pairs, const Swept &swept) {
  Rows rows{{"  pair", "difference", "95% interval", "p", "q"}};
  size_t seeds = 0;
  for (const ComparedPair &pair : pairs) {
    const PairedComparison &found = pair.found;
    rows.push_back({"  " + name_of_row(*pair.first, swept) + " - " + name_of_row(*pair.second, swept),
                    short_number(found.difference), short_number(found.low) + " to " + short_number(found.high),
                    short_number(found.p), short_number(pair.q)});
    seeds = std::max(seeds, pair.seeds);
  }
  print_table(out, rows);
  if (seeds > 0 && smallest_p(int(seeds)) > 0.05)
    out << folded("  " + std::to_string(seeds) + " shared seeds cannot show a difference: p is at least " +
                  short_number(smallest_p(int(seeds))) + "; take --seeds 8 or more")
        << '\n';
}

const char *const how =
    "p: two-sided permutation test, in which both signs of every seed's difference are equally likely; "
    "q: p adjusted for the number of pairs, so that at most 5% of those with q <= 0.05 are "
    "expected to be false";

} // namespace

void print_comparisons(std::ostream &out, const std::vector<Ensemble> &all, const std::vector<std::string> &layers,
                       const std::vector<std::string> &metrics) {
  const Swept swept(all);
  bool any = false;
  for (const EnsembleList &peers : under_same_conditions(all)) {
    EnsembleList chosen; // in the order asked for
    for (const std::string &layer : layers)
      std::copy_if(peers.begin(), peers.end(), std::back_inserter(chosen),
                   [&](const Ensemble *e) { return e->variant == layer; });
    if (chosen.size() < 2) continue;
    for (const auto &[metric, values] : chosen[0]->values) {
      if (metrics.empty() ? metric != chosen[0]->headline
                          : std::find(metrics.begin(), metrics.end(), metric) == metrics.end() && metrics[0] != "all")
        continue;
      out << folded(chosen[0]->task + conditions(*chosen[0], swept, {}) + ": " + metric +
                    ", first - second over shared seeds")
          << '\n';
      print_pairs(out, compare(pairs_of(chosen, false), metric), swept);
      any = true;
    }
  }
  out << folded(any ? how : "nothing to compare: no two of these layers have results on the same task") << '\n';
}

void print_ranking(std::ostream &out, const std::vector<Ensemble> &all, double bytes, bool every_pair) {
  const std::vector<std::string> widths{"d", "dv"};
  const Swept swept(all);
  for (const EnsembleList &peers : under_same_conditions(all, widths)) {
    const EnsembleList order = ranked(peers);
    const Ensemble &first = *order[0];
    const size_t seeds = values_of(first, first.headline).size();
    out << folded(first.task + conditions(first, swept, widths) + ": " + first.headline + " with at most " +
                  brief(bytes) + " bytes of state per head in " + first.real + ", " + std::to_string(seeds) + " seeds" +
                  (std::isnan(first.chance) ? "" : ", chance " + brief(first.chance)) +
                  (std::isnan(first.ceiling) ? "" : ", ceiling " + brief(first.ceiling)))
        << '\n';
    Rows rows{{"  rank", "layer", "d", "dv", "bytes", "mean", "s.e.", "setting"}};
    for (size_t i = 0; i < order.size(); ++i) {
      const Ensemble &e = *order[i];
      const std::vector<double> values = values_of(e, e.headline);
      const Mean mean = mean_of(values);
      const auto width = [&](const char *name) { return e.of_task.count(name) ? e.of_task.at(name) : ""; };
      rows.push_back({"  " + std::to_string(i + 1), name_of_row(e, swept), width("d"), width("dv"),
                      brief(e.state_bytes), short_number(mean.mean),
                      values.size() > 1 ? short_number(mean.standard_error) : "",
                      e.setting + (e.chosen.empty() ? "" : ": " + e.chosen)});
    }
    print_table(out, rows);
    if (order.size() < 2) continue;
    const bool all_pairs = every_pair || order.size() <= most_all_pairs;
    out << (all_pairs ? "every pair, first - second:\n" : "the best layer against every other one (-v: every pair):\n");
    print_pairs(out, compare(pairs_of(order, !all_pairs), first.headline), swept);
  }
  out << folded(how) << '\n';
}

} // namespace recollect
