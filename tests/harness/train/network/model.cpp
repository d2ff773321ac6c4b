// SPDX-License-Identifier: Apache-2.0
// The whole model's gradient compared with central differences of its loss, for every kind of part.
#include "harness/train/network/model.hpp"
#include "harness/numerics/random.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect::train {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(train_model)

Setup small(Assignments given) {
  given.insert({{"width", "8"}, {"heads", "2"}, {"ffn", "12"}, {"vocabulary", "16"}, {"pairs", "3"}, {"batch", "3"}});
  return resolve_setup(given);
}

Judged run(Model &model, const Numbers &parameters, const Texts &texts, Numbers *gradient = nullptr) {
  const Numbers none(parameters.size(), 0.0);
  model.set({parameters, none, none});
  const Judged judged = gradient ? model.differentiate(texts) : model.judge(texts);
  if (gradient) *gradient = model.gradient();
  return judged;
}

/// For every part of the parameters, along a random direction: differences of fourth order with h = 1e-3, whose error
/// is about 1e-10 of the loss's fifth derivative.
void against_differences(const Assignments &given) {
  const Setup setup = small(given);
  Model model(setup);
  const Texts texts = make_texts(setup.settings, 1, "train", 0);
  const Numbers start = model.weights().start(1);
  Numbers gradient;
  const Judged judged = run(model, start, texts, &gradient);
  BOOST_TEST((judged.asked == 9 && judged.loss == run(model, start, texts).loss));
  for (const auto &[name, part] : model.weights().parts()) {
    const Numbers direction = Stream(2, "model/" + name).normals(part.size);
    double slope = 0, length = 0;
    for (size_t i = 0; i < part.size; ++i)
      slope += gradient[part.offset + i] * direction[i], length += direction[i] * direction[i];
    const auto at = [&, offset = part.offset](double step) {
      Numbers moved = start;
      for (size_t i = 0; i < direction.size(); ++i) moved[offset + i] += step / std::sqrt(length) * direction[i];
      return run(model, moved, texts).loss;
    };
    const double h = 1e-3, difference = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
    slope /= std::sqrt(length);
    BOOST_TEST_INFO(given.begin()->second << " " << name << ": " << slope << ", differences " << difference);
    BOOST_TEST(std::fabs(slope - difference) <= 1e-7 * (1 + std::fabs(slope)));
    BOOST_TEST(slope != 0);
  }
}

BOOST_AUTO_TEST_CASE(gradients_of_every_part) {
  against_differences({{"mixer", "softmax"}, {"positions", "rope"}, {"convolution", "2"}, {"convolved", "all"}});
  against_differences({{"mixer", "linear_elu"}, {"convolution", "2"}, {"reads", "rms"}});
  against_differences({{"mixer", "delta_net"}, {"keys", "unit"}, {"positions", "none"}, {"convolution", "3"}});
  against_differences({{"mixer", "gated_delta_net"}, {"keys", "unit"}, {"positions", "rope"}});
  against_differences({{"mixer", "delta_product"}, {"keys", "unit"}, {"lookups", "unit"}, {"beta_below", "2"}});
  against_differences({{"mixer", "vla"}, {"layers", "1"}});
  against_differences({{"mixer", "vla_unnormalized"}, {"lookups", "keys"}, {"layers", "1"}});
  against_differences({{"mixer", "softmax"}, {"norm", "layer"}, {"head", "own"}});
  against_differences(
      {{"mixer", "delta_former"}, {"norm", "none"}, {"head", "own"}, {"delta_former.kappa2", "softmax"}});
  against_differences({{"mixer", "gated_linear"}, {"layers", "1"}, {"ffn", "0"}}); // by gradient()
  against_differences({{"mixer", "delta_former"},                                  // as in 000 E.4
                       {"layers", "1"},
                       {"heads", "4"},
                       {"kv_heads", "1"},
                       {"head_width", "3"},
                       {"biases", "all"},
                       {"gates", "numbers"},
                       {"delta_former.lookups", "shared"},
                       {"delta_former.kappa1", "exp"},
                       {"delta_former.kappa2", "softmax"},
                       {"delta_former.scale", "0.3"}});
  against_differences({{"mixer", "softmax"}, {"heads", "4"}, {"kv_heads", "2"}, {"head_width", "5"}});
  against_differences({{"mixer", "gated_linear"},
                       {"layers", "1"},
                       {"heads", "4"},
                       {"kv_heads", "2"},
                       {"head_width", "6"},
                       {"positions", "rope"},
                       {"reads", "rms"}});
}

