// SPDX-License-Identifier: Apache-2.0
// Gradients where functions switch: inputs that hold exact zeros, ones, ties, and zero or repeated keys. Every form's
// backward pass and the tape of the definition are compared with difference quotients in 113 bits. Where the limits
// from below and from above differ there is no derivative: a backward pass then takes the subgradient that the tape
// takes (taped.hpp).
#include "harness/call/backward.hpp"
#include "harness/call/quotients.hpp"
#include "tests/harness/call/gradient_case.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(zeros_and_ties, *boost::unit_test::precondition(tape_runs))

using Numbers = std::vector<double>;

/// A tensor of the sequence, or its state.
struct Place {
  std::optional<Tensor> tensor;
  Numbers &in(Sequence &s) const { return tensor ? s[*tensor] : s.state; }
  const Numbers &in(const Sequence &s) const { return tensor ? s[*tensor] : s.state; }
  std::string name() const { return tensor ? name_of(*tensor) : "state"; }
};
std::vector<Place> places_of(const Sequence &s) {
  std::vector<Place> found;
  for (Tensor tensor : all_tensors)
    if (!s[tensor].empty()) found.push_back({tensor});
  if (!s.state.empty()) found.push_back({});
  return found;
}

struct Change {
  std::string name;
  std::function<void(Numbers &, int width)> make; // of one head's steps, or a state's rows, of `width` numbers each
  bool keeps_symmetry = false;                    // of a state
};
const std::vector<Change> &changes() {
  static const std::vector<Change> all{{"the first and the last but one step 0",
                                        [](Numbers &x, int width) {
                                          std::fill_n(x.begin(), width, 0.0);
                                          std::fill_n(x.end() - 2 * width, width, 0.0);
                                        }},
                                       {"all 0", [](Numbers &x, int) { std::fill(x.begin(), x.end(), 0.0); }, true},
                                       {"every third number 0",
                                        [](Numbers &x, int) {
                                          for (size_t i = 0; i < x.size(); i += 3) x[i] = 0;
                                        }},
                                       {"all 1", [](Numbers &x, int) { std::fill(x.begin(), x.end(), 1.0); }, true},
                                       {"every second number 1",
                                        [](Numbers &x, int) {
                                          for (size_t i = 1; i < x.size(); i += 2) x[i] = 1;
                                        }},
                                       {"the first step repeated",
                                        [](Numbers &x, int width) {
                                          for (size_t i = size_t(width); i < x.size(); ++i) x[i] = x[i - size_t(width)];
                                        }},
                                       {"pairs of equal numbers", [](Numbers &x, int) {
                                          for (size_t i = 1; i < x.size(); i += 2) x[i] = x[i - 1];
                                        }}};
  return all;
}

/// How many one-sided limits agreed, so that there was a derivative to compare with, and how many differed.
struct Judged {
  int derivatives = 0, kinks = 0;
};

double size_of(const Sequence &gradient) {
  double largest = 1;
  for (const Place &place : places_of(gradient)) largest = std::fmax(largest, max_abs(place.in(gradient)));
  return largest;
}

double along(const Sequence &gradient, const Sequence &direction) {
  double sum = inner(gradient.state, direction.state.empty() ? Numbers(gradient.state.size(), 0.0) : direction.state);
  for (Tensor tensor : all_tensors)
    if (!direction[tensor].empty()) sum += inner(gradient[tensor], direction[tensor]);
  return sum;
}

