// SPDX-License-Identifier: Apache-2.0
#include "harness/call/in_convention.hpp"
#include "harness/call/shared_heads.hpp"
#include "harness/files/gates.hpp"
#include "harness/numerics/random.hpp"
#include <cmath>

namespace recollect {

using Numbers = std::vector<double>;

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

} // namespace recollect
