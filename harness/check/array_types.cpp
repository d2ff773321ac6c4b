// SPDX-License-Identifier: Apache-2.0
#include "harness/check/array_types.hpp"
#include "harness/call/layer_inputs.hpp"
#include "harness/core/error.hpp"
#include "harness/core/text.hpp"
#include "harness/core/variant.hpp"
#include <algorithm>

namespace recollect {
namespace {

/// The name of an array in `stated_`. An array and its gradient share a name; so do the initial state, the final state
/// and their gradients.
std::string plain(const std::string &array) {
  std::string name = array == "dt_bias" || array[0] != 'd' ? array : array.substr(1);
  if (name == "final_state") name = "state";
  return name == "initial_state" ? "state" : name;
}

bool is_factor(const std::string &name) {
  return name == "alpha" || name == "lambda" || name == "beta" || is_parameter(name);
}

// Precision lists the types from the finest spacing to the coarsest.
Precision coarser(Precision a, Precision b) { return std::max(a, b); }
Precision finer(Precision a, Precision b) { return std::min(a, b); }

} // namespace

ArrayTypes::ArrayTypes(const Convention &convention, StatedTypes stated)
    : stated_(std::move(stated)), wide_(wide_arrays(convention)) {}

void ArrayTypes::add_those_in_files(const StatedTypes &in_files) {
  for (const auto &[array, type] : in_files)
    if (!stated(array)) stated_.emplace(plain(array), type);
}

const Precision *ArrayTypes::stated(const std::string &array) const {
  for (const std::string &name : {array, plain(array)})
    if (const auto found = stated_.find(name); found != stated_.end()) return &found->second;
  return nullptr;
}

bool ArrayTypes::wide(const std::string &array) const {
  const std::string name = plain(array);
  return is_parameter(name) || std::find(wide_.begin(), wide_.end(), name) != wide_.end();
}

Precision ArrayTypes::stored(const std::string &array, Precision computed) const {
  if (array == "cu_seqlens") return Precision::f64;
  if (const Precision *own = stated(array)) return *own;
  return wide(array) && computed != Precision::f64 ? Precision::f32 : storage_of(computed);
}

Precision ArrayTypes::used(const std::string &array, Precision computed) const {
  const std::string name = plain(array);
  const bool known = stated(array) || wide(array);
  if (is_factor(name)) return known ? finer(computed, stored(array, computed)) : computed;
  return known && name == "state" ? coarser(computed, stored(array, computed)) : computed;
}

Precision ArrayTypes::written(const std::string &result, Precision computed) const {
  return stated(result) || wide(result) ? stored(result, computed) : computed;
}

StatedTypes parse_types(const std::string &text, const Convention &convention) {
  std::vector<std::string> arrays, known;
  for (Tensor tensor : all_tensors) arrays.push_back(name_of(tensor));
  arrays.insert(arrays.end(),
                {"state", "final_state", "o", "do", "dstate", "A_log", "A", "dt_bias", "gamma", "D", "z"});
  StatedTypes types;
  for (const std::string &one : text.empty() ? std::vector<std::string>{} : split(text, ',')) {
    const size_t sign = one.find('=');
    if (sign == std::string::npos) usage_error("--dtype-of is array=type, such as state=f32, got '" + one + "'");
    const std::string name = one.substr(0, sign);
    const Precision type = parse_precision(one.substr(sign + 1));
    bool found = false;
    for (const std::string &array : arrays) {
      const std::vector<std::string> names = names_in_files(array, convention);
      known.insert(known.end(), names.begin(), names.end());
      if (std::find(names.begin(), names.end(), name) == names.end()) continue;
      types[plain(array)] = type, found = true; // one name may stand for two arrays: fla's g is alpha or lambda
    }
    if (!found) usage_error("--dtype-of names '" + name + "', but no array has this name" + suggestion(name, known));
  }
  return types;
}

} // namespace recollect
