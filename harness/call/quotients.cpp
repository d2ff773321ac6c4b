// SPDX-License-Identifier: Apache-2.0
#include "harness/call/quotients.hpp"
#include "harness/call/make_call.hpp"

namespace recollect {

std::optional<double> OneSided::derivative(double size) const {
  if (!below || !above)
    return below && !std::isnan(*below) ? below : above && !std::isnan(*above) ? above : std::nullopt;
  if (!(std::fabs(*below - *above) <= 1e-9 * size)) return {}; // false for NaN
  return (*below + *above) / 2;
}

namespace {

/// Whether the layer accepts inputs x + h sign direction for small h > 0: decays must stay in [0,1], and inputs that
/// the layer requires to be non-negative must stay non-negative.
bool takes(const Variant &variant, Tensor tensor, const std::vector<double> &x, const std::vector<double> &direction,
           double sign) {
  const bool decay = facts_of(tensor).decay,
             not_negative = std::any_of(variant.inputs.begin(), variant.inputs.end(), [&](const Input &input) {
               return input.tensor() == tensor && input.range == Input::not_negative;
             });
  for (size_t i = 0; i < direction.size(); ++i) {
    const double up = sign * direction[i];
    if (up < 0 && x[i] == 0 && (decay || not_negative)) return false;
    if (up > 0 && x[i] == 1 && decay) return false;
  }
  return true;
}

void move(const Array<Quad> &array, const std::vector<double> &from, Quad step, const std::vector<double> &direction) {
  for (size_t i = 0; i < from.size(); ++i) array(i) = direction.empty() ? Quad(from[i]) : from[i] + step * direction[i];
}

} // namespace

struct Quotients::Prepared {
  const Variant &variant;
  const Sequence s;
  const OutputWeights weights;
  Call<Quad> call;
  Quad here = 0; // the weighted sum at `s` itself

  /// The weighted sum of outputs and state at the inputs s + step * direction.
  Quad at(Quad step, const Sequence &direction) {
    for (Tensor tensor : all_tensors) move(call[tensor], s[tensor], step, direction[tensor]);
    move(call.state, s.state, step, direction.state);
    call.arena->reset();
    variant.forms[0].quad(call);
    Kokkos::fence();
    Quad sum = 0;
    for (size_t i = 0; i < weights.o.size(); ++i) sum += weights.o[i] * call.o(i);
    for (size_t i = 0; i < weights.state.size(); ++i) sum += weights.state[i] * call.state(i);
    return sum;
  }
};

Quotients::Quotients(const Variant &variant, const Sequence &sequence, const Params &params,
                     const OutputWeights &weights) {
  check_inputs(variant, sequence, params);
  check_weights(variant, sequence, params, weights);
  if (!takes_gradients()) throw std::logic_error("difference quotients need kernels that run on the host");
  Sequence s = sequence;
  s.state = initial_state(variant, sequence, params);
  Call<Quad> call = make_call<Quad>(variant, s, {}, params);
  call.state = allocated<Quad>("state", s.state.size());
  prepared_.reset(new Prepared{variant, std::move(s), weights, std::move(call)});
  prepared_->here = prepared_->at(0, {});
}
Quotients::~Quotients() = default;

OneSided Quotients::along(const Sequence &direction) const {
  const Quad h = 0x1p-40; // errors h^2 |f'''| of truncation and 2^-112 |f| / h of rounding are far below 2^-52
  const auto limit = [&](double sign) -> std::optional<double> {
    for (Tensor tensor : all_tensors)
      if (!takes(prepared_->variant, tensor, prepared_->s[tensor], direction[tensor], sign)) return {};
    const Quad near = (prepared_->at(sign * h, direction) - prepared_->here) / (sign * h),
               far = (prepared_->at(2 * sign * h, direction) - prepared_->here) / (2 * sign * h);
    const double found(2 * near - far); // extrapolation: the term h f'' / 2 cancels
    // For a smooth function `near` and `far` differ by h times the second derivative. For x log(x) at 0, whose slope is
    // infinite, they differ by log 2, about 1/40 of `found`.
    return std::fabs(double(near - far)) <= 1e-6 + 1e-3 * std::fabs(found) ? found : std::nan("");
  };
  return {limit(-1), limit(1)};
}

} // namespace recollect