/// Tests up to ten numbers of `changed`, and a random direction of all other inputs.
void judge(const GradientCase &c, const Place &changed, const std::string &what, Judged &judged) {
  std::vector<std::pair<std::string, Sequence>> claimed{{"tape", gradient(c.variant, c.s, c.params, c.weights)}};
  for (const Form &form : c.variant.forms)
    if (form.vjp)
      for (int chunk : {1, 3, 64})
        claimed.push_back({form.name + " chunk " + std::to_string(chunk),
                           backward(c.variant, c.s, {form.name, Real::f64, chunk, c.params}, c.weights)});
  const Quotients quotients(c.variant, c.s, c.params, c.weights);
  const double size = size_of(claimed[0].second);
  const auto hold = [&](const std::string &in, Sequence direction) {
    direction.state = symmetrised(c.variant, c.s.shape, direction.state); // a symmetric matrix stays one
    const OneSided limits = quotients.along(direction);
    const std::optional<double> derivative = limits.derivative(size);
    ++(derivative ? judged.derivatives : judged.kinks);
    const double wanted = derivative ? *derivative : along(claimed[0].second, direction);
    for (const auto &[name, gradient] : claimed) {
      const double found = along(gradient, direction);
      if (std::fabs(found - wanted) <= 1e-9 * size) continue; // false for NaN
      const auto text = [](const std::optional<double> &x) { return x ? std::to_string(*x) : "none"; };
      BOOST_ERROR(c.variant.name << ": " << what << ": " << in << " by " << name << " is " << found << ", limits "
                                 << text(limits.below) << " and " << text(limits.above) << ", wanted " << wanted);
    }
  };
  const size_t n = changed.in(c.s).size();
  const Numbers order = Stream(6, "zeros/order").uniforms(n, 0, 1);
  for (size_t i = 0; i < n; ++i) {
    if (n > 12 && order[i] * double(n) > 10) continue;
    Sequence direction;
    changed.in(direction).assign(n, 0.0);
    changed.in(direction)[i] = 1;
    hold("d" + changed.name() + " at " + std::to_string(i), direction);
  }
  Sequence others;
  for (const Place &place : places_of(c.s))
    if (place.tensor != changed.tensor)
      place.in(others) = Stream(5, "zeros/" + place.name()).normals(place.in(c.s).size());
  hold("along all other inputs", others);
}

GradientCase small_case(const Variant &variant, bool with_state) {
  GradientCase c = case_of(variant, {1, 1, 5, 4, 3}, 31);
  if (!with_state) c.s.state.clear();
  return c;
}

/// Layers that are not differentiable at some of these inputs: they rectify, choose, or divide a key, value or state by
/// its length, or their state holds the largest number so far. For ttt_mlp, the layer norm of a constant row has slopes
/// of 1e9, whose limits 113 bits cannot resolve.
const std::vector<std::string> switches{"cosformer", "dpfp",           "ffn_relu",  "relu_kernel",
                                        "ffn_moe",   "nlms",           "rwkv7",     "rwkv7_published",
                                        "gated_oja", "softmax_qknorm", "vla",       "vla_unnormalized",
                                        "dijiang",   "hedgehog",       "performer", "mlstm",
                                        "ttt_mlp",   "yaad",           "moneta"};

BOOST_AUTO_TEST_CASE(every_gradient_is_the_limit_of_difference_quotients, *slow) {
  for (const Variant &variant : all_variants()) {
    Judged judged;
    for (bool with_state : {true, false}) {
      const GradientCase c = small_case(variant, with_state);
      if (with_state && c.s.state.empty()) continue;
      for (const Place &place : places_of(c.s)) {
        const auto positive = [&](const Input &input) {
          return place.tensor && input.tensor() == *place.tensor && input.range == Input::positive;
        };
        for (const Change &change : changes()) {
          if (!place.tensor && !change.keeps_symmetry && !variant.symmetric.empty()) continue;
          GradientCase changed{variant, c.params, c.s, c.weights};
          Numbers &x = place.in(changed.s);
          change.make(x, place.tensor ? width_of(*place.tensor, c.s.shape)
                                      : variant.state_shape(c.s.shape, c.params).columns);
          if (std::any_of(variant.inputs.begin(), variant.inputs.end(), positive))
            for (double &one : x)
              if (one == 0) one = 1;
          if (!place.tensor && variant.name == "preconditioned_delta") // a state's last row is a sum of squares
            for (size_t i = x.size() - size_t(c.s.shape.Dk); i < x.size(); ++i) x[i] = std::fabs(x[i]);
          judge(changed, place, place.name() + ", " + change.name + (with_state ? ", from a state" : ""), judged);
        }
      }
    }
    BOOST_TEST(judged.derivatives > 100, variant.name);
    const bool declared = std::count(switches.begin(), switches.end(), variant.name) > 0;
    BOOST_TEST((judged.kinks > 0) == declared, variant.name << " has " << judged.kinks << " kinks");
    BOOST_TEST_MESSAGE(variant.name << ": " << judged.derivatives << " derivatives, " << judged.kinks << " kinks");
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
