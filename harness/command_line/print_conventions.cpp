// SPDX-License-Identifier: Apache-2.0
#include "harness/command_line/print_conventions.hpp"
#include "harness/command_line/table.hpp"
#include "harness/core/error.hpp"
#include "harness/core/text.hpp"
#include "harness/core/variant.hpp"
#include "harness/files/convention.hpp"
#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

namespace recollect {
namespace {

using json = nlohmann::ordered_json;
using Names = std::vector<std::string>;

Convention convention_named(const std::string &name) { return name == "layer" ? Convention() : preset(name); }

const Names &selected(const Names &names) {
  for (const std::string &name : names)
    if (std::find(convention_names().begin(), convention_names().end(), name) == convention_names().end())
      usage_error("unknown convention '" + name + "'" + suggestion(name, convention_names()));
  return names.empty() ? convention_names() : names;
}

/// Every array that a case or its results may contain, by the name that it has in the layer.
Names all_arrays() {
  Names arrays;
  for (Tensor tensor : all_tensors) arrays.push_back(name_of(tensor));
  for (const char *parameter : {"A_log", "A", "dt_bias", "gamma", "D", "z", "state"}) arrays.push_back(parameter);
  const Names inputs = arrays;
  for (const std::string &input : inputs) arrays.push_back("d" + input);
  for (const char *other : {"o", "final_state", "do", "dfinal_state", "cu_seqlens"}) arrays.push_back(other);
  return arrays;
}

/// The names of an array in files: first those in this convention, then those that it has with other gates and write
/// strengths.
Names names_of(const std::string &array, Convention c) {
  Names all = names_in_files(array, c);
  for (size_t gate = 0; gate < gate_names().size(); ++gate)
    for (size_t strength = 0; strength < strength_names().size(); ++strength) {
      c.gate = Gate(gate), c.strength = Strength(strength);
      for (const std::string &name : names_in_files(array, c))
        if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
    }
  return all;
}

} // namespace

const Names &convention_names() {
  static const Names names = [] {
    Names all{"layer"};
    all.insert(all.end(), preset_names().begin(), preset_names().end());
    return all;
  }();
  return names;
}

void print_conventions(std::ostream &out, const Names &names) {
  Rows rows{{"convention", "layout", "state", "gate", "beta", "scale", "l2norm", "kept in float32"}};
  for (const std::string &name : selected(names)) {
    const Convention c = convention_named(name);
    rows.push_back({name, name_of(c.layout), c.state_kv ? "kv" : "vk", name_of(c.gate), name_of(c.strength),
                    text_of(c.scale), c.l2norm ? number(*c.l2norm) : "none", join(wide_arrays(c), " ")});
  }
  print_table(out, rows);
  for (const std::string &name : names) {
    const Convention c = convention_named(name);
    for (const std::string &array : all_arrays())
      if (const Names own = names_in_files(array, c); own.size() > 1 || own[0] != array)
        out << folded(array + ": " + join(own, ", ")) << '\n';
  }
}

void print_conventions_json(std::ostream &out, const Names &names) {
  json all = json::array();
  for (const std::string &name : selected(names)) {
    const Convention c = convention_named(name);
    json arrays = json::object();
    for (const std::string &array : all_arrays()) arrays[array] = names_of(array, c);
    all.push_back({{"name", name},
                   {"layout", name_of(c.layout)},
                   {"state", c.state_kv ? "kv" : "vk"},
                   {"gate", name_of(c.gate)},
                   {"beta", name_of(c.strength)},
                   {"scale", text_of(c.scale)},
                   {"l2norm", c.l2norm ? json(*c.l2norm) : json(nullptr)},
                   {"float32", wide_arrays(c)},
                   {"arrays", arrays}});
  }
  out << all.dump(2) << '\n';
}

} // namespace recollect
