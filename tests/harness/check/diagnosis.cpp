// SPDX-License-Identifier: Apache-2.0
// tests/files/test_check.py makes the mistakes in NumPy; here the list itself.
#include "harness/check/diagnosis.hpp"
#include "harness/check/samples.hpp"
#include "tests/testing.hpp"
#include <cmath>
#include <set>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(diagnoses)

std::set<std::string> names_for(const std::string &variant, const Shape &shape) {
  const Variant &v = find_variant(variant);
  std::set<std::string> names;
  for (const Mistake &m : likely_mistakes(v, sample(v, shape, "random", 1), variant_params(v)))
    BOOST_TEST(names.insert(m.name).second, m.name);
  return names;
}

BOOST_AUTO_TEST_CASE(only_mistakes_that_the_layer_allows_are_listed) {
  const std::set<std::string> linear = names_for("linear", {1, 2, 20, 4, 4}),
                              gated = names_for("gated_delta_net", {1, 2, 20, 4, 4});
  for (const char *about : {"beta is not applied", "alpha is not applied", "alpha is one step late"})
    BOOST_TEST((gated.count(about) == 1 && linear.count(about) == 0), about);
}

BOOST_AUTO_TEST_CASE(every_mistake_makes_a_difference) {
  for (const char *name : {"linear", "delta_net", "gated_delta_net", "softmax", "rwkv7"}) {
    const Variant &v = find_variant(name);
    const Sequence s = sample(v, {1, 2, 20, 4, 4}, "random", 1);
    const Output right = forward(v, s, {"recurrent", Real::f64, 1, variant_params(v)});
    for (const Mistake &m : likely_mistakes(v, s, variant_params(v))) {
      const Output wrong = m.make();
      const bool same = wrong.o.size() == right.o.size() && max_difference(wrong.o, right.o) < 1e-9 &&
                        wrong.state.size() == right.state.size() && max_difference(wrong.state, right.state) < 1e-9;
      BOOST_TEST(!same, name << ": " << m.name);
    }
  }
}

/// What `layer` gives when that mistake is made.
std::vector<double> made(const std::string &layer, const Sequence &s, const std::string &mistake) {
  const Variant &v = find_variant(layer);
  for (const Mistake &m : likely_mistakes(v, s, variant_params(v)))
    if (m.name.rfind(mistake, 0) == 0) return m.make().o;
  BOOST_TEST_REQUIRE(false, "no mistake called " << mistake);
  return {};
}

/// The gated delta rule on numbers: S_t = a_t S_{t-1} (1 - b_t k_t^2) + b_t v_t k_t.
struct Gated {
  std::vector<double> q{3, 5}, k{0.5, 0.75}, v{2, 7}, beta{0.5, 0.25}, alpha{0.5, 0.125};
  double start = 4;

  std::vector<double> states() const {
    const auto next = [&](double S, size_t t) {
      return alpha[t] * S * (1 - beta[t] * k[t] * k[t]) + beta[t] * v[t] * k[t];
    };
    const double first = next(start, 0);
    return {first, next(first, 1)};
  }
  std::vector<double> reads() const { return {q[0] * states()[0], q[1] * states()[1]}; }
  Sequence sequence() const {
    Sequence s = one_head(2, q, k, v);
    s.beta = beta, s.alpha = alpha, s.state = {start};
    return s;
  }
};

