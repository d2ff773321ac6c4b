// SPDX-License-Identifier: Apache-2.0
// The declared properties of every variant, at odd sizes in float and double: a declared property must hold in every
// form, an undeclared one must fail.
#include "harness/numerics/random.hpp"
#include "tests/variants/every_form.hpp"
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <map>

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(invariants)

/// Largest difference over steps [0, end) of every head, relative to the largest |o| there.
double prefix_difference(const Output &a, const Output &b, const Shape &shape, int end) {
  double difference = 0, scale = 0;
  for (size_t head = 0; head < shape.heads(); ++head)
    for (int i = 0; i < end * shape.Dv; ++i) {
      const size_t at = head * shape.T * shape.Dv + i;
      difference = std::max(difference, std::fabs(a.o[at] - b.o[at]));
      scale = std::max(scale, std::fabs(b.o[at]));
    }
  return difference == 0 ? 0 : difference / scale;
}

BOOST_AUTO_TEST_CASE(causality) {
  const Sequence s = random_sequence(odd, 21);
  const int cut = 13;
  Sequence other = random_sequence(odd, 22); // equal to s before the cut, different from it afterwards
  const auto keep = [&](std::vector<double> &to, const std::vector<double> &from) {
    const size_t width = from.size() / (odd.heads() * odd.T);
    for (size_t head = 0; head < odd.heads(); ++head)
      std::copy_n(from.begin() + head * odd.T * width, cut * width, to.begin() + head * odd.T * width);
  };
  keep(other.q, s.q), keep(other.k, s.k), keep(other.v, s.v), keep(other.w, s.w);
  keep(other.beta, s.beta), keep(other.alpha, s.alpha), keep(other.lambda, s.lambda);
  every_form([&](const Variant &variant, const Params &params, const Form &form, Real real) {
    const Run run{form.name, real, 8, params};
    const double change = prefix_difference(forward(variant, other, run), forward(variant, s, run), odd, cut);
    const double allowed = bound(variant, params, s, real);
    BOOST_TEST_INFO(label(variant, form, real) << ": change before the cut " << change << ", allowed " << allowed);
    if (variant.traits.causal && form.causal)
      BOOST_TEST(change <= allowed);
    else if (variant.traits.causal) // a form may look ahead, with an effect that float cannot resolve
      BOOST_TEST((change > allowed || real == Real::f32));
    else
      BOOST_TEST(change > 1e-3);
  });
}

BOOST_AUTO_TEST_CASE(batches_and_heads_are_independent) {
  const Sequence s = random_sequence(odd, 23);
  for (size_t head = 0; head < odd.heads(); ++head) {
    Sequence alone;
    alone.shape = {1, 1, odd.T, odd.Dk, odd.Dv};
    const auto take = [head](const std::vector<double> &all) {
      const size_t size = all.size() / odd.heads();
      return std::vector<double>(all.begin() + head * size, all.begin() + (head + 1) * size);
    };
    alone.q = take(s.q), alone.k = take(s.k), alone.v = take(s.v), alone.w = take(s.w);
    alone.beta = take(s.beta), alone.alpha = take(s.alpha), alone.lambda = take(s.lambda);
    every_form([&](const Variant &variant, const Params &params, const Form &form, Real real) {
      const Run run{form.name, real, 8, params};
      const Output together = forward(variant, s, run), single = forward(variant, alone, run);
      const Output part{take(together.o), take(together.state), together.state_shape};
      const double error = deviation(part, single).largest(), allowed = bound(variant, params, alone, real);
      BOOST_TEST_INFO(label(variant, form, real) << " head " << head << ": error " << error << ", allowed " << allowed);
      BOOST_TEST(error <= allowed);
    });
  }
}

BOOST_AUTO_TEST_CASE(every_output_is_written) {
  // forward() fills outputs with NaN first; inputs are finite and moderate, so only an unwritten element can be NaN.
  const Sequence s = random_sequence(odd, 24);
  every_form([&](const Variant &variant, const Params &params, const Form &form, Real real) {
    for (int chunk : {1, 4, 21}) {
      const Output out = forward(variant, s, {form.name, real, chunk, params});
      const auto finite = [](const std::vector<double> &x) {
        return std::all_of(x.begin(), x.end(), [](double y) { return std::isfinite(y); });
      };
      BOOST_TEST_INFO(label(variant, form, real) << " chunk " << chunk);
      BOOST_TEST((finite(out.o) && finite(out.state)));
    }
  });
}

