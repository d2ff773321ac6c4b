// SPDX-License-Identifier: Apache-2.0
// Every parameter and optional input that the layers promise: listed, with a default, and it changes what is computed.
#include "harness/core/error.hpp"
#include "tests/testing.hpp"

namespace recollect {
namespace {

struct Setting {
  const char *layer, *name, *value;
  Assignments beside = {}; // other settings, without which this one has no effect
  const char *form = "recurrent";
};

const std::vector<Setting> settings{{"rls", "ridge", "1"},
                                    {"weighted_rls", "ridge", "1"},
                                    {"mesa", "ridge", "1"},
                                    {"intention", "ridge", "1"},
                                    {"kernel_regression", "ridge", "1"},
                                    {"kernel_regression", "scale", "2"},
                                    {"longhorn", "delta", "3"},
                                    {"vla", "lambda0", "1"},
                                    {"vla", "refresh", "7"},
                                    {"vla_unnormalized", "lambda0", "1"},
                                    {"vla_unnormalized", "refresh", "7"},
                                    {"delta_product", "householder", "3"},
                                    {"delta_momentum", "eta", "0.5"},
                                    {"retnet", "gamma", "0.5"},
                                    {"linear", "scale", "2"},
                                    {"softmax", "scale", "2"},
                                    {"softmax_qknorm", "scale", "2"},
                                    {"gated_softmax", "scale", "2"},
                                    {"relu_kernel", "scale", "2"},
                                    {"moba", "scale", "2"},
                                    {"based", "scale", "2"},
                                    {"performer", "scale", "2"},
                                    {"random_feature", "scale", "2"},
                                    {"exp_unnormalized", "scale", "2"},
                                    {"exp_unnormalized", "tau", "2"},
                                    {"solu", "scale", "2"},
                                    {"solu", "tau", "2"},
                                    {"delta_softmax", "scale", "2"},
                                    {"delta_softmax", "tau", "2"},
                                    {"delta_former", "scale", "2"},
                                    {"delta_former", "tau", "2", {{"kappa2", "exp"}}},
                                    {"delta_former", "kappa1", "softmax"},
                                    {"delta_former", "kappa2", "softmax"},
                                    {"delta_former", "groups", "2", {{"kappa1", "exp"}, {"tau", "4"}}},
                                    {"moba", "block", "3"},
                                    {"moba", "topk", "3"},
                                    {"ffn_moe", "block", "3"},
                                    {"ffn_moe", "topk", "2"},
                                    {"performer", "features", "9"},
                                    {"performer", "seed", "2"},
                                    {"random_feature", "features", "9"},
                                    {"random_feature", "seed", "2"},
                                    {"dijiang", "seed", "2"},
                                    {"ttt_linear", "lr", "0.1"},
                                    {"ttt_linear", "minibatch", "4", {}, "minibatch"},
                                    {"ttt_mlp", "lr", "0.1"},
                                    {"ttt_mlp", "width", "3"},
                                    {"ttt_mlp", "minibatch", "4", {}, "minibatch"},
                                    {"titans", "lr", "0.01"},
                                    {"titans", "width", "3"},
                                    {"titans", "minibatch", "4", {}, "minibatch"}};

} // namespace

BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(parameters)

BOOST_AUTO_TEST_CASE(are_listed_and_take_effect) {
  const Sequence s = random_sequence({1, 2, 29, 5, 3}, 61);
  for (const Setting &setting : settings) {
    BOOST_TEST_INFO(setting.layer << "." << setting.name);
    const Variant &variant = find_variant(setting.layer);
    BOOST_TEST_REQUIRE(variant_params(variant).has(setting.name)); // with a default: nothing was given
    Assignments given = setting.beside;
    const Output before = forward(variant, s, {setting.form, Real::f64, 8, variant_params(variant, given)});
    given[setting.name] = setting.value;
    const Output after = forward(variant, s, {setting.form, Real::f64, 8, variant_params(variant, given)});
    BOOST_TEST_INFO(setting.layer << "." << setting.name << "=" << setting.value << " moves the outputs by "
                                  << max_difference(after.o, before.o));
    BOOST_TEST(max_difference(after.o, before.o) > 1e-6 * max_abs(before.o));
  }
}

BOOST_AUTO_TEST_CASE(every_optional_input_takes_effect_and_has_its_neutral_value) {
  for (const Variant &variant : all_variants())
    for (const Input &input : variant.inputs) {
      const Sequence given = random_sequence({1, 2, 29, 5, 3}, 62);
      Sequence absent = given, neutral = given;
      auto &removed = input.name == "beta"     ? absent.beta
                      : input.name == "alpha"  ? absent.alpha
                      : input.name == "lambda" ? absent.lambda
                                               : absent.w;
      auto &filled = input.name == "beta"     ? neutral.beta
                     : input.name == "alpha"  ? neutral.alpha
                     : input.name == "lambda" ? neutral.lambda
                                              : neutral.w;
      BOOST_TEST_INFO(variant.name << "." << input.name);
      filled = input.name == "w" ? given.k : std::vector<double>(filled.size(), 1.0);
      const Output with = forward(variant, given), without = forward(variant, neutral);
      BOOST_TEST(max_difference(with.o, without.o) > 1e-6 * max_abs(with.o));
      removed.clear();
      if (input.required) {
        BOOST_CHECK_THROW(forward(variant, absent), Error);
        continue;
      }
      // Where w is no key, it says what takes its place: no phase, the parameter u, no part of the step.
      if (input.name == "w" && (variant.name == "gateloop" || variant.name == "rwkv6" || variant.name == "mamba"))
        continue;
      BOOST_TEST_INFO(variant.name << " without " << input.name);
      check_close(forward(variant, absent).o, without.o, 0);
    }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
