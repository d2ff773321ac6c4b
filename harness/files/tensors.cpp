// SPDX-License-Identifier: Apache-2.0
#include "harness/files/tensors.hpp"
#include "harness/core/error.hpp"
#include "harness/core/text.hpp"
#include <algorithm>

namespace recollect {
namespace {

using Names = std::vector<std::string>;

bool contains(const Names &names, const std::string &name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The name of the array to which a gradient belongs (dq -> q), which has the same dimensions. Other names are
/// unchanged.
std::string without_d(const std::string &name) { return name == "dt_bias" || name[0] != 'd' ? name : name.substr(1); }

enum class ArrayKind { steps, state, offsets, head_parameter, key_parameter, value_parameter };
ArrayKind kind_of(const std::string &name) {
  const std::string plain = without_d(name);
  if (plain == "state" || plain == "final_state") return ArrayKind::state;
  if (plain == "cu_seqlens") return ArrayKind::offsets;
  if (plain == "dt_bias") return ArrayKind::key_parameter;
  if (plain == "D") return ArrayKind::value_parameter;
  if (plain == "A_log" || plain == "A" || plain == "gamma") return ArrayKind::head_parameter;
  return ArrayKind::steps;
}

/// The width per step of an array that has entries for every step, from the array's name. With one number per step, the
/// array has no dimension for the width.
TensorFacts::Width width_of_steps(const std::string &name) {
  const std::string plain = without_d(name);
  if (plain == "o" || plain == "z") return TensorFacts::value;
  return facts_of(tensor_named(plain)).width;
}

/// The number of dimensions that an array has in a file (0: one or two), and these dimensions in words.
struct Expected {
  size_t rank;
  std::string text;
};
Expected expected_of(const std::string &name, const Convention &c) {
  switch (kind_of(name)) {
  case ArrayKind::state:
    return {4, c.state_kv ? "[B,H,columns,rows]" : "[B,H,rows,columns]"};
  case ArrayKind::offsets:
    return {1, "[N+1]"};
  case ArrayKind::head_parameter:
    return {1, "[H]"};
  case ArrayKind::key_parameter:
    return {0, "[H] or [H,Dk]"};
  case ArrayKind::value_parameter:
    return {0, "[H] or [H,Dv]"};
  case ArrayKind::steps:
    break;
  }
  const auto width = width_of_steps(name);
  const std::string steps = c.layout == Layout::bhtd   ? "[B,H,T"
                            : c.layout == Layout::bthd ? "[B,T,H"
                                                       : "[T,H",
                    last = width == TensorFacts::step  ? "]"
                           : width == TensorFacts::key ? ",Dk]"
                                                       : ",Dv]";
  return {size_t(c.layout == Layout::thd ? 2 : 3) + (width == TensorFacts::step ? 0 : 1), steps + last};
}

/// The array with dimensions `axis` and `axis + 1` exchanged.
UsersArray exchanged(const UsersArray &array, size_t axis) {
  size_t before = 1, after = 1;
  for (size_t i = 0; i < axis; ++i) before *= size_t(array.dims[i]);
  for (size_t i = axis + 2; i < array.dims.size(); ++i) after *= size_t(array.dims[i]);
  const size_t X = size_t(array.dims[axis]), Y = size_t(array.dims[axis + 1]);
  UsersArray out{array.dims, std::vector<double>(array.data.size()), array.name};
  std::swap(out.dims[axis], out.dims[axis + 1]);
  if (array.data.empty()) return out; // an array of shapes_of() has no data
  for (size_t a = 0; a < before; ++a)
    for (size_t x = 0; x < X; ++x)
      for (size_t y = 0; y < Y; ++y)
        std::copy_n(&array.data[((a * X + x) * Y + y) * after], after, &out.data[((a * Y + y) * X + x) * after]);
  return out;
}

void check_rank(const std::string &name, const UsersArray &array, const Convention &c) {
  const Expected expected = expected_of(name, c);
  if (expected.rank ? array.dims.size() != expected.rank : array.dims.empty() || array.dims.size() > 2)
    input_error("dataset " + array.name + " has shape " + text_of(array.dims) + ", needs " + expected.text);
}

void to_layer_order(const std::string &name, UsersArray &array, const Convention &c) {
  check_rank(name, array, c);
  if (kind_of(name) == ArrayKind::state && c.state_kv) array = exchanged(array, 2);
  if (kind_of(name) != ArrayKind::steps || c.layout == Layout::bhtd) return;
  if (c.layout == Layout::thd) array.dims.insert(array.dims.begin(), 1);
  array = exchanged(array, 1);
}

void to_file_order(const std::string &name, UsersArray &array, const Convention &c) {
  if (kind_of(name) == ArrayKind::state && c.state_kv) array = exchanged(array, 2);
  if (kind_of(name) != ArrayKind::steps || c.layout == Layout::bhtd) return;
  array = exchanged(array, 1);
  if (c.layout == Layout::thd) array.dims.erase(array.dims.begin());
}

/// fla calls both decays g, so `found` may have g as alpha and as lambda. If g has one number per step, it is alpha,
/// otherwise lambda. Removes the wrong entry.
void drop_other_decay(UsersArrays &found, const Convention &c) {
  const auto alpha = found.find("alpha"), lambda = found.find("lambda");
  if (alpha == found.end() || lambda == found.end() || alpha->second.name != lambda->second.name) return;
  const bool by_step = alpha->second.dims.size() == expected_of("alpha", c).rank;
  found.erase(by_step ? lambda : alpha);
}

} // namespace

std::string text_of(const Dims &dims) {
  Names parts;
  for (std::uint64_t n : dims) parts.push_back(std::to_string(n));
  return "[" + join(parts, ",") + "]";
}

Names input_names(const Variant &variant, const Convention &c) {
  Names names{"q", "k", "v"};
  bool decays = false;
  for (const Input &input : variant.inputs) {
    if (input.name == "beta" && c.gate == Gate::mamba) continue; // mamba's dt is also the write strength
    names.push_back(input.name);
    decays = decays || facts_of(input.tensor()).decay;
    if (input.name == "alpha") names.push_back("gamma");
  }
  if (decays && (c.gate == Gate::gdn || c.gate == Gate::kda || c.gate == Gate::kda_lb))
    names.insert(names.end(), {"A_log", "dt_bias"});
  if (decays && c.gate == Gate::mamba) names.insert(names.end(), {"A", "dt_bias", "D", "z"});
  names.insert(names.end(), {"state", "cu_seqlens", "do", "dfinal_state"});
  return names;
}

Names result_names(const UsersArrays &inputs) {
  Names names{"o", "final_state"};
  for (Tensor tensor : all_tensors)
    if (inputs.count(name_of(tensor))) names.push_back(std::string("d") + name_of(tensor));
  for (const char *other : {"A_log", "A", "dt_bias", "gamma", "D", "z"})
    if (inputs.count(other)) names.push_back(std::string("d") + other);
  names.push_back("dstate");
  return names;
}

Names all_names_in_files(const Names &names, const Convention &convention) {
  Names all;
  for (const std::string &array : names)
    for (const std::string &name : names_in_files(array, convention))
      if (!contains(all, name)) all.push_back(name);
  return all;
}

UsersArrays read_users(const std::string &path, const Names &names, const Convention &convention) {
  std::vector<Wanted> wanted;
  for (const std::string &array : names)
    for (const std::string &name : names_in_files(array, convention)) {
      const bool known = std::any_of(wanted.begin(), wanted.end(), [&](const Wanted &w) { return w.name == name; });
      if (!known)
        wanted.push_back({name, 0, expected_of(array, convention).text, kind_of(array) == ArrayKind::offsets});
    }
  Arrays arrays = read_arrays(path, wanted);
  UsersArrays users;
  for (const std::string &array : names) {
    Names found;
    for (const std::string &name : names_in_files(array, convention))
      if (arrays.count(name)) found.push_back(name);
    if (found.size() > 1) input_error(path + ": " + join(found, " and ") + " are two names of one array; keep one");
    if (found.empty()) continue;
    const NumericArray &one = arrays.at(found[0]);
    users[array] = {one.dims, {}, found[0], one.type};
  }
  drop_other_decay(users, convention);
  for (auto &[name, array] : users) array.data = std::move(arrays.at(array.name).data), arrays.erase(array.name);
  return users;
}

void write_users(const std::string &path, UsersArrays arrays, const Convention &convention, Real real,
                 const Facts &meta) {
  static const Names stored{"q", "k", "v", "w", "o", "do", "dq", "dk", "dv", "dw"};
  Arrays out;
  for (auto &[name, array] : arrays)
    out[names_in_files(name, convention)[0]] = {array.dims, std::move(array.data),
                                                contains(stored, name) ? "" : name_of(wide_of(real))};
  write_arrays(path, out, real, meta);
}

UsersArrays in_layer_order(UsersArrays arrays, const Convention &convention) {
  for (auto &[name, array] : arrays) to_layer_order(name, array, convention);
  return arrays;
}
UsersArrays shapes_of(const UsersArrays &arrays) {
  UsersArrays shapes;
  for (const auto &[name, array] : arrays) shapes[name] = {array.dims, {}, array.name, array.type};
  return shapes;
}
const UsersArrays &seen_in_layer_order(const UsersArrays &arrays, const Convention &c, UsersArrays &converted) {
  if (c.layout != Layout::bhtd || c.state_kv) return converted = in_layer_order(arrays, c);
  for (const auto &[name, array] : arrays) check_rank(name, array, c);
  return arrays;
}
UsersArrays in_file_order(UsersArrays arrays, const Convention &convention) {
  for (auto &[name, array] : arrays) to_file_order(name, array, convention);
  return arrays;
}

Dims dims_in_file(const std::string &name, const Dims &dims, const Convention &c) {
  Dims out = dims;
  if (kind_of(name) == ArrayKind::state && c.state_kv) std::swap(out.at(2), out.at(3));
  if (kind_of(name) == ArrayKind::steps && c.layout != Layout::bhtd) std::swap(out.at(1), out.at(2));
  if (kind_of(name) == ArrayKind::steps && c.layout == Layout::thd) out.erase(out.begin());
  return out;
}

const UsersArray *find(const UsersArrays &arrays, const std::string &name) {
  const auto found = arrays.find(name);
  return found == arrays.end() ? nullptr : &found->second;
}
std::string spoken(const UsersArrays &arrays, const std::string &name) {
  const UsersArray *array = find(arrays, name);
  return "dataset " + (array && !array->name.empty() ? array->name : name);
}
Dims dims_of(std::initializer_list<int> sizes) { return Dims(sizes.begin(), sizes.end()); }
Dims over_steps(Tensor tensor, int heads, const Shape &n) {
  Dims dims = dims_of({n.B, heads, n.T});
  if (facts_of(tensor).width != TensorFacts::step) dims.push_back(std::uint64_t(width_of(tensor, n)));
  return dims;
}
int checked_heads(const UsersArrays &arrays, const std::string &name, int H) {
  const int heads = int(arrays.at(name).dims.at(kind_of(name) == ArrayKind::steps ? 1 : 0));
  if (H % heads != 0)
    input_error(spoken(arrays, name) + " has " + std::to_string(heads) + " heads, which do not divide the " +
                std::to_string(H) + " heads of the others");
  return heads;
}
void check_dims(const UsersArrays &arrays, const std::string &name, const Dims &needed, const std::string &why,
                const Convention &c) {
  if (arrays.at(name).dims != needed)
    input_error(spoken(arrays, name) + " has shape " + text_of(dims_in_file(name, arrays.at(name).dims, c)) +
                ", needs " + text_of(dims_in_file(name, needed, c)) + " " + why);
}

void refuse_unknown(const std::string &path, const Names &known, const std::string &who) {
  static const std::map<std::string, std::string> usual{{"initial_state", "state"},
                                                        {"final_state", "state"},
                                                        {"h0", "state"},
                                                        {"ht", "state"},
                                                        {"g", "alpha"},
                                                        {"out", "o"},
                                                        {"output", "o"},
                                                        {"b", "beta"},
                                                        {"query", "q"},
                                                        {"key", "k"},
                                                        {"value", "v"}};
  for (const std::string &name : array_names(path)) {
    if (contains(known, name)) continue;
    const auto meant = usual.find(name);
    const bool other_name = meant != usual.end() && contains(known, meant->second);
    const std::string near = other_name ? ", did you mean '" + meant->second + "'?" : suggestion(name, known);
    const bool one = near.rfind(", did you mean", 0) == 0; // otherwise `near` is a list of names
    input_error(path + ": dataset " + printable(name) + " is not " + who + (one ? near : "") + "; known are " +
                join(known, ", "));
  }
}

} // namespace recollect