// Outputs are linear in v. The state is affine in v: some parts are linear and others do not depend on v.
BOOST_AUTO_TEST_CASE(linearity_in_v) {
  const Sequence x = random_sequence(odd, 25);
  Sequence y = x, mixed = x, affine = x;
  y.v = Stream(26, "test/other_values").normals(x.v.size());
  for (size_t i = 0; i < x.v.size(); ++i) mixed.v[i] = 2 * x.v[i] - 3 * y.v[i], affine.v[i] = 3 * x.v[i] - 2 * y.v[i];
  every_form([&](const Variant &variant, const Params &params, const Form &form, Real real) {
    const Run run{form.name, real, 8, params};
    const Output ox = forward(variant, x, run), oy = forward(variant, y, run), om = forward(variant, mixed, run);
    Output expected = forward(variant, affine, run), measured = expected;
    measured.o = om.o;
    for (size_t i = 0; i < ox.o.size(); ++i) expected.o[i] = 2 * ox.o[i] - 3 * oy.o[i];
    for (size_t i = 0; i < ox.state.size(); ++i) expected.state[i] = 3 * ox.state[i] - 2 * oy.state[i];
    const Deviation error = deviation(expected, measured);
    const double allowed =
        6 * (bound(variant, params, x, real) + bound(variant, params, y, real)); // 2 and 3 times, and the sum's own
    BOOST_TEST_INFO(label(variant, form, real)
                    << ": outputs " << error.outputs << ", state " << error.state << ", allowed " << allowed);
    if (variant.traits.linear_in_v)
      BOOST_TEST(error.largest() <= allowed);
    else if (real == Real::f64) // a layer that learns little per step is nearly linear
      BOOST_TEST(error.outputs > 1e3 * allowed);
  });
}

BOOST_AUTO_TEST_CASE(order_of_the_stored_pairs) {
  const Shape shape{1, 1, 9, 5, 3};
  const Sequence s = random_sequence(shape, 27);
  Sequence permuted = s;
  const std::vector<int> order = Stream(28, "test/order").permutation(shape.T);
  const auto shuffle = [&](std::vector<double> &to, const std::vector<double> &from) {
    const size_t width = from.size() / shape.T;
    for (int t = 0; t < shape.T; ++t) std::copy_n(from.begin() + order[t] * width, width, to.begin() + t * width);
  };
  shuffle(permuted.k, s.k), shuffle(permuted.v, s.v),
      shuffle(permuted.w, s.w); // queries are not permuted: the last one reads
  shuffle(permuted.beta, s.beta), shuffle(permuted.alpha, s.alpha), shuffle(permuted.lambda, s.lambda);
  every_form(
      [&](const Variant &variant, const Params &params, const Form &form, Real real) {
        const Run run{form.name, real, 4, params};
        const Output a = forward(variant, s, run), b = forward(variant, permuted, run);
        double change = 0;
        for (int i = 0; i < shape.Dv; ++i)
          change = std::max(change, std::fabs(a.o[a.o.size() - 1 - i] - b.o[b.o.size() - 1 - i]) / max_abs(a.o));
        const double allowed = 2 * bound(variant, params, s, real);
        BOOST_TEST_INFO(label(variant, form, real)
                        << ": change of the last read " << change << ", allowed " << allowed);
        if (variant.traits.order_invariant)
          BOOST_TEST((change <= allowed && deviation(b, a).state <= allowed));
        else if (
            real ==
            Real::f64) // a slow rotation, such as cosformer's, changes by less than float can resolve over nine steps
          BOOST_TEST(change > 1e3 * allowed);
      },
      false);
}

