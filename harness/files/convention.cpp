// SPDX-License-Identifier: Apache-2.0
#include "harness/files/convention.hpp"
#include "harness/core/error.hpp"
#include "harness/core/text.hpp"
#include <algorithm>
#include <cmath>
#include <map>

namespace recollect {
namespace {

using Names = std::vector<std::string>;

/// The enumerator whose value is the index of `name` in `names`.
template <class Enum> Enum parsed(const std::string &name, const Names &names, const char *flag) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    usage_error(std::string(flag) + " is one of " + join(names, ", ") + ", got '" + name + "'" +
                suggestion(name, names));
  return Enum(found - names.begin());
}

using NameTable = std::map<std::string, Names>;

const NameTable &table_of(const std::string &preset) {
  static const NameTable fla{{"alpha", {"g"}},
                             {"lambda", {"g"}},
                             {"gamma", {"g_gamma"}},
                             {"state", {"initial_state", "h0"}},
                             {"final_state", {"final_state", "ht"}},
                             {"dfinal_state", {"dht", "dfinal_state"}},
                             {"dstate", {"dh0", "dinitial_state"}},
                             {"dalpha", {"dg"}},
                             {"dlambda", {"dg"}},
                             {"dgamma", {"dg_gamma"}}};
  static const NameTable mamba{{"q", {"C"}},
                               {"k", {"B"}},
                               {"v", {"x"}},
                               {"o", {"out"}},
                               {"do", {"dout"}},
                               {"dq", {"dC"}},
                               {"dk", {"dB"}},
                               {"dv", {"dx"}},
                               {"state", {"initial_states"}},
                               {"final_state", {"final_states"}},
                               {"dfinal_state", {"dfinal_states"}},
                               {"dstate", {"dinitial_states"}}};
  static const NameTable none;
  return preset == "mamba" ? mamba : preset.empty() ? none : fla;
}

/// The name of a raw gate or raw write strength (an argument of softplus or a sigmoid) in files without a preset: a, b
/// or, for mamba's gate, dt. "" for other arrays.
std::string raw_name(const std::string &array, const Convention &c) {
  const bool raw = c.gate == Gate::gdn || c.gate == Gate::kda || c.gate == Gate::kda_lb;
  const bool sigmoid = c.strength == Strength::sigmoid || c.strength == Strength::sigmoid_double;
  for (const char *decay : {"alpha", "lambda"}) {
    if (array == decay) return c.gate == Gate::mamba ? "dt" : raw ? "a" : "";
    if (array == std::string("d") + decay) return c.gate == Gate::mamba ? "ddt" : raw ? "da" : "";
  }
  if (array == "beta" && sigmoid) return "b";
  if (array == "dbeta" && sigmoid) return "db";
  return "";
}

std::string own_name(const std::string &array) {
  return array == "final_state" ? "state" : array == "dfinal_state" ? "dstate" : array;
}

} // namespace

double Scale::of(int Dk) const { return kind == rsqrt ? 1 / std::sqrt(double(Dk)) : kind == number ? value : 1; }

const Names &preset_names() {
  static const Names names{"fla", "mamba", "vllm", "flashinfer"};
  return names;
}
const Names &layout_names() {
  static const Names names{"bhtd", "bthd", "thd"};
  return names;
}
const Names &gate_names() {
  static const Names names{"factor", "log", "log2", "gdn", "kda", "kda-lb", "rwkv", "mamba"};
  return names;
}
const Names &strength_names() {
  static const Names names{"factor", "sigmoid", "double", "sigmoid-double"};
  return names;
}

Convention preset(const std::string &name) {
  parsed<int>(name, preset_names(), "--convention");
  Convention c;
  c.names = name;
  c.layout = name == "flashinfer" ? Layout::thd : Layout::bthd;
  c.state_kv = name == "fla";
  c.gate = name == "flashinfer" ? Gate::factor : name == "mamba" ? Gate::mamba : Gate::log;
  if (name != "mamba") c.scale.kind = Scale::rsqrt;
  if (name == "vllm") c.l2norm = 1e-6;
  return c;
}

Layout parse_layout(const std::string &name) { return parsed<Layout>(name, layout_names(), "--layout"); }
Gate parse_gate(const std::string &name) { return parsed<Gate>(name, gate_names(), "--gate"); }
Strength parse_strength(const std::string &name) { return parsed<Strength>(name, strength_names(), "--beta"); }
Scale parse_scale(const std::string &text) {
  if (text == "rsqrt") return {Scale::rsqrt, 1};
  const double value = parse_number(text, "--scale");
  if (!std::isfinite(value)) usage_error("--scale is a number or rsqrt, got '" + text + "'");
  return {Scale::number, value};
}

const char *name_of(Layout layout) { return layout_names()[size_t(layout)].c_str(); }
const char *name_of(Gate gate) { return gate_names()[size_t(gate)].c_str(); }
const char *name_of(Strength strength) { return strength_names()[size_t(strength)].c_str(); }
std::string text_of(const Scale &scale) { return scale.kind == Scale::rsqrt ? "rsqrt" : number(scale.value); }

Names names_in_files(const std::string &array, const Convention &convention) {
  Names all;
  const auto add = [&](const std::string &name) {
    if (!name.empty() && std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
  };
  const NameTable &table = table_of(convention.names);
  if (const auto known = table.find(array); known != table.end())
    for (const std::string &name : known->second) add(name);
  add(raw_name(array, convention));
  add(own_name(array));
  return all;
}

Names wide_arrays(const Convention &convention) {
  if (convention.names.empty()) return {};
  if (convention.names == "mamba") return {"state"};
  Names wide{"alpha", "lambda", "state"};
  if (convention.names == "flashinfer") wide.push_back("beta");
  return wide;
}

} // namespace recollect