BOOST_AUTO_TEST_CASE(gates_and_order_by_hand) {
  const Gated right;
  const auto is = [&](const std::string &mistake, const std::vector<double> &expected) {
    BOOST_TEST_INFO(mistake);
    check_close(made("gated_delta_net", right.sequence(), mistake), expected, 1e-14);
  };
  const auto changed = [&](auto change) {
    Gated wrong = right;
    for (size_t t : {0, 1}) change(wrong, t);
    return wrong.reads();
  };
  is("beta is not applied", changed([](Gated &x, size_t t) { x.beta[t] = 1; }));
  is("beta is applied twice", changed([](Gated &x, size_t t) { x.beta[t] *= x.beta[t]; }));
  is("beta is passed", changed([](Gated &x, size_t t) { x.beta[t] = 1 / (1 + std::exp(-x.beta[t])); }));
  is("alpha is not applied", changed([](Gated &x, size_t t) { x.alpha[t] = 1; }));
  is("alpha is applied twice", changed([](Gated &x, size_t t) { x.alpha[t] *= x.alpha[t]; }));
  is("alpha is taken for", changed([](Gated &x, size_t t) { x.alpha[t] = std::exp(x.alpha[t]); }));
  is("alpha's logarithm", changed([](Gated &x, size_t t) { x.alpha[t] = std::log(x.alpha[t]); }));
  is("alpha is one step late", changed([&](Gated &x, size_t t) { x.alpha[t] = t ? right.alpha[0] : 1; }));
  is("alpha also decays", changed([](Gated &x, size_t t) { x.v[t] *= x.alpha[t]; }));
  is("the initial state is ignored", changed([](Gated &x, size_t) { x.start = 0; }));
  is("queries and keys are exchanged", changed([&](Gated &x, size_t) { x.q = right.k, x.k = right.q; }));
  is("the state is transposed", changed([&](Gated &x, size_t) { x.k = right.v, x.v = right.k; }));
  const std::vector<double> S = right.states();
  is("the mask is off by one", {right.q[0] * S[1], right.q[1] * S[1]});
  Gated fresh;
  fresh.start = 0;
  check_close(made("gated_delta_net", fresh.sequence(), "it reads before"), {0, fresh.q[1] * fresh.states()[0]}, 1e-14);
}

BOOST_AUTO_TEST_CASE(layouts_scales_and_chunks_by_hand) {
  // Two heads of three steps: S_t sums v k.
  Sequence s = random_sequence({1, 2, 3, 1, 1}, 1);
  const auto sums = [&](auto at) { // at(head, step): where an element lies
    std::vector<double> o(6);
    for (int h = 0; h < 2; ++h) {
      double S = 0;
      for (int t = 0; t < 3; ++t) S += s.v[at(h, t)] * s.k[at(h, t)], o[at(h, t)] = S * s.q[at(h, t)];
    }
    return o;
  };
  const std::vector<double> right = sums([](int h, int t) { return h * 3 + t; });
  check_close(made("linear", s, "tensors are taken for"), sums([](int h, int t) { return t * 2 + h; }), 1e-15);
  check_close(made("linear", s, "the output is laid out"), {right[0], right[3], right[1], right[4], right[2], right[5]},
              1e-15);
  s = random_sequence({1, 1, 5, 4, 2}, 2);
  const std::vector<double> o = forward(find_variant("linear"), s).o;
  std::vector<double> twice = o, half = o;
  for (size_t i = 0; i < o.size(); ++i) twice[i] *= 2, half[i] /= 2; // sqrt(Dk) = 2
  check_close(made("linear", s, "the scale is missing"), twice, 1e-14);
  check_close(made("linear", s, "the scale 1/sqrt(Dk)"), half, 1e-14);
  const std::vector<double> ones(40, 1),
      counts = made("linear", one_head(40, ones, ones, ones), "the state is not handed over between chunks of 16");
  for (int t = 0; t < 40; ++t) BOOST_TEST(counts[size_t(t)] == t % 16 + 1);
}

BOOST_AUTO_TEST_CASE(bfloat16_keeps_eight_digits_and_rounds_to_even) {
  for (const auto &[x, rounded] :
       {std::pair{1 + 0x1p-9, 1.0}, {1 + 0x1p-8, 1.0}, {1 + 0x3p-8, 1 + 0x1p-6}, {-3.0, -3.0}})
    BOOST_TEST(made("linear", one_head(1, {x}, {1}, {1}), "the inputs are rounded").at(0) == rounded);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
