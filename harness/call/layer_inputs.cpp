// SPDX-License-Identifier: Apache-2.0
#include "harness/call/layer_inputs.hpp"
#include "harness/call/fused.hpp"
#include "harness/call/packed.hpp"
#include "harness/call/shared_heads.hpp"
#include "harness/core/error.hpp"
#include "harness/core/in_pieces.hpp"
#include "harness/files/gates.hpp"
#include "harness/numerics/inputs.hpp"
#include <algorithm>

namespace recollect {
namespace {

using Numbers = std::vector<double>;

bool has_scale(const Variant &variant) {
  return std::any_of(variant.params.begin(), variant.params.end(),
                     [](const ParamSpec &spec) { return spec.name == "scale"; });
}

/// The factor by which q is multiplied: the convention's scale, or 1 if the layer takes this scale as a parameter.
double q_factor(const Params &params, const Convention &c, int Dk) { return params.has("scale") ? 1 : c.scale.of(Dk); }

/// The number of heads of q and k in LayerInputs. It is the number of heads in the user's arrays if q and k have
/// equally many and consecutive heads share one of them. Otherwise it is H.
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
    const int heads = checked_heads(user, name_of(tensor), n.H);
    check_dims(user, name_of(tensor), over_steps(tensor, heads, n), "to match q", c);
  }
}

/// Sizes of an array of states: [B,H,rows,columns], or [N,H,rows,columns] for N packed texts.
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

} // namespace

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
      data = decays_in(user, tensor, n, c);
      if (c.gate == Gate::mamba && variant.takes(Tensor::beta))
        put(Tensor::beta, strengths_in(user, tensor, n, c), heads_in(*array));
    }
    put(tensor, std::move(data), heads_in(*array));
  };
  in_pieces(
      std::size(all_tensors),
      [&](size_t i, size_t end) {
        for (; i < end; ++i) convert(all_tensors[i]);
      },
      user.at("q").data.size());
  if (find(user, "gamma")) inputs.all.alpha = alpha_of_gamma(user, n, c);
  const StateShape state = variant.state_shape(n, inputs.params);
  inputs.all.state = state_in(user, "state", inputs, state, variant, c);
  inputs.skip = skip_in(user, n, c);
  inputs.gate = gate_in(user, n, c);
  if (!gradient) return inputs;
  if (!find(user, "do"))
    input_error("dataset do is absent, but gradients need it: it holds the derivatives of the loss in the outputs");
  check_dims(user, "do", over_steps(Tensor::v, n.H, n), "to match the outputs", c);
  inputs.weights = {user.at("do").data, state_in(user, "dfinal_state", inputs, state, variant, c)};
  for (size_t i = 0; i < inputs.gate.size(); ++i) inputs.weights.o[i] *= inputs.gate[i];
  return inputs;
}

UsersArrays to_user(const UsersArrays &user, const LayerInputs &inputs, const Convention &c,
                    const std::vector<TextResults> &results, bool errors) {
  const Shape &n = inputs.all.shape;
  const size_t B = size_t(n.B);
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
  if (const UsersArray *gamma = find(user, "gamma"); gamma && !gradient.alpha.empty())
    found["dgamma"] = gradient_of_gamma(*gamma, gradient.alpha, n, c);
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