BOOST_AUTO_TEST_CASE(numbers_are_gates_as_they_are) { // as gates that are the same for all tokens
  const Assignments base{{"mixer", "gated_delta_net"}, {"layers", "1"}};
  const auto loss = [&](const char *gates, double bias) {
    Assignments given = base;
    given["gates"] = gates;
    const Setup setup = small(given);
    Model model(setup);
    Numbers parameters(model.weights().size());
    for (const auto &[name, part] : model.weights().parts()) {
      const bool gate = name.rfind("0.alpha", 0) == 0 || name.rfind("0.beta", 0) == 0, biased = name.back() == 's';
      const Numbers numbers = Stream(3, "model/" + name).normals(part.size);
      for (size_t i = 0; i < part.size; ++i) parameters[part.offset + i] = gate ? (biased ? bias : 0) : numbers[i] / 4;
    }
    return run(model, parameters, make_texts(setup.settings, 1, "train", 0)).loss;
  };
  BOOST_TEST(std::fabs(loss("numbers", 0.75) - loss("tokens", std::log(3.0))) < 1e-12);
  BOOST_TEST(std::fabs(loss("numbers", -2) - loss("numbers", 0.75)) > 1e-6);
}

/// Single precision rounds sums of a hundred and more terms. The bound is 1e4 roundings of the largest number.
BOOST_AUTO_TEST_CASE(single_precision_is_the_same_model) {
  for (const char *mixer : {"softmax", "linear_elu", "gated_delta_net", "vla", "gated_linear"}) {
    const Assignments given{{"mixer", mixer}, {"keys", "unit"}, {"convolution", "2"}, {"positions", "rope"}};
    Assignments single = given;
    single["dtype"] = "f32";
    const Setup setup = small(given), other = small(single);
    Model exact(setup), rounded(other);
    const Texts texts = make_texts(setup.settings, 1, "train", 0);
    Numbers expected, found;
    const Numbers start = exact.weights().start(1);
    const Judged a = run(exact, start, texts, &expected), b = run(rounded, start, texts, &found);
    BOOST_TEST_INFO(mixer);
    BOOST_TEST((a.loss != b.loss && std::fabs(a.loss - b.loss) < 1e-5));
    check_close(found, expected, 1e4 * epsilon_of(Real::f32) * max_abs(expected));
    BOOST_TEST(std::fabs(b.gradient_square - inner(found, found)) <= 1e-12 * inner(found, found));
  }
}

BOOST_AUTO_TEST_CASE(without_a_mixer_nothing_is_mixed) {
  const Setup setup = small({{"mixer", "none"}, {"positions", "none"}});
  Model model(setup);
  Texts texts = make_texts(setup.settings, 1, "train", 0);
  const Numbers start = model.weights().start(1);
  const double loss = run(model, start, texts).loss;
  for (int text = 0; text < texts.count; ++text)
    for (int t = 0; t < 6; ++t) texts.tokens[size_t(text * 10 + t)] = t; // the pairs
  BOOST_TEST(run(model, start, texts).loss == loss);
}

BOOST_AUTO_TEST_CASE(uniform_answers_cost_the_logarithm_of_the_vocabulary) {
  const Setup setup = small({{"mixer", "linear"}});
  Model model(setup);
  Numbers start = model.weights().start(1);
  const Weights::Part &gain = model.weights().part("gain");
  std::fill_n(start.begin() + std::ptrdiff_t(gain.offset), gain.size, 0.0);
  const Judged judged = run(model, start, make_texts(setup.settings, 1, "train", 0));
  BOOST_TEST(std::fabs(judged.loss - std::log(16.0)) < 1e-12);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect::train
