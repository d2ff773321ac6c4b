// SPDX-License-Identifier: Apache-2.0
#include "harness/check/users_case.hpp"
#include "harness/call/packed.hpp"
#include "harness/core/error.hpp"
#include "harness/core/in_pieces.hpp"
#include "harness/core/text.hpp"
#include "harness/files/neighbours.hpp"
#include <algorithm>
#include <cmath>

namespace recollect {
namespace {

/// Runs `work`; messages of its errors begin with the name of the file.
template <class Work> auto about(const std::string &path, const Work &work) {
  try {
    return work();
  } catch (const Error &failure) {
    throw Error(failure.code, path + ": " + failure.what());
  }
}

/// Runs `check`, whose error messages begin with the layer's name of an array. In these messages, replaces the name by
/// the user's and the layer's: "alpha holds ..." becomes "g (alpha) holds ...".
template <class Check> void in_users_names(const Convention &convention, const Check &check) {
  try {
    check();
  } catch (const Error &failure) {
    const std::string said = failure.what(), array = said.substr(0, said.find(' ')),
                      own = names_in_files(array, convention)[0];
    throw Error(failure.code, own == array ? said : own + " (" + array + ")" + said.substr(array.size()));
  }
}

LayerInputs inputs_in(const UsersCase &problem, const Convention &convention) {
  UsersArrays converted;
  LayerInputs inputs = to_layer(seen_in_layer_order(problem.in_file, convention, converted), problem.variant,
                                problem.params, convention, problem.gradient);
  for (size_t text = 0; text < inputs.texts.size(); ++text) {
    if (inputs.texts[text].empty()) continue;
    Sequence cut;
    const Sequence &one = sequence_in(inputs, text, cut);
    in_users_names(convention, [&] {
      check_inputs(problem.variant, one, inputs.params);
      OutputWeights own;
      if (problem.gradient) check_weights(problem.variant, one, inputs.params, weights_in(inputs, text, own));
    });
  }
  return inputs;
}

/// Finds the first switch of the convention with which `work` succeeds, as a text such as "; the arrays fit with
/// --layout bthd". "" if there is none.
std::string switch_that_fits(const Convention &convention, const std::function<void(const Convention &)> &work) {
  for (const Neighbour &other : neighbours(convention)) {
    try {
      work(other.convention);
    } catch (const Error &) {
      continue;
    }
    return "; the arrays fit with " + other.said;
  }
  return "";
}

/// Runs `work` in the convention of the case. If `work` fails, the error names the switch with which `work` succeeds.
void in_convention_of(const UsersCase &problem, const std::function<void(const Convention &)> &work) {
  try {
    work(problem.convention);
  } catch (const Error &failure) {
    throw Error(failure.code, failure.what() + switch_that_fits(problem.convention, work));
  }
}

/// Conventions that differ from `own` in the preset, the gate or the write strengths, each with its flag on the command
/// line.
std::vector<std::pair<std::string, Convention>> with_other_names(const Convention &own) {
  std::vector<std::pair<std::string, Convention>> all;
  for (const std::string &name : preset_names()) all.emplace_back("--convention " + name, preset(name));
  for (const std::string &name : gate_names()) {
    all.emplace_back("--gate " + name, own);
    all.back().second.gate = parse_gate(name);
  }
  for (const std::string &name : strength_names()) {
    all.emplace_back("--beta " + name, own);
    all.back().second.strength = parse_strength(name);
  }
  return all;
}

/// Input error for an array of the file that is not one of arrays(own). The message names the flags with which all
/// arrays of the file would be known.
void refuse_unknown_arrays(const std::string &path, const Convention &own, const std::string &who,
                           const std::function<std::vector<std::string>(const Convention &)> &arrays) {
  try {
    refuse_unknown(path, all_names_in_files(arrays(own), own), who);
  } catch (const Error &failure) {
    std::vector<std::string> flags;
    for (const auto &[flag, other] : with_other_names(own)) {
      const std::vector<std::string> known = all_names_in_files(arrays(other), other), in_file = array_names(path);
      const auto is_known = [&](const std::string &name) {
        return std::find(known.begin(), known.end(), name) != known.end();
      };
      if (std::all_of(in_file.begin(), in_file.end(), is_known)) flags.push_back(flag);
    }
    throw Error(failure.code, failure.what() + (flags.empty() ? "" : "; the names fit with " + join(flags, " or ")));
  }
}

} // namespace

LayerInputs layer_inputs(const UsersCase &problem) { return inputs_in(problem, problem.convention); }

UsersCase read_case(const std::string &path, const Variant &variant, const Params &params, const Convention &convention,
                    bool gradient, const StatedTypes &stated, LayerInputs *inputs) {
  refuse_unknown_arrays(path, convention, "an input of " + variant.name,
                        [&](const Convention &c) { return input_names(variant, c); });
  return read_inputs(path, variant, params, convention, gradient, stated, inputs);
}

namespace {

/// Types of the arrays of a file; empty if none has 16 bits (ArrayTypes::add_those_in_files()).
StatedTypes types_in(const UsersArrays &in_file) {
  StatedTypes types;
  for (const auto &[name, array] : in_file)
    if (name != "cu_seqlens" && !array.type.empty()) types[name] = parse_precision(array.type);
  const bool narrow = std::any_of(types.begin(), types.end(), [](const auto &one) {
    return one.second == Precision::f16 || one.second == Precision::bf16;
  });
  return narrow ? types : StatedTypes{};
}

} // namespace

UsersCase read_inputs(const std::string &path, const Variant &variant, const Params &params,
                      const Convention &convention, bool gradient, const StatedTypes &stated, LayerInputs *inputs) {
  UsersCase problem{variant,    params,
                    convention, read_users(path, input_names(variant, convention), convention),
                    gradient,   ArrayTypes(convention, stated)};
  problem.types.add_those_in_files(types_in(problem.in_file));
  LayerInputs found;
  about(path, [&] { in_convention_of(problem, [&](const Convention &c) { found = inputs_in(problem, c); }); });
  if (inputs) *inputs = std::move(found);
  return problem;
}

void write_case(const std::string &path, UsersCase problem, Precision precision, const Facts &meta) {
  write_users(path, std::move(problem.in_file), problem.convention, precision == Precision::f64 ? Real::f64 : Real::f32,
              meta);
}

namespace {

/// Concatenates the entries of a batch as packed texts, for a layout without a batch dimension.
CheckCase packed(const CheckCase &problem, std::vector<int> &cu_seqlens) {
  const Shape &n = problem.given.shape;
  const auto joined = [&](const std::vector<double> &data) { // [B,H,T,width] -> [1,H,B T,width]
    std::vector<double> all(data.size());
    const size_t size = data.size() / n.heads();
    for (size_t b = 0; b < size_t(n.B); ++b)
      for (size_t h = 0; h < size_t(n.H); ++h)
        std::copy_n(data.begin() + std::ptrdiff_t((b * size_t(n.H) + h) * size), size,
                    all.begin() + std::ptrdiff_t((h * size_t(n.B) + b) * size));
    return all;
  };
  CheckCase one = problem;
  one.given.shape.B = 1, one.given.shape.T = n.B * n.T;
  for (Tensor tensor : all_tensors) one.given[tensor] = joined(problem.given[tensor]);
  one.weights.o = joined(problem.weights.o);
  for (int text = 0; text <= n.B; ++text) cu_seqlens.push_back(text * n.T);
  return one;
}

} // namespace

UsersCase users_case(const CheckCase &problem, const Convention &convention, const Sharing &sharing,
                     Precision precision, std::uint64_t seed, const StatedTypes &stated) {
  if (convention.layout == Layout::thd && problem.given.shape.B > 1) {
    Sharing texts = sharing;
    const CheckCase one = packed(problem, texts.cu_seqlens);
    return users_case(one, convention, texts, precision, seed, stated);
  }
  UsersArrays arrays =
      in_convention(problem.given, problem.weights, problem.variant.state_shape(problem.given.shape, problem.params),
                    convention, sharing, seed);
  const ArrayTypes types(convention, stated);
  for (auto &[name, array] : arrays) {
    const Precision type = types.stored(name, precision); // outside the loop: a lookup takes longer than rounding
    for (double &x : array.data) x = rounded(x, type);
  }
  return {problem.variant,          problem.params, convention, in_file_order(std::move(arrays), convention),
          problem.wants_gradient(), types};
}

CheckCase case_of(const UsersCase &problem, const LayerInputs &inputs, size_t text) {
  return {problem.variant,
          inputs.params,
          sequence_of(inputs, text),
          weights_of(inputs, text),
          problem.convention.log_gates(),
          problem.types};
}

Candidate read_candidate(const std::string &path, const UsersCase &problem, const LayerInputs &inputs) {
  const std::vector<std::string> names = result_names(problem.in_file);
  refuse_unknown_arrays(path, problem.convention, "what " + problem.variant.name + " computes",
                        [&](const Convention &) { return names; });
  Candidate candidate{read_users(path, names, problem.convention), {}};
  about(path, [&] {
    in_convention_of(problem, [&](const Convention &c) {
      LayerInputs others;
      check_results(in_layer_order(shapes_of(candidate.in_file), c), in_layer_order(shapes_of(problem.in_file), c),
                    &c == &problem.convention ? inputs : others = inputs_in(problem, c), problem.variant, c);
    });
  });
  if (!problem.gradient)
    for (const std::string &name : names)
      if (const auto found = candidate.in_file.find(name);
          name != "o" && name != "final_state" && found != candidate.in_file.end()) {
        candidate.ignored.push_back(found->second.name);
        candidate.in_file.erase(found);
      }
  return candidate;
}

std::vector<TypedArray> typed_inputs(const UsersCase &problem, Precision precision) {
  std::vector<TypedArray> all;
  for (const std::string &name : input_names(problem.variant, problem.convention)) {
    const auto found = problem.in_file.find(name);
    if (found == problem.in_file.end() || (!problem.gradient && (name == "do" || name == "dfinal_state"))) continue;
    const UsersArray &array = found->second;
    all.push_back({array.name.empty() ? name : array.name, problem.types.stored(name, precision), &array});
  }
  return all;
}

std::vector<TypedArray> inexact_inputs(const UsersCase &problem, Precision precision) {
  std::vector<TypedArray> all = typed_inputs(problem, precision);
  const auto exact = [](const TypedArray &one) {
    const std::vector<double> &data = one.array->data;
    const auto moves = [&](size_t i) { return rounded(data[i], one.type) != data[i]; };
    return first_in_pieces(data.size(), moves, cost_of_copies) == data.size();
  };
  all.erase(std::remove_if(all.begin(), all.end(), exact), all.end());
  return all;
}

std::vector<PartList> parts_by_text(const UsersArrays &results, const LayerInputs &inputs, const Variant &variant) {
  const Shape &n = inputs.all.shape;
  const size_t texts = inputs.texts.size();
  std::vector<PartList> all(texts + (inputs.packed ? 1 : 0));
  const auto add_steps = [&](const std::string &name) {
    const auto found = results.find(name);
    if (found == results.end()) return;
    const UsersArray &array = found->second;
    const size_t heads = size_t(array.dims[0] * array.dims[1]), T = size_t(n.T),
                 columns = array.dims.size() > 3 ? size_t(array.dims[3]) : 1;
    for (size_t text = 0; text < texts; ++text) {
      const Text &own = inputs.texts[text];
      if (own.empty()) continue;
      Part part{name, heads, size_t(own.end - own.begin), columns, {}, true};
      part.values.reserve(heads * part.rows * columns);
      for (size_t head = 0; head < heads; ++head) {
        const auto begin = array.data.begin() + std::ptrdiff_t((head * T + size_t(own.begin)) * columns);
        part.values.insert(part.values.end(), begin, begin + std::ptrdiff_t(part.rows * columns));
      }
      all[text].push_back(std::move(part));
    }
  };
  const auto add_states = [&](const std::string &name, const std::string &part_name) {
    const auto found = results.find(name);
    if (found == results.end()) return;
    const UsersArray &array = found->second;
    for (size_t text = 0; text < texts; ++text) {
      std::vector<double> values = part(array.data, text, texts);
      Shape one = n;
      one.B = inputs.packed ? 1 : n.B;
      if (name == "dstate") values = symmetrised(variant, one, std::move(values));
      all[text].push_back(
          {part_name, one.heads(), size_t(array.dims[2]), size_t(array.dims[3]), std::move(values), false});
    }
  };
  add_steps("o");
  add_states("final_state", "state");
  for (Tensor tensor : all_tensors) add_steps(std::string("d") + name_of(tensor));
  add_steps("dz");
  for (const char *name : {"dA_log", "dA", "ddt_bias", "dgamma", "dD"})
    if (const auto found = results.find(name); found != results.end()) {
      const UsersArray &array = found->second;
      const size_t rows = size_t(array.dims[0]);
      all.back().push_back({name, 1, rows, array.data.size() / rows, array.data, false});
    }
  add_states("dstate", "dstate");
  return all;
}

} // namespace recollect
