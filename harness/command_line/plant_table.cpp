// SPDX-License-Identifier: Apache-2.0
#include "harness/command_line/plant_table.hpp"
#include "harness/check/plant.hpp"
#include "harness/core/text.hpp"
#include <map>
#include <ostream>

namespace recollect {
namespace {

constexpr double shows = 1.5, refused_share = 0.98, named_share = 0.85;

struct Counts {
  size_t planted = 0, refused = 0, named = 0;
  std::vector<size_t> caught = std::vector<size_t>(criteria_in_use().size(), 0);
  void add(const Planted &one) {
    planted += 1, refused += one.refused, named += one.named_right();
    for (size_t i = 0; i < caught.size(); ++i) caught[i] += one.caught[i];
  }
};

void write_row(std::ostream &csv, Precision precision, const std::string &mistake, const Counts &counts) {
  csv << name_of(precision) << ',' << mistake << ',' << counts.planted << ',' << counts.refused << ',' << counts.named;
  for (size_t caught : counts.caught) csv << ',' << caught;
  csv << '\n';
}

void tell(std::ostream &log, const Planted &one) {
  const std::string place = one.layer + (one.wide ? " (Dv > Dk)" : "");
  if (one.mistake.empty())
    log << "  refused, although right: " << place << '\n';
  else if (!one.refused)
    log << "  not refused: " << place << ", " << one.mistake << ", " << number(one.effect)
        << " times the limits: " << one.what << '\n';
  else
    log << "  not named: " << place << ", " << one.mistake << ": " << one.what
        << (one.named.empty() ? "" : "; named instead: " + join(one.named, ", ")) << '\n';
}

} // namespace

bool plant_table(const PlantOptions &options, std::ostream &csv, std::ostream &log) {
  csv << "type,mistake,planted,recollect,named";
  for (const Criterion &criterion : criteria_in_use()) csv << ',' << criterion.name;
  csv << '\n';
  bool good = true;
  for (Precision precision : options.precisions) {
    std::map<std::string, Counts> by_mistake;
    Counts right, all;
    for (const Variant *layer : options.layers) {
      Counts here;
      size_t accused = 0;
      plant(*layer, precision, options.ways, [&](const Planted &one) {
        if (one.mistake.empty()) {
          right.add(one), accused += one.refused;
          if (one.refused) tell(log, one);
          return;
        }
        if (one.effect < shows) return;
        here.add(one), all.add(one), by_mistake[one.mistake].add(one);
        if (!one.refused || !one.named_right()) tell(log, one);
      });
      log << layer->name << ' ' << name_of(precision) << ": " << here.refused << " of " << here.planted
          << " planted mistakes refused, " << here.named << " named; " << accused << " right kernels refused"
          << std::endl;
    }
    for (const auto &[mistake, counts] : by_mistake) write_row(csv, precision, mistake, counts);
    write_row(csv, precision, "all mistakes", all);
    right.named = 0;
    write_row(csv, precision, "right kernels", right);
    good = good && right.refused == 0 && double(all.refused) >= refused_share * double(all.planted) &&
           double(all.named) >= named_share * double(all.planted);
  }
  return good;
}

} // namespace recollect
