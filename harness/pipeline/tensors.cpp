// SPDX-License-Identifier: Apache-2.0
#include "harness/pipeline/tensors.hpp"
#include "harness/core/error.hpp"
#include "harness/core/text.hpp"
#include <algorithm>
#include <cmath>

namespace recollect {
namespace {

using Dims = std::vector<std::uint64_t>;

Dims dims_of(std::initializer_list<int> sizes) { return Dims(sizes.begin(), sizes.end()); }

std::string text_of(const Dims &dims) {
  std::vector<std::string> parts;
  for (std::uint64_t n : dims) parts.push_back(std::to_string(n));
  return "[" + join(parts, ",") + "]";
}

/// [A,X,Y,width] -> [A,Y,X,width].
std::vector<double> exchanged(const std::vector<double> &data, size_t A, size_t X, size_t Y, size_t width) {
  std::vector<double> out(data.size());
  for (size_t a = 0; a < A; ++a)
    for (size_t x = 0; x < X; ++x)
      for (size_t y = 0; y < Y; ++y)
        std::copy_n(&data[((a * X + x) * Y + y) * width], width, &out[((a * Y + y) * X + x) * width]);
  return out;
}

bool is_gate(const std::string &name) { return name == "alpha" || name == "lambda"; }

/// An array over steps in the file's convention, of `width` numbers a step (0: none, rank 3), as the harness has it.
class Reader {
public:
  Reader(const std::string &path, Arrays arrays, Convention convention)
      : path_(path), arrays_(std::move(arrays)), convention_(convention) {}
  bool has(const std::string &name) const { return arrays_.count(name) != 0; }
  const Dims &dims(const std::string &name) const { return arrays_.at(name).dims; }

