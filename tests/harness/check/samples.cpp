// SPDX-License-Identifier: Apache-2.0
#include "harness/check/samples.hpp"
#include "harness/core/error.hpp"
#include "tests/testing.hpp"
#include <algorithm>
#include <cmath>
#include <map>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(samples)

const Shape shape{1, 2, 64, 8, 4};
Sequence of(const std::string &variant, const std::string &kind) {
  return sample(find_variant(variant), shape, kind, 3);
}
double norm_of_row(const std::vector<double> &x, size_t row) { return std::sqrt(inner(&x[row * 8], &x[row * 8], 8)); }

BOOST_AUTO_TEST_CASE(a_variant_gets_what_it_takes_and_nothing_else) {
  const Sequence linear = of("linear", "random"), gated = of("gated_delta_net", "random");
  BOOST_TEST((linear.alpha.empty() && linear.beta.empty() && linear.lambda.empty() && linear.w.empty()));
  BOOST_TEST((gated.alpha.size() == 128 && gated.beta.size() == 128 && gated.lambda.empty()));
  BOOST_TEST((gated.k == of("gated_delta_net", "random").k)); // same seed, same bits
  BOOST_TEST((gated.k != sample(find_variant("gated_delta_net"), shape, "random", 4).k));
}

BOOST_AUTO_TEST_CASE(random_gates_and_steps_have_the_whole_range) {
  const Sequence s = sample(find_variant("gated_delta_net"), {1, 2, 1000, 8, 4}, "random", 3);
  const auto [low, high] = std::minmax_element(s.alpha.begin(), s.alpha.end());
  BOOST_TEST((*low < 0.05 && *high > 0.999 && *high < 1));
  BOOST_TEST(*std::min_element(s.beta.begin(), s.beta.end()) < 0.01);
  BOOST_TEST(*std::max_element(s.beta.begin(), s.beta.end()) > 0.99);
}

BOOST_AUTO_TEST_CASE(each_kind_is_what_it_says) {
  BOOST_TEST(std::fabs(norm_of_row(of("linear", "random").k, 5) - 1) < 1e-12);
  BOOST_TEST(of("linear", "odd-length").shape.T == 63);
  BOOST_TEST(of("linear", "ragged").k == of("linear", "odd-length").k); // its old name
  BOOST_TEST(of("linear", "long").shape.T == 1024);
  const Sequence repeated = of("linear", "repeated-keys");
  BOOST_TEST(inner(&repeated.k[0], &repeated.k[8 * 40], 8) > 0.99);
  double square = 0;
  const Sequence loud = of("linear", "large-norm");
  for (size_t row = 0; row < 128; ++row) square += norm_of_row(loud.k, row) * norm_of_row(loud.k, row) / 128;
  BOOST_TEST(std::fabs(square - 8) < 6.47 * std::sqrt(2 * 8 / 128.0)); // chi^2 of 8 channels
  const Sequence tiny = of("gated_delta_net", "tiny-gates");
  BOOST_TEST(*std::min_element(tiny.alpha.begin(), tiny.alpha.end()) < 1e-4);
  for (size_t i = 0; i < tiny.alpha.size(); ++i)
    if (i % 4) BOOST_TEST(tiny.alpha[i] >= 0.9);
  const std::vector<double> lambda = of("gated_linear", "tiny-gates").lambda; // [128,8]
  double decades = 0;
  for (size_t step = 0; step < 128; step += 4)
    for (size_t i = 8 * step; i < 8 * (step + 1); ++i) {
      BOOST_TEST((lambda[i] >= 1e-6 && lambda[i] <= 1));
      decades += std::log10(lambda[i]) / 256;
    }
  BOOST_TEST(std::fabs(decades + 3) < 6.47 * std::sqrt(36 / 12.0 / 256)); // uniform in the logarithm, from -6 to 0
}

BOOST_AUTO_TEST_CASE(exact_gates_are_0_and_1) {
  const Sequence s = sample(find_variant("gated_delta_net"), {2, 3, 130, 8, 4}, "exact-gates", 3);
  const size_t ones = size_t(std::count(s.alpha.begin(), s.alpha.end(), 1.0));
  BOOST_TEST((ones > 390 - 100 && ones < 390 + 100)); // 390 is half of the 780 numbers
  for (size_t head = 0; head < 6; ++head) BOOST_TEST(s.alpha[head * 130 + 63 + head % 3] == 0);
  BOOST_TEST(std::count(s.alpha.begin(), s.alpha.end(), 0.0) > 6);
  const Sequence positive = sample(find_variant("weighted_rls"), {2, 3, 130, 8, 4}, "exact-gates", 3);
  BOOST_TEST(*std::min_element(positive.alpha.begin(), positive.alpha.end()) > 0); // this layer needs positive gates
}

BOOST_AUTO_TEST_CASE(strong_decay_underflows_in_every_chunk) {
  const Sequence s = sample(find_variant("gated_delta_net"), {1, 2, 192, 8, 4}, "strong-decay", 3);
  for (size_t head : {0, 1})
    for (size_t chunk = 0; chunk < 3; ++chunk) {
      double sum = 0;
      for (size_t t = 0; t < 64; ++t) sum += std::log(s.alpha[head * 192 + chunk * 64 + t]);
      BOOST_TEST(sum < -88);
    }
}

