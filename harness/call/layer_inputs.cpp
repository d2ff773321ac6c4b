// SPDX-License-Identifier: Apache-2.0
#include "harness/call/layer_inputs.hpp"
#include "harness/core/error.hpp"
#include "harness/core/in_pieces.hpp"
#include "harness/core/text.hpp"
#include "harness/files/gates.hpp"
#include "harness/numerics/inputs.hpp"
#include "harness/numerics/random.hpp"
#include <algorithm>
#include <cmath>

namespace recollect {
namespace {

using Numbers = std::vector<double>;

const UsersArray *find(const UsersArrays &user, const std::string &name) {
  const auto found = user.find(name);
  return found == user.end() ? nullptr : &found->second;
}

std::string spoken(const UsersArrays &user, const std::string &name) {
  const UsersArray *array = find(user, name);
  return "dataset " + (array && !array->name.empty() ? array->name : name);
}

/// Input error if the sizes differ. The message gives shapes in the order of the file.
void check_dims(const UsersArrays &user, const std::string &name, const Dims &needed, const std::string &why,
                const Convention &c) {
  if (user.at(name).dims != needed)
    input_error(spoken(user, name) + " has shape " + text_of(dims_in_file(name, user.at(name).dims, c)) + ", needs " +
                text_of(dims_in_file(name, needed, c)) + " " + why);
}

Dims dims_of(std::initializer_list<int> sizes) { return Dims(sizes.begin(), sizes.end()); }

/// [B,h,T,width], or [B,h,T] if the tensor has one number per step.
Dims over_steps(Tensor tensor, int heads, const Shape &n) {
  Dims dims = dims_of({n.B, heads, n.T});
  if (facts_of(tensor).width != TensorFacts::step) dims.push_back(std::uint64_t(width_of(tensor, n)));
  return dims;
}

int heads_in(const UsersArray &array) { return int(array.dims.at(1)); }

/// An array has `heads` heads, shared by H heads. Returns the number of the array's head that head i of the H uses.
size_t shared_head(size_t i, size_t heads, size_t H, bool interleaved) {
  return interleaved ? i % heads : i / (H / heads);
}

/// [B,heads,size] -> [B,H,size].
Numbers for_every_head(Numbers data, size_t B, size_t heads, size_t H, bool interleaved) {
  if (heads == H || data.empty()) return data;
  const size_t size = data.size() / (B * heads);
  Numbers all(B * H * size);
  for (size_t b = 0; b < B; ++b)
    for (size_t i = 0; i < H; ++i)
      std::copy_n(&data[(b * heads + shared_head(i, heads, H, interleaved)) * size], size, &all[(b * H + i) * size]);
  return all;
}

// Normalises the rows of q and k: y = factor x / sqrt(sum x^2 + EPS), or y = factor x.

double norm_of(const double *row, size_t width, const std::optional<double> &epsilon) {
  if (!epsilon) return 1;
  double squares = *epsilon;
  for (size_t j = 0; j < width; ++j) squares += row[j] * row[j];
  return std::sqrt(squares);
}

void normalise(Numbers &rows, size_t width, const std::optional<double> &epsilon, double factor) {
  if (!epsilon && factor == 1) return;
  for (size_t row = 0; row < rows.size(); row += width) {
    const double norm = norm_of(&rows[row], width, epsilon);
    for (size_t j = row; j < row + width; ++j) rows[j] = norm > 0 ? factor * rows[j] / norm : 0;
  }
}

/// Converts the gradient with respect to y to the gradient with respect to x (`rows`).
void normalise_back(Numbers &gradient, const Numbers &rows, size_t width, const std::optional<double> &epsilon,
                    double factor) {
  for (size_t row = 0; row < rows.size(); row += width) {
    const double norm = norm_of(&rows[row], width, epsilon);
    double along = 0;
    for (size_t j = row; epsilon && j < row + width; ++j) along += rows[j] * gradient[j];
    for (size_t j = row; j < row + width; ++j)
      gradient[j] = norm > 0 ? factor * (gradient[j] - rows[j] * along / (norm * norm)) / norm : 0;
  }
}

/// A user's gate array [B,h,T,width], with the parameters of its gate (A or A_log, and dt_bias) where the gate has
/// them.
class GateMap {
public:
  GateMap(const UsersArrays &user, Tensor decay, const Shape &n, const Convention &c)
      : gate_(c.gate), array_(user.at(name_of(decay))), width_(size_t(width_of(decay, n))), T_(size_t(n.T)) {
    if (!has_parameters(gate_)) return;
    const int heads = heads_in(array_);
    const std::string A = parameter_of(gate_);
    A_ = find(user, A);
    if (!A_) input_error("dataset " + A + " is absent, but --gate " + name_of(gate_) + " needs it as [H]");
    check_dims(user, A, dims_of({heads}), "as the gates have heads", c);
    bias_ = find(user, "dt_bias");
    if (!bias_) return;
    if (width_ == 1)
      check_dims(user, "dt_bias", dims_of({heads}), "as the gates have heads", c);
    else
      check_dims(user, "dt_bias", dims_of({heads, int(width_)}), "as the gates have heads and channels", c);
  }
  size_t size() const { return array_.data.size(); }
  size_t head_of(size_t i) const { return i / (T_ * width_) % size_t(heads_in(array_)); }
  /// Index in dt_bias for element i of the gate array.
  size_t bias_of(size_t i) const { return head_of(i) * width_ + i % width_; }
  Rate at(size_t i) const {
    return rate_of(gate_, array_.data[i], A_ ? A_->data[head_of(i)] : 0, bias_ ? &bias_->data[bias_of(i)] : nullptr);
  }
  double decay(size_t i) const { return gate_ == Gate::factor ? array_.data[i] : std::exp(at(i).log); }
  const UsersArray *A() const { return A_; }
  const UsersArray *bias() const { return bias_; }

private:
  Gate gate_;
  const UsersArray &array_, *A_ = nullptr, *bias_ = nullptr;
  size_t width_, T_;
};

bool has_scale(const Variant &variant) {
  return std::any_of(variant.params.begin(), variant.params.end(),
                     [](const ParamSpec &spec) { return spec.name == "scale"; });
}

/// The factor on q: 1 if the layer has a scale parameter, which then holds the convention's scale.
double q_factor(const Params &params, const Convention &c, int Dk) { return params.has("scale") ? 1 : c.scale.of(Dk); }

/// The number of heads of q and k in LayerInputs. It is H, unless q and k have the same smaller number of heads and
/// neighbouring heads of the H share one.
int key_heads_of(const UsersArrays &user, const Shape &n, const Convention &c) {
  const int q = heads_in(user.at("q")), k = heads_in(user.at("k"));
  return q == k && !c.heads_interleaved ? q : n.H;
}

Shape shape_of(const UsersArrays &user) {
  for (const char *name : {"q", "k", "v"})
    if (!find(user, name)) input_error("dataset " + std::string(name) + " is absent");
  const Dims &q = user.at("q").dims;
  Shape n{int(q.at(0)), 1, int(q.at(2)), int(q.at(3)), int(user.at("v").dims.at(3))};
  for (Tensor tensor : all_tensors)
    if (const UsersArray *array = find(user, name_of(tensor))) n.H = std::max(n.H, heads_in(*array));
  return n;
}

void check_shapes(const UsersArrays &user, const Shape &n, const Convention &c) {
  for (Tensor tensor : all_tensors) {
    const UsersArray *array = find(user, name_of(tensor));
    if (!array) continue;
    const int heads = heads_in(*array);
    if (n.H % heads != 0)
      input_error(spoken(user, name_of(tensor)) + " has " + std::to_string(heads) + " heads, which do not divide the " +
                  std::to_string(n.H) + " heads of the others");
    check_dims(user, name_of(tensor), over_steps(tensor, heads, n), "to match q", c);
  }
}

std::vector<Text> texts_of(const UsersArrays &user, const Shape &n) {
  const UsersArray *cu = find(user, "cu_seqlens");
  if (!cu) return {{0, n.T}};
  if (n.B != 1) input_error("cu_seqlens is given, but packed texts need a batch of 1, not " + std::to_string(n.B));
  const auto refuse = [&](const std::string &why) {
    input_error(spoken(user, "cu_seqlens") + " " + why +
                ", needs whole numbers from 0 up to T = " + std::to_string(n.T) + ", none smaller than the one before");
  };
  if (cu->data.size() < 2 || cu->data[0] != 0) refuse("does not begin with 0, followed by the end of the first text");
  std::vector<Text> texts;
  for (size_t i = 0; i + 1 < cu->data.size(); ++i) {
    const double begin = cu->data[i], end = cu->data[i + 1];
    if (!(end >= begin && end <= n.T) || end != std::floor(end))
      refuse("holds " + number(end) + " after " + number(begin));
    texts.push_back({int(begin), int(end)});
  }
  return texts;
}

/// Sizes of the states: [B,H,rows,columns], or [N,H,rows,columns] for N packed texts.
Dims state_dims(const LayerInputs &inputs, const StateShape &state) {
  const Shape &n = inputs.all.shape;
  return dims_of({inputs.packed ? int(inputs.texts.size()) : n.B, n.H, state.rows, state.columns});
}

Numbers state_in(const UsersArrays &user, const std::string &name, const LayerInputs &inputs, const StateShape &state,
                 const Variant &variant, const Convention &c) {
  if (!find(user, name)) return {};
  if (state.size() == 0) input_error(spoken(user, name) + " is given, but " + variant.name + " has no finite state");
  check_dims(user, name, state_dims(inputs, state), "as the state of " + variant.name, c);
  return user.at(name).data;
}

double silu(double z) { return z / (1 + std::exp(-z)); }
double silu_slope(double z) {
  const double s = 1 / (1 + std::exp(-z));
  return s * (1 + z * (1 - s));
}

/// D for every head and channel, [H,Dv].
Numbers skip_in(const UsersArrays &user, const Shape &n, const Convention &c) {
  const UsersArray *D = find(user, "D");
  if (!D || c.skip_ignored) return {};
  const size_t heads = size_t(D->dims[0]), H = size_t(n.H), Dv = size_t(n.Dv);
  if (D->dims.size() == 2) check_dims(user, "D", dims_of({int(heads), n.Dv}), "as v has channels", c);
  if (H % heads != 0)
    input_error(spoken(user, "D") + " has " + std::to_string(heads) + " heads, but the others have " +
                std::to_string(n.H));
  Numbers skip(H * Dv);
  for (size_t i = 0; i < skip.size(); ++i) {
    const size_t head = shared_head(i / Dv, heads, H, c.heads_interleaved);
    skip[i] = D->data[D->dims.size() == 2 ? head * Dv + i % Dv : head];
  }
  return skip;
}

/// Calls told(i, j) for every element i of o at a step of a text; j is the index of its head and channel in [H,Dv].
template <class Told> void each_output(const LayerInputs &inputs, const Told &told) {
  const Shape &n = inputs.all.shape;
  const size_t T = size_t(n.T), H = size_t(n.H), Dv = size_t(n.Dv);
  for (const Text &text : inputs.texts)
    for (size_t head = 0; head < n.heads(); ++head)
      for (size_t t = size_t(text.begin); t < size_t(text.end); ++t)
        for (size_t j = 0; j < Dv; ++j) told((head * T + t) * Dv + j, head % H * Dv + j);
}

Numbers part(const Numbers &all, size_t index, size_t parts) {
  if (all.empty()) return {};
  const size_t size = all.size() / parts;
  return Numbers(all.begin() + std::ptrdiff_t(index * size), all.begin() + std::ptrdiff_t((index + 1) * size));
}

/// Adds the gradients of a gate array and of its parameters. `in_logarithms` is the gradient with respect to log
/// decays. `in_strengths` is the gradient with respect to the strengths that Mamba derives from the gate; it may be
/// empty.
void add_gate_gradients(UsersArrays &found, const UsersArrays &user, Tensor decay, const Numbers &in_logarithms,
                        const Numbers &in_strengths, const Shape &n, const Convention &c) {
  const GateMap gates(user, decay, n, c);
  Numbers own(gates.size()), A(gates.A() ? gates.A()->data.size() : 0),
      bias(gates.bias() ? gates.bias()->data.size() : 0);
  for (size_t i = 0; i < own.size(); ++i) {
    const Rate rate = gates.at(i);
    own[i] = in_logarithms[i] * rate.by_x + (in_strengths.empty() ? 0 : in_strengths[i] * rate.step_by_x);
    if (!A.empty()) A[gates.head_of(i)] += in_logarithms[i] * rate.by_A;
    if (!bias.empty()) bias[gates.bias_of(i)] += own[i];
  }
  found[std::string("d") + name_of(decay)] = {user.at(name_of(decay)).dims, std::move(own), ""};
  if (!A.empty()) found[std::string("d") + parameter_of(c.gate)] = {gates.A()->dims, std::move(A), ""};
  if (!bias.empty()) found["ddt_bias"] = {gates.bias()->dims, std::move(bias), ""};
}

/// Applies the skip term and the output gate to o. With gradients, updates dv and computes dD and dz.
void add_skip_and_gate(UsersArrays &found, Numbers &o, Sequence &gradient, const UsersArrays &user,
                       const LayerInputs &inputs, bool errors) {
  const bool backward = !gradient.v.empty();
  const UsersArray *D = inputs.skip.empty() ? nullptr : find(user, "D"),
                   *z = inputs.gate.empty() ? nullptr : find(user, "z");
  const bool gated_backward = z && backward;
  Numbers dskip(inputs.skip.size()), dz(gated_backward ? z->data.size() : 0);
  each_output(inputs, [&](size_t i, size_t channel) {
    if (D && !errors) {
      o[i] += inputs.skip[channel] * inputs.all.v[i];
      if (backward) gradient.v[i] += inputs.skip[channel] * inputs.weights.o[i];
      if (backward) dskip[channel] += inputs.weights.o[i] * inputs.all.v[i];
    }
    if (gated_backward) dz[i] = user.at("do").data[i] * o[i] * silu_slope(z->data[i]);
    if (z) o[i] *= inputs.gate[i];
  });
  if (gated_backward) found["dz"] = {z->dims, std::move(dz), ""};
  if (!D || !backward) return;
  const size_t heads = size_t(D->dims[0]), Dv = size_t(inputs.all.shape.Dv);
  Numbers own = summed_over_sharing(dskip, 1, heads, size_t(inputs.all.shape.H), false);
  if (D->dims.size() == 1) {
    Numbers sums(heads, 0.0);
    for (size_t i = 0; i < own.size(); ++i) sums[i / Dv] += own[i];
    own = std::move(sums);
  }
  found["dD"] = {D->dims, std::move(own), ""};
}

} // namespace

std::vector<int> starts_of_texts(const std::string &lengths, int T) {
  std::vector<int> starts;
  if (lengths.empty()) return starts;
  double end = 0;
  starts.push_back(0);
  for (const std::string &length : split(lengths, ',')) {
    const double steps = parse_number(length, "--texts");
    end += steps;
    if (!(steps >= 0 && end <= T) || steps != double(int(steps)))
      usage_error("--texts needs whole numbers that add up to at most T = " + std::to_string(T) + ", got " + lengths);
    starts.push_back(int(end));
  }
  return starts;
}

void refuse_shared_heads(int shared, int heads) {
  if (shared < 0 || (shared > 0 && heads % shared != 0))
    usage_error("shared heads must divide the " + std::to_string(heads) + " heads, and " + std::to_string(shared) +
                " does not");
}

Numbers summed_over_sharing(Numbers all, size_t B, size_t heads, size_t H, bool interleaved) {
  if (heads == H || all.empty()) return all;
  const size_t size = all.size() / (B * H);
  Numbers sums(B * heads * size, 0.0);
  for (size_t b = 0; b < B; ++b)
    for (size_t i = 0; i < H; ++i)
      for (size_t j = 0; j < size; ++j)
        sums[(b * heads + shared_head(i, heads, H, interleaved)) * size + j] += all[(b * H + i) * size + j];
  return sums;
}

LayerInputs to_layer(const UsersArrays &user, const Variant &variant, const Params &params, const Convention &c,
                     bool gradient) {
  const Shape n = shape_of(user);
  check_shapes(user, n, c);
  LayerInputs inputs;
  inputs.params = params;
  inputs.all.shape = n;
  inputs.key_heads = key_heads_of(user, n, c);
  inputs.packed = find(user, "cu_seqlens") != nullptr;
  inputs.texts = texts_of(user, n);
  if (c.scale.kind != Scale::none && has_scale(variant)) inputs.params.set("scale", c.scale.of(n.Dk));

  const auto put = [&](Tensor tensor, Numbers data, int heads) {
    inputs.all[tensor] = for_every_head(std::move(data), size_t(n.B), size_t(heads), size_t(inputs.shape_of(tensor).H),
                                        c.heads_interleaved);
  };
  const auto convert = [&](Tensor tensor) {
    const UsersArray *array = find(user, name_of(tensor));
    if (!array || !variant.takes(tensor)) return;
    Numbers data = array->data;
    if (tensor == Tensor::q) normalise(data, size_t(n.Dk), c.l2norm, q_factor(inputs.params, c, n.Dk));
    if (tensor == Tensor::k) normalise(data, size_t(n.Dk), c.l2norm, 1);
    if (tensor == Tensor::beta)
      for (double &x : data) x = strength_of(x, c.strength);
    if (facts_of(tensor).decay) {
      const GateMap gates(user, tensor, n, c);
      for (size_t i = 0; i < data.size(); ++i) data[i] = gates.decay(i);
      if (c.gate == Gate::mamba && variant.takes(Tensor::beta)) {
        Numbers strengths(gates.size());
        for (size_t i = 0; i < strengths.size(); ++i) strengths[i] = gates.at(i).step;
        put(Tensor::beta, std::move(strengths), heads_in(*array));
      }
    }
    put(tensor, std::move(data), heads_in(*array));
  };
  in_pieces(
      std::size(all_tensors),
      [&](size_t i, size_t end) {
        for (; i < end; ++i) convert(all_tensors[i]);
      },
      user.at("q").data.size());
  if (find(user, "gamma")) {
    if (find(user, "alpha"))
      input_error("both " + spoken(user, "gamma") + " and " + spoken(user, "alpha") + " are given");
    const size_t heads = user.at("gamma").data.size();
    if (size_t(n.H) % heads != 0)
      input_error(spoken(user, "gamma") + " has " + std::to_string(heads) + " heads, but the others have " +
                  std::to_string(n.H));
    Numbers one_step;
    for (double x : user.at("gamma").data)
      one_step.push_back(c.gate == Gate::factor ? x : std::exp(rate_of(c.gate, x).log));
    one_step = for_every_head(one_step, 1, heads, size_t(n.H), c.heads_interleaved);
    for (size_t head = 0; head < n.heads(); ++head)
      inputs.all.alpha.insert(inputs.all.alpha.end(), size_t(n.T), one_step[head % size_t(n.H)]);
  }
  const StateShape state = variant.state_shape(n, inputs.params);
  inputs.all.state = state_in(user, "state", inputs, state, variant, c);
  inputs.skip = skip_in(user, n, c);
  if (const UsersArray *z = find(user, "z"); z && !c.gate_ignored) {
    check_dims(user, "z", over_steps(Tensor::v, n.H, n), "to match the outputs", c);
    for (double x : z->data) inputs.gate.push_back(silu(x));
  }
  if (!gradient) return inputs;
  if (!find(user, "do"))
    input_error("dataset do is absent, but gradients need it: it holds the derivatives of the loss in the outputs");
  check_dims(user, "do", over_steps(Tensor::v, n.H, n), "to match the outputs", c);
  inputs.weights = {user.at("do").data, state_in(user, "dfinal_state", inputs, state, variant, c)};
  for (size_t i = 0; i < inputs.gate.size(); ++i) inputs.weights.o[i] *= inputs.gate[i];
  return inputs;
}

Sequence sequence_of(const LayerInputs &inputs, size_t text) {
  if (!inputs.packed && !inputs.grouped()) return inputs.all;
  const auto [begin, end] = inputs.texts[text];
  Sequence one;
  one.shape = inputs.all.shape, one.shape.T = end - begin;
  for (Tensor tensor : all_tensors) {
    const Shape own = inputs.shape_of(tensor);
    one[tensor] = for_every_head(steps_of(inputs.all[tensor], own, begin, end), size_t(own.B), size_t(own.H),
                                 size_t(one.shape.H), false);
  }
  one.state = inputs.packed ? part(inputs.all.state, text, inputs.texts.size()) : inputs.all.state;
  return one;
}

const Sequence &sequence_in(const LayerInputs &inputs, size_t text, Sequence &cut) {
  return inputs.packed || inputs.grouped() ? cut = sequence_of(inputs, text) : inputs.all;
}

OutputWeights weights_of(const LayerInputs &inputs, size_t text) {
  if (!inputs.packed) return inputs.weights;
  return {steps_of(inputs.weights.o, inputs.all.shape, inputs.texts[text].begin, inputs.texts[text].end),
          part(inputs.weights.state, text, inputs.texts.size())};
}

const OutputWeights &weights_in(const LayerInputs &inputs, size_t text, OutputWeights &cut) {
  return inputs.packed ? cut = weights_of(inputs, text) : inputs.weights;
}

TextResults results_of_empty(const LayerInputs &inputs, const Variant &variant, size_t text) {
  Sequence start;
  start.shape = inputs.all.shape;
  start.state = part(inputs.all.state, text, inputs.texts.size());
  TextResults found;
  found.output = {{}, initial_state(variant, start, inputs.params), variant.state_shape(start.shape, inputs.params)};
  if (inputs.weights.o.empty()) return found;
  found.gradient.state = part(inputs.weights.state, text, inputs.texts.size());
  if (found.gradient.state.empty()) found.gradient.state.assign(found.output.state.size(), 0.0);
  return found;
}

UsersArrays to_user(const UsersArrays &user, const LayerInputs &inputs, const Convention &c,
                    const std::vector<TextResults> &results, bool errors) {
  const Shape &n = inputs.all.shape;
  const size_t B = size_t(n.B), H = size_t(n.H);
  UsersArrays found;
  UsersArray o{over_steps(Tensor::v, n.H, n), {}, ""}, final_state, dstate;
  Sequence gradient;
  StateShape state;
  for (size_t i = 0; i < results.size(); ++i) {
    const TextResults &one = results[i];
    const auto [begin, end] = inputs.texts[i];
    put_steps(o.data, one.output.o, n, begin, end);
    for (Tensor tensor : all_tensors) {
      const Numbers &own = one.gradient[tensor];
      Shape shape = n;
      if (!own.empty()) shape.H = int(own.size() / (B * size_t(end - begin) * size_t(width_of(tensor, n))));
      put_steps(gradient[tensor], own, shape, begin, end);
    }
    final_state.data.insert(final_state.data.end(), one.output.state.begin(), one.output.state.end());
    dstate.data.insert(dstate.data.end(), one.gradient.state.begin(), one.gradient.state.end());
    state = one.output.state_shape;
  }
  o.data.resize(n.heads() * size_t(n.T) * size_t(n.Dv));
  add_skip_and_gate(found, o.data, gradient, user, inputs, errors);
  found["o"] = std::move(o);
  final_state.dims = dstate.dims = state_dims(inputs, state);
  if (!final_state.data.empty()) found["final_state"] = std::move(final_state);
  if (!dstate.data.empty()) found["dstate"] = std::move(dstate);

  const auto own_heads = [&](Tensor tensor, int heads) {
    const Numbers &all = gradient[tensor];
    return summed_over_sharing(all, B, size_t(heads), all.size() / (B * size_t(n.T) * size_t(width_of(tensor, n))),
                               c.heads_interleaved);
  };
  for (Tensor tensor : all_tensors) {
    const UsersArray *array = find(user, name_of(tensor));
    if (!array || gradient[tensor].empty()) continue;
    Numbers own = own_heads(tensor, heads_in(*array));
    if (tensor == Tensor::q) normalise_back(own, array->data, size_t(n.Dk), c.l2norm, q_factor(inputs.params, c, n.Dk));
    if (tensor == Tensor::k) normalise_back(own, array->data, size_t(n.Dk), c.l2norm, 1);
    if (tensor == Tensor::beta)
      for (size_t i = 0; i < own.size(); ++i) own[i] *= strength_slope(array->data[i], c.strength);
    if (facts_of(tensor).decay && c.log_gates()) {
      const bool strengths = c.gate == Gate::mamba && !gradient.beta.empty();
      add_gate_gradients(found, user, tensor, own, strengths ? own_heads(Tensor::beta, heads_in(*array)) : Numbers{}, n,
                         c);
      continue;
    }
    found[std::string("d") + name_of(tensor)] = {array->dims, std::move(own), ""};
  }
  if (const UsersArray *gamma = find(user, "gamma"); gamma && !gradient.alpha.empty()) {
    Numbers all(H, 0.0);
    for (size_t i = 0; i < gradient.alpha.size(); ++i) all[i / size_t(n.T) % H] += gradient.alpha[i];
    Numbers own = summed_over_sharing(all, 1, gamma->data.size(), H, c.heads_interleaved);
    for (size_t i = 0; i < own.size(); ++i) own[i] *= c.log_gates() ? rate_of(c.gate, gamma->data[i]).by_x : 1;
    found["dgamma"] = {gamma->dims, std::move(own), ""};
  }
  return found;
}

void check_results(const UsersArrays &results, const UsersArrays &user, const LayerInputs &inputs,
                   const Variant &variant, const Convention &c) {
  const Shape &n = inputs.all.shape;
  const StateShape state = variant.state_shape(n, inputs.params);
  for (const auto &[name, array] : results) {
    if (name == "o")
      check_dims(results, name, over_steps(Tensor::v, n.H, n), "to match the inputs", c);
    else if (name == "final_state" || name == "dstate")
      check_dims(results, name, state_dims(inputs, state), "as the state of " + variant.name, c);
    else
      check_dims(results, name, user.at(name.substr(1)).dims, "to match the input", c);
  }
}

namespace {

/// [B,H,size] -> [B,heads,size]: keeps the first of every H / heads consecutive heads.
Numbers first_of_sharing(const Numbers &all, size_t B, size_t heads, size_t H) {
  const size_t size = all.size() / (B * H);
  Numbers some(B * heads * size);
  for (size_t b = 0; b < B; ++b)
    for (size_t i = 0; i < heads; ++i)
      std::copy_n(&all[(b * H + i * (H / heads)) * size], size, &some[(b * heads + i) * size]);
  return some;
}

} // namespace

UsersArrays in_convention(const Sequence &inputs, const OutputWeights &weights, const StateShape &state,
                          const Convention &c, const Sharing &sharing, std::uint64_t seed) {
  const Shape &n = inputs.shape;
  const size_t H = size_t(n.H);
  UsersArrays user;
  if (has_parameters(c.gate) && !(inputs.alpha.empty() && inputs.lambda.empty())) {
    const Stream speeds(seed, "sample/A"), biases(seed, "sample/dt_bias");
    UsersArray A{dims_of({n.H}), {}, ""}, bias = A;
    for (size_t h = 0; h < H; ++h) {
      const double speed = 1 + 15 * speeds.uniform(h);
      A.data.push_back(double(float(c.gate == Gate::mamba ? -speed : std::log(speed))));
    }
    if (!inputs.lambda.empty()) bias.dims.push_back(std::uint64_t(n.Dk));
    for (size_t i = 0; i < H * (inputs.lambda.empty() ? 1 : size_t(n.Dk)); ++i)
      bias.data.push_back(double(float(0.5 * biases.normal(i))));
    user[parameter_of(c.gate)] = std::move(A);
    if (c.gate != Gate::mamba) user["dt_bias"] = std::move(bias);
  }
  for (Tensor tensor : all_tensors) {
    if (inputs[tensor].empty() || (tensor == Tensor::beta && c.gate == Gate::mamba && !inputs.alpha.empty())) continue;
    Numbers data = inputs[tensor];
    int heads = n.H;
    const int asked = tensor == Tensor::q   ? sharing.q_heads
                      : tensor == Tensor::k ? sharing.k_heads
                      : tensor == Tensor::v ? sharing.v_heads
                                            : 0;
    if (asked) heads = asked, data = first_of_sharing(data, size_t(n.B), size_t(asked), H);
    if (tensor == Tensor::beta)
      for (double &x : data) x = raw_strength(x, c.strength);
    if (facts_of(tensor).decay) {
      const size_t width = size_t(width_of(tensor, n));
      for (size_t i = 0; i < data.size(); ++i) {
        const size_t h = i / (size_t(n.T) * width) % H;
        const auto parameter = [&](const char *name, size_t place) {
          return user.count(name) ? user.at(name).data[place] : 0.0;
        };
        data[i] =
            raw_gate(c.gate, data[i], parameter(parameter_of(c.gate), h), parameter("dt_bias", h * width + i % width));
      }
    }
    user[name_of(tensor)] = {over_steps(tensor, heads, n), std::move(data), ""};
  }
  if (sharing.skip) {
    user["D"] = {dims_of({n.H}), {}, ""};
    for (size_t h = 0; h < H; ++h)
      user["D"].data.push_back(double(float(1 + 0.5 * Stream(seed, "sample/D").normal(h))));
  }
  if (sharing.gate) user["z"] = {over_steps(Tensor::v, n.H, n), Stream(seed, "sample/z").normals(inputs.v.size()), ""};
  const int states = sharing.cu_seqlens.empty() ? n.B : int(sharing.cu_seqlens.size()) - 1;
  const Dims of_states = dims_of({states, n.H, state.rows, state.columns});
  if (!inputs.state.empty()) user["state"] = {of_states, inputs.state, ""};
  if (!weights.o.empty()) user["do"] = {over_steps(Tensor::v, n.H, n), weights.o, ""};
  if (!weights.state.empty()) user["dfinal_state"] = {of_states, weights.state, ""};
  if (!sharing.cu_seqlens.empty())
    user["cu_seqlens"] = {dims_of({states + 1}), Numbers(sharing.cu_seqlens.begin(), sharing.cu_seqlens.end()), ""};
  return user;
}

bool same_arrays(const UsersArrays &user, const LayerInputs &inputs, const Convention &c) {
  for (Tensor tensor : all_tensors)
    if (const UsersArray *array = find(user, name_of(tensor)); array && heads_in(*array) != inputs.all.shape.H)
      return false;
  const bool gates = c.gate == Gate::factor || c.gate == Gate::log;
  return gates && inputs.skip.empty() && inputs.gate.empty() && c.strength == Strength::factor && !c.l2norm &&
         !inputs.packed && !find(user, "gamma") && q_factor(inputs.params, c, inputs.all.shape.Dk) == 1;
}

std::vector<std::string> converted(const Convention &c) {
  std::vector<std::string> names;
  if (c.l2norm) names.insert(names.end(), {"q", "k"});
  if (c.strength == Strength::sigmoid || c.strength == Strength::sigmoid_double) names.push_back("beta");
  if (c.gate == Gate::rwkv || has_parameters(c.gate))
    names.insert(names.end(), {"alpha", "lambda", "A_log", "A", "dt_bias"});
  if (c.gate == Gate::mamba) names.insert(names.end(), {"D", "z"});
  return names;
}

bool is_parameter(const std::string &name) {
  return name == "A_log" || name == "A" || name == "dt_bias" || name == "gamma" || name == "D";
}

} // namespace recollect