  std::vector<double> take(const std::string &name, const Shape &n, int width) {
    Dims expected = convention_.bthd ? dims_of({n.B, n.T, n.H}) : dims_of({n.B, n.H, n.T});
    if (width) expected.push_back(std::uint64_t(width));
    std::vector<double> data = take_as(name, expected, "to match q");
    if (convention_.bthd) data = exchanged(data, size_t(n.B), size_t(n.T), size_t(n.H), size_t(std::max(width, 1)));
    if (convention_.log_gates && is_gate(name))
      for (double &x : data) x = std::exp(x);
    return data;
  }
  std::vector<double> take_as(const std::string &name, const Dims &expected, const std::string &why) {
    NumericArray &array = arrays_.at(name);
    if (array.dims != expected)
      input_error(path_ + ": dataset " + name + " has shape " + text_of(array.dims) + ", needs " + text_of(expected) +
                  " " + why);
    return std::move(array.data);
  }
  /// Empty where the file has none.
  std::vector<double> take_state(const std::string &prefix, const Shape &n, const StateShape &state) {
    const std::string name = prefix + "state";
    if (!has(name)) return {};
    return take_as(name, dims_of({n.B, n.H, state.rows, state.columns}), "as this variant's state");
  }
  void require(const std::string &name, const std::string &needs) const {
    if (!has(name)) input_error(path_ + ": dataset " + name + " is absent, needs " + needs);
  }

private:
  const std::string &path_;
  Arrays arrays_;
  Convention convention_;
};

struct Names {
  std::string keys, values, steps;
};
Names names_of(Convention c) {
  return c.bthd ? Names{"[B,T,H,Dk]", "[B,T,H,Dv]", "[B,T,H]"} : Names{"[B,H,T,Dk]", "[B,H,T,Dv]", "[B,H,T]"};
}

Wanted wanted_state(const std::string &prefix) { return {prefix + "state", 4, "[B,H,rows,columns]"}; }
/// Numbers a step in a file; 0: no dimension of their own.
int file_width(Tensor tensor, const Shape &n) {
  return facts_of(tensor).width == TensorFacts::step ? 0 : width_of(tensor, n);
}
std::string derivative_of(Tensor tensor) { return std::string("d") + name_of(tensor); }
Wanted wanted_derivative(Tensor tensor, const Names &names) {
  const auto width = facts_of(tensor).width;
  if (width == TensorFacts::step) return {derivative_of(tensor), 3, names.steps};
  return {derivative_of(tensor), 4, width == TensorFacts::key ? names.keys : names.values};
}

NumericArray over_steps(std::vector<double> data, const std::string &name, const Shape &n, int width, Convention c) {
  if (c.log_gates && is_gate(name))
    for (double &x : data) x = std::log(x);
  Dims dims = c.bthd ? dims_of({n.B, n.T, n.H}) : dims_of({n.B, n.H, n.T});
  if (width) dims.push_back(std::uint64_t(width));
  if (c.bthd) data = exchanged(data, size_t(n.B), size_t(n.H), size_t(n.T), size_t(std::max(width, 1)));
  return {dims, std::move(data)};
}

NumericArray as_state(const std::vector<double> &data, const Shape &n, const StateShape &state) {
  return {dims_of({n.B, n.H, state.rows, state.columns}), data};
}

} // namespace

Sequence read_sequence(const std::string &path, const std::vector<Input> &inputs, Convention convention) {
  const Names names = names_of(convention);
  std::vector<Wanted> wanted{
      {"q", 4, names.keys}, {"k", 4, names.keys}, {"v", 4, names.values}, {"state", 4, "[B,H,rows,columns]"}};
  for (const Input &input : inputs)
    wanted.push_back({input.name, size_t(input.per_step() ? 3 : 4), input.per_step() ? names.steps : names.keys});
  Reader file(path, read_arrays(path, wanted), convention);
  for (const char *name : {"q", "k"}) file.require(name, names.keys);
  file.require("v", names.values);

  Sequence s;
  const Dims q = file.dims("q");
  const size_t heads = convention.bthd ? 2 : 1, steps = convention.bthd ? 1 : 2;
  s.shape = {int(q[0]), int(q[heads]), int(q[steps]), int(q[3]), int(file.dims("v")[3])};
  s.q = file.take("q", s.shape, s.shape.Dk), s.k = file.take("k", s.shape, s.shape.Dk);
  s.v = file.take("v", s.shape, s.shape.Dv);
  for (const Input &input : inputs)
    if (file.has(input.name)) s.input(input.name) = file.take(input.name, s.shape, input.per_step() ? 0 : s.shape.Dk);
  if (file.has("state")) s.state = file.take_as("state", file.dims("state"), "");
  return s;
}

void write_sequence(const std::string &path, const Sequence &s, Convention c, Real real, const StateShape &state,
                    const Facts &meta, const Output &weights) {
  Arrays arrays;
  const auto put = [&](const std::string &name, const std::vector<double> &data, int width) {
    if (!data.empty()) arrays[name] = over_steps(data, name, s.shape, width, c);
  };
  put("q", s.q, s.shape.Dk), put("k", s.k, s.shape.Dk), put("v", s.v, s.shape.Dv);
  put("beta", s.beta, 0), put("alpha", s.alpha, 0), put("lambda", s.lambda, s.shape.Dk), put("w", s.w, s.shape.Dk);
  put("do", weights.o, s.shape.Dv);
  if (!s.state.empty()) arrays["state"] = as_state(s.state, s.shape, state);
  if (!weights.state.empty()) arrays["dstate"] = as_state(weights.state, s.shape, state);
  write_arrays(path, arrays, real, meta);
}

void write_output(const std::string &path, const Sequence &sequence, const Output &output, const Sequence &gradient,
                  Convention convention, Real real, const Facts &meta) {
  Arrays arrays{{"o", over_steps(output.o, "o", sequence.shape, sequence.shape.Dv, convention)}};
  if (output.state_shape.size()) arrays["state"] = as_state(output.state, sequence.shape, output.state_shape);
  for (Tensor tensor : all_tensors)
    if (!gradient[tensor].empty()) {
      const std::string name = derivative_of(tensor);
      arrays[name] = over_steps(gradient[tensor], name, sequence.shape, file_width(tensor, sequence.shape), convention);
    }
  if (!gradient.state.empty()) arrays["dstate"] = as_state(gradient.state, sequence.shape, output.state_shape);
  write_arrays(path, arrays, real, meta);
}

Output read_output(const std::string &path, const Shape &shape, const StateShape &state, Convention convention,
                   const std::string &prefix) {
  const std::string o = prefix + "o", values = names_of(convention).values;
  Reader file(path, read_arrays(path, {{o, 4, values}, wanted_state(prefix)}), convention);
  file.require(o, values);
  return {file.take(o, shape, shape.Dv), file.take_state(prefix, shape, state), state};
}

Computed read_computed(const std::string &path, const Sequence &sequence, const StateShape &state,
                       Convention convention) {
  const Names names = names_of(convention);
  std::vector<Wanted> wanted{{"o", 4, names.values}, wanted_state(""), wanted_state("d")};
  for (Tensor tensor : all_tensors)
    if (!sequence[tensor].empty()) wanted.push_back(wanted_derivative(tensor, names));
  Reader file(path, read_arrays(path, wanted), convention);
  const Shape &n = sequence.shape;
  Computed found;
  if (file.has("o")) found.output.o = file.take("o", n, n.Dv);
  found.output.state = file.take_state("", n, state), found.output.state_shape = state;
  found.gradient.shape = n;
  for (Tensor tensor : all_tensors)
    if (!sequence[tensor].empty() && file.has(derivative_of(tensor)))
      found.gradient[tensor] = file.take(derivative_of(tensor), n, file_width(tensor, n));
  found.gradient.state = file.take_state("d", n, state);
  return found;
}

void refuse_unknown(const std::string &path, const std::vector<std::string> &known, const std::string &who) {
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
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const auto meant = usual.find(name);
    const bool other_name = meant != usual.end() && std::find(known.begin(), known.end(), meant->second) != known.end();
    input_error(path + ": dataset " + printable(name) + " is not " + who +
                (other_name ? ", did you mean '" + meant->second + "'?" : suggestion(name, known)));
  }
}

} // namespace recollect