BOOST_AUTO_TEST_CASE(rates_of_decay_go_from_0_to_16) {
  const Sequence s = sample(find_variant("gated_delta_net"), {2, 3, 50, 8, 4}, "decay-rates", 3);
  double last = -1;
  for (size_t head = 0; head < 6; ++head) {
    double mean = 0;
    for (size_t t = 0; t < 50; ++t)
      if (t / 4 % 4 != 1) mean -= std::log(s.alpha[head * 50 + t]) / 38; // the others decay slowly
    const double rate = 16 * std::pow(double(head) / 5, 2);
    BOOST_TEST(std::fabs(mean - 0.75 * rate) <= 0.25 * rate);
    BOOST_TEST(mean > last);
    last = mean;
  }
}

BOOST_AUTO_TEST_CASE(norms_of_keys_and_steps_at_the_ends) {
  const Sequence norms = of("linear", "key-norms"), ends = of("rwkv7", "beta-0-2");
  std::map<double, int> found;
  for (size_t row = 64; row < 128; ++row) ++found[std::round(1e3 * norm_of_row(norms.k, row)) / 1e3]; // the second head
  BOOST_TEST((found == std::map<double, int>{{0, 8}, {0.001, 8}, {1, 40}, {1000, 8}}));
  BOOST_TEST((std::count(ends.beta.begin(), ends.beta.end(), 0.0) > 0));
  BOOST_TEST((std::count(ends.beta.begin(), ends.beta.end(), 2.0) > 0));
  double least = 9, most = 0;
  for (size_t row = 0; row < 128; ++row)
    least = std::min(least, norm_of_row(ends.w, row)), most = std::max(most, norm_of_row(ends.w, row));
  BOOST_TEST((least >= 0.25 && least < 0.5 && most > 1.2 && most < 1.4 + 1e-9));
}

/// beta |k|^2 at most 2: every Householder-like factor keeps the state's size.
BOOST_AUTO_TEST_CASE(a_layer_that_erases_stays_stable) {
  for (const char *kind : {"large-norm", "key-norms", "beta-0-2"})
    for (const char *name : {"delta_net", "gated_delta_net", "delta_product", "delta_momentum", "longhorn"}) {
      const Variant &v = find_variant(name);
      Sequence s = sample(v, {1, 2, 256, 8, 4}, kind, 3);
      for (size_t row = 0; row < s.beta.size(); ++row)
        BOOST_TEST(s.beta[row] * std::pow(norm_of_row(s.k, row), 2) <= 2 + 1e-9);
      const Output out = forward(v, s, {"recurrent", Real::f64, 1, variant_params(v)});
      BOOST_TEST(max_abs(out.o) < 1e8, name << " " << kind << ": " << max_abs(out.o));
    }
}

/// delta_momentum has no step size to reduce: its state grows like (1 - |k|^2)^t.
BOOST_AUTO_TEST_CASE(what_a_layer_cannot_take_is_toned_down_and_said) {
  Recipe recipe;
  recipe.keys = Recipe::gaussian;
  const Variant &v = find_variant("delta_momentum");
  const Drawn drawn = draw_stable(v, {1, 2, 128, 8, 4}, variant_params(v), recipe, 3);
  BOOST_TEST((drawn.stable && drawn.toned_down == "keys are unit"), drawn.toned_down);
  BOOST_TEST(std::fabs(norm_of_row(drawn.inputs.k, 7) - 1) < 1e-12);
  const Variant &stable = find_variant("delta_net");
  BOOST_TEST(draw_stable(stable, {1, 2, 128, 8, 4}, variant_params(stable), recipe, 3).toned_down == "");
}

/// It contains the number of steps since the last refresh, so not every number is valid.
BOOST_AUTO_TEST_CASE(a_state_is_one_that_the_layer_can_have) {
  const Variant &v = find_variant("vla");
  const std::vector<double> state = plausible_state(v, {1, 1, 4, 3, 2}, variant_params(v), 1);
  BOOST_TEST(state.size() == (2 + 3 + 1 + 1) * 3u);
  BOOST_TEST(state[(2 + 3 + 1) * 3] == 12);
  BOOST_TEST(plausible_state(find_variant("softmax"), shape, variant_params(find_variant("softmax")), 1).empty());
}

BOOST_AUTO_TEST_CASE(every_variant_takes_every_kind) {
  for (const Variant &v : all_variants())
    for (const SampleKind &kind : sample_kinds()) {
      if (kind.name == "long") continue; // the same inputs, sixteen times as long
      const Sequence s = sample(v, {1, 1, 9, 8, 8}, kind.name, 1);
      BOOST_CHECK_NO_THROW(check_inputs(v, s, variant_params(v)));
    }
}

BOOST_AUTO_TEST_CASE(an_unknown_kind_is_a_usage_error) { BOOST_CHECK_THROW(of("linear", "randon"), Error); }

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
