// SPDX-License-Identifier: Apache-2.0
#include "harness/call/fused.hpp"
#include "harness/call/shared_heads.hpp"
#include "harness/core/error.hpp"
#include "harness/files/gates.hpp"
#include <cmath>

namespace recollect {
namespace {

using Numbers = std::vector<double>;

double norm_of(const double *row, size_t width, const std::optional<double> &epsilon) {
  if (!epsilon) return 1;
  double squares = *epsilon;
  for (size_t j = 0; j < width; ++j) squares += row[j] * row[j];
  return std::sqrt(squares);
}

double silu(double z) { return z / (1 + std::exp(-z)); }
double silu_slope(double z) {
  const double s = 1 / (1 + std::exp(-z));
  return s * (1 + z * (1 - s));
}

/// A user's gate array [B,h,T,width], with the parameters A or A_log and dt_bias if its kind of gate has parameters.
struct GateMap {
  Gate gate;
  const UsersArray &array, *A = nullptr, *bias = nullptr;
  size_t width, T;

  GateMap(const UsersArrays &user, Tensor decay, const Shape &n, const Convention &c)
      : gate(c.gate), array(user.at(name_of(decay))), width(size_t(width_of(decay, n))), T(size_t(n.T)) {
    if (!has_parameters(gate)) return;
    const int heads = heads_in(array);
    const std::string own = parameter_of(gate);
    A = find(user, own);
    if (!A) input_error("dataset " + own + " is absent, but --gate " + name_of(gate) + " needs it as [H]");
    check_dims(user, own, dims_of({heads}), "as the gates have heads", c);
    bias = find(user, "dt_bias");
    if (!bias) return;
    if (width == 1)
      check_dims(user, "dt_bias", dims_of({heads}), "as the gates have heads", c);
    else
      check_dims(user, "dt_bias", dims_of({heads, int(width)}), "as the gates have heads and channels", c);
  }
  size_t head_of(size_t i) const { return i / (T * width) % size_t(heads_in(array)); }
  /// Index in dt_bias for element i of the gate array.
  size_t bias_of(size_t i) const { return head_of(i) * width + i % width; }
  Rate at(size_t i) const {
    return rate_of(gate, array.data[i], A ? A->data[head_of(i)] : 0, bias ? &bias->data[bias_of(i)] : nullptr);
  }
};

/// Calls told(i, j) for every element of o [B,H,T,Dv] at a step of some text. i is the index of the element in o; j is
/// the index of its head and channel in [H,Dv].
template <class Told> void each_output(const LayerInputs &inputs, const Told &told) {
  const Shape &n = inputs.all.shape;
  const size_t T = size_t(n.T), H = size_t(n.H), Dv = size_t(n.Dv);
  for (const Text &text : inputs.texts)
    for (size_t head = 0; head < n.heads(); ++head)
      for (size_t t = size_t(text.begin); t < size_t(text.end); ++t)
        for (size_t j = 0; j < Dv; ++j) told((head * T + t) * Dv + j, head % H * Dv + j);
}

} // namespace

void normalise(Numbers &rows, size_t width, const std::optional<double> &epsilon, double factor) {
  if (!epsilon && factor == 1) return;
  for (size_t row = 0; row < rows.size(); row += width) {
    const double norm = norm_of(&rows[row], width, epsilon);
    for (size_t j = row; j < row + width; ++j) rows[j] = norm > 0 ? factor * rows[j] / norm : 0;
  }
}

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

Numbers decays_in(const UsersArrays &user, Tensor decay, const Shape &n, const Convention &c) {
  const GateMap gates(user, decay, n, c);
  Numbers all = gates.array.data;
  for (size_t i = 0; c.log_gates() && i < all.size(); ++i) all[i] = std::exp(gates.at(i).log);
  return all;
}

Numbers strengths_in(const UsersArrays &user, Tensor decay, const Shape &n, const Convention &c) {
  const GateMap gates(user, decay, n, c);
  Numbers all(gates.array.data.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = gates.at(i).step;
  return all;
}

void add_gate_gradients(UsersArrays &found, const UsersArrays &user, Tensor decay, const Numbers &in_logarithms,
                        const Numbers &in_strengths, const Shape &n, const Convention &c) {
  const GateMap gates(user, decay, n, c);
  Numbers own(gates.array.data.size()), A(gates.A ? gates.A->data.size() : 0),
      bias(gates.bias ? gates.bias->data.size() : 0);
  for (size_t i = 0; i < own.size(); ++i) {
    const Rate rate = gates.at(i);
    own[i] = in_logarithms[i] * rate.by_x + (in_strengths.empty() ? 0 : in_strengths[i] * rate.step_by_x);
    if (gates.A) A[gates.head_of(i)] += in_logarithms[i] * rate.by_A;
    if (gates.bias) bias[gates.bias_of(i)] += own[i];
  }
  found[std::string("d") + name_of(decay)] = {gates.array.dims, std::move(own), ""};
  if (gates.A) found[std::string("d") + parameter_of(c.gate)] = {gates.A->dims, std::move(A), ""};
  if (gates.bias) found["ddt_bias"] = {gates.bias->dims, std::move(bias), ""};
}

Numbers alpha_of_gamma(const UsersArrays &user, const Shape &n, const Convention &c) {
  if (find(user, "alpha"))
    input_error("both " + spoken(user, "gamma") + " and " + spoken(user, "alpha") + " are given");
  const size_t heads = size_t(checked_heads(user, "gamma", n.H));
  Numbers one_step, alpha;
  for (double x : user.at("gamma").data)
    one_step.push_back(c.gate == Gate::factor ? x : std::exp(rate_of(c.gate, x).log));
  one_step = for_every_head(one_step, 1, heads, size_t(n.H), c.heads_interleaved);
  for (size_t head = 0; head < n.heads(); ++head) alpha.insert(alpha.end(), size_t(n.T), one_step[head % size_t(n.H)]);
  return alpha;
}

UsersArray gradient_of_gamma(const UsersArray &gamma, const Numbers &by_alpha, const Shape &n, const Convention &c) {
  const size_t H = size_t(n.H);
  Numbers all(H, 0.0);
  for (size_t i = 0; i < by_alpha.size(); ++i) all[i / size_t(n.T) % H] += by_alpha[i];
  Numbers own = summed_over_sharing(std::move(all), 1, gamma.data.size(), H, c.heads_interleaved);
  for (size_t i = 0; i < own.size(); ++i) own[i] *= c.log_gates() ? rate_of(c.gate, gamma.data[i]).by_x : 1;
  return {gamma.dims, std::move(own), ""};
}

Numbers skip_in(const UsersArrays &user, const Shape &n, const Convention &c) {
  const UsersArray *D = find(user, "D");
  if (!D || c.skip_ignored) return {};
  const size_t heads = size_t(D->dims[0]), H = size_t(n.H), Dv = size_t(n.Dv);
  if (D->dims.size() == 2) check_dims(user, "D", dims_of({int(heads), n.Dv}), "as v has channels", c);
  checked_heads(user, "D", n.H);
  Numbers skip(H * Dv);
  for (size_t i = 0; i < skip.size(); ++i) {
    const size_t head = shared_head(i / Dv, heads, H, c.heads_interleaved);
    skip[i] = D->data[D->dims.size() == 2 ? head * Dv + i % Dv : head];
  }
  return skip;
}

Numbers gate_in(const UsersArrays &user, const Shape &n, const Convention &c) {
  const UsersArray *z = find(user, "z");
  if (!z || c.gate_ignored) return {};
  check_dims(user, "z", over_steps(Tensor::v, n.H, n), "to match the outputs", c);
  Numbers gate;
  for (double x : z->data) gate.push_back(silu(x));
  return gate;
}

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

} // namespace recollect
