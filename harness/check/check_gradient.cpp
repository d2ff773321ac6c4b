// SPDX-License-Identifier: Apache-2.0
#include "harness/check/check_gradient.hpp"
#include "harness/core/error.hpp"
#include "harness/core/text.hpp"
#include "harness/numerics/linalg.hpp"
#include "harness/pipeline/backward.hpp"
#include "harness/pipeline/conditioning.hpp"
#include "harness/pipeline/differences.hpp"
#include <algorithm>
#include <cmath>

namespace recollect {
namespace {

using Numbers = std::vector<double>;

/// The gradient's arrays by name, as a file has them.
struct Named {
  std::string name;
  const Numbers &values;
  size_t rows, columns;
};
std::vector<Named> arrays_of(const Sequence &gradient, const StateShape &state) {
  const Shape &n = gradient.shape;
  std::vector<Named> all;
  for (Tensor tensor : all_tensors)
    if (!gradient[tensor].empty())
      all.push_back({std::string("d") + name_of(tensor), gradient[tensor], size_t(n.T), size_t(width_of(tensor, n))});
  if (!gradient.state.empty()) all.push_back({"dstate", gradient.state, size_t(state.rows), size_t(state.columns)});
  return all;
}

Sequence passed_back(const Variant &variant, const Sequence &s, const Params &params, const OutputWeights &weights) {
  return backward(variant, s, {backward_form(variant), Real::f64, 64, params}, weights);
}

/// The definition's gradient, or where kernels do not run on the host the backward pass's in float64, as a
/// function of everything that it depends on.
class Reference {
public:
  Reference(const Variant &variant, const Params &params, bool logarithms)
      : variant_(variant), params_(params), logarithms_(logarithms) {}
  Sequence operator()(const Sequence &s, const OutputWeights &weights) const {
    Sequence found =
        takes_gradients() ? gradient(variant_, s, params_, weights) : passed_back(variant_, s, params_, weights);
    if (logarithms_) in_logarithms(found, s);
    return found;
  }

private:
  const Variant &variant_;
  const Params &params_;
  bool logarithms_;
};

void hold_to_definition(const Variant &variant, const Sequence &s, const Params &params, const OutputWeights &weights,
                        const Sequence &candidate) {
  for (const Slope &slope : slopes(variant, s, params, weights, candidate))
    if (!slope.right())
      input_error("the backward pass of " + variant.name + " is no reference: " + slope.name + " rises by " +
                  number(slope.claimed) + " where differences of the definition rise by " + number(slope.measured));
}

double response(const Numbers &moved, const Numbers &base, double delta) {
  const double difference = max_difference(moved, base);
  return difference == 0 ? 0 : difference / max_abs(base) / delta;
}

OutputWeights moved_by(const OutputWeights &weights, double delta, int draw) {
  Sequence carrier; // of any tensors that perturbed() moves freely
  carrier.v = weights.o, carrier.state = weights.state;
  carrier = perturbed(carrier, delta, draw + 1000); // signs of their own
  return {carrier.v, carrier.state};
}

/// A whole gradient as a plausible mistake would have it.
struct WrongGradient {
  std::string name;
  Sequence values;
};
std::vector<WrongGradient> likely_wrong(const Reference &reference, const Sequence &s, const OutputWeights &weights,
                                        const Sequence &right) {
  const double root = std::sqrt(double(s.shape.Dk));
  const auto scaled = [&](double factor) {
    Sequence other = right;
    for (Tensor tensor : all_tensors)
      for (double &x : other[tensor]) x *= factor;
    for (double &x : other.state) x *= factor;
    return other;
  };
  std::vector<WrongGradient> all{{"its sign is flipped", scaled(-1)},
                                 {"it is zero", scaled(0)},
                                 {"it is sqrt(Dk) too large", scaled(root)},
                                 {"it is sqrt(Dk) too small", scaled(1 / root)}};
  if (!weights.state.empty()) all.push_back({"dstate of the final state is ignored", reference(s, {weights.o, {}})});
  if (s.shape.T > 1) {
    OutputWeights last = weights;
    for (size_t i = 0; i < last.o.size(); ++i)
      if (i / size_t(s.shape.Dv) % size_t(s.shape.T) + 1 != size_t(s.shape.T)) last.o[i] = 0;
    all.push_back({"do of the last step alone is taken in", reference(s, last)});
  }
  return all;
}

} // namespace

bool CheckedGradient::right() const {
  return std::all_of(parts.begin(), parts.end(), [](const Part &part) { return part.right(); });
}

CheckedGradient check_gradient(const Variant &variant, const Sequence &s, const Params &params,
                               const OutputWeights &weights, const Sequence &candidate, Precision precision, int chunk,
                               bool logarithms) {
  const Reference reference(variant, params, logarithms);
  const Sequence right = reference(s, weights);
  if (!takes_gradients()) hold_to_definition(variant, s, params, weights, passed_back(variant, s, params, weights));
  const StateShape state = variant.state_shape(s.shape, params);
  const double delta = 1e-9, solved = variant.solved_condition ? 2 * variant.solved_condition(s, params) : 0;
  std::vector<Sequence> moved;
  for (int draw = 0; draw < 4; ++draw)
    moved.push_back(reference(perturbed(s, delta, draw), moved_by(weights, delta, draw)));
  constexpr double passages = 32;
  const double units = rounding_units(accumulated_terms(s.shape, chunk) + s.shape.T + s.shape.Dv, passages, precision);

  CheckedGradient found;
  const std::vector<Named> truth = arrays_of(right, state);
  std::vector<WrongGradient> wrong;
  for (const Named &given : arrays_of(candidate, state)) {
    const auto same = [&](const std::vector<Named> &all) -> const Numbers & {
      return std::find_if(all.begin(), all.end(), [&](const Named &one) { return one.name == given.name; })->values;
    };
    double kappa = 1;
    for (const Sequence &one : moved)
      kappa = std::max(kappa, response(same(arrays_of(one, state)), same(truth), delta));
    CheckedGradient::Part part{given.name, {}, units * (kappa + solved), kappa + solved, ""};
    part.errors = compare(given.values, same(truth), size_t(s.shape.H), given.rows, given.columns, part.bound);
    if (!part.right()) {
      if (wrong.empty()) wrong = likely_wrong(reference, s, weights, right);
      for (const WrongGradient &one : wrong) {
        const Numbers &made = same(arrays_of(one.values, state));
        if (max_difference(given.values, made) <= part.bound * max_abs(same(truth))) part.diagnosis = one.name;
      }
    }
    found.parts.push_back(std::move(part));
  }
  return found;
}

} // namespace recollect