BOOST_AUTO_TEST_CASE(edges) {
  const auto edge = [](const std::string &name) {
    Sequence s = random_sequence(name == "T = 1" ? Shape{1, 2, 1, 5, 3} : Shape{1, 2, 19, 5, 3}, 29);
    if (name == "beta = 0") std::fill(s.beta.begin(), s.beta.end(), 0.0);
    if (name == "alpha = 1")
      std::fill(s.alpha.begin(), s.alpha.end(), 1.0), std::fill(s.lambda.begin(), s.lambda.end(), 1.0);
    if (name == "alpha = 1e-8")
      std::fill(s.alpha.begin(), s.alpha.end(), 1e-8), std::fill(s.lambda.begin(), s.lambda.end(), 1e-8);
    if (name == "zero keys") std::fill(s.k.begin(), s.k.end(), 0.0), s.w = s.k;
    if (name == "duplicate keys")
      for (size_t i = 0; i < s.k.size(); ++i) s.k[i] = s.k[i % 5];
    return s;
  };
  for (const char *name : {"T = 1", "beta = 0", "alpha = 1", "alpha = 1e-8", "zero keys", "duplicate keys"}) {
    const Sequence s = edge(name);
    every_form(
        [&](const Variant &variant, const Params &params, const Form &form, Real real) {
          const Output reference = forward(variant, s, {"recurrent", Real::f64, 1, params});
          Output out = forward(variant, s, {form.name, real, 8, params});
          if (real == Real::f32 && max_abs(reference.state) < FLT_MIN) // float cannot represent such numbers
            out.state = reference.state;
          const double error = deviation(out, reference).largest(), allowed = bound(variant, params, s, real);
          BOOST_TEST_INFO(label(variant, form, real)
                          << " at " << name << ": error " << error << ", allowed " << allowed);
          // beyond 1 / eps a condition number promises no digit; only layers declared unstable may get there
          BOOST_TEST((allowed < 1 ? error <= allowed : !variant.traits.stable));
        },
        false);
  }
}

// Nearly repeated keys, also as keys to erase, make I + A and the Gram matrix ill-conditioned. A layer declared stable
// stays within the bound of its condition number in float32, and the bound must be meaningful; one declared unstable
// must exceed it.
BOOST_AUTO_TEST_CASE(float32_on_ill_conditioned_keys, *slow) {
  std::map<std::string, double> broken; // largest error of an unstable form in units of its bound
  const auto nearly_repeated = [](const Shape &shape, double noise) {
    Sequence s = random_sequence(shape, 30);
    const std::vector<double> directions = random_sequence(shape, 31).k, off = random_sequence(shape, 31).q;
    const size_t head = size_t(shape.T) * shape.Dk;
    for (size_t i = 0; i < s.k.size(); ++i) s.k[i] = directions[i / head * head + i % shape.Dk] + noise * off[i];
    normalise_rows(s.k, shape.Dk);
    s.w = s.k;
    return s;
  };
  for (const auto &[noise, T] : {std::pair{1e-2, 64}, {1e-4, 500}}) {
    const Shape shape{1, 2, T, 6, 4};
    const Sequence s = nearly_repeated(shape, noise);
    for (const Variant &variant : all_variants()) {
      const Params params = variant_params(variant);
      const Output reference = forward(variant, s, {"recurrent", Real::f64, 1, params});
      const double kappa = input_condition(variant, s, params, 2),
                   allowed = accumulated_terms(shape, 32) * epsilon_of(Real::f32) * kappa;
      for (const Form &form : variant.forms) {
        if (!form.exact) continue;
        const double error = deviation(forward(variant, s, {form.name, Real::f32, 32, params}), reference).largest();
        BOOST_TEST_INFO(variant.name << " " << form.name << " T=" << T << " noise " << noise << ": error " << error
                                     << ", allowed " << allowed << ", kappa " << kappa);
        if (variant.traits.stable && form.stable)
          BOOST_TEST((allowed < 1 && error <= allowed));
        else {
          double &worst = broken[variant.traits.stable ? variant.name + " " + form.name : variant.name];
          worst = std::max(worst, std::isfinite(error) ? error / allowed : INFINITY);
        }
      }
    }
  }
  for (const auto &[name, worst] : broken) {
    BOOST_TEST_INFO(name << " calls itself unstable, worst error " << worst << " times its bound");
    BOOST_TEST(worst > 10);
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
