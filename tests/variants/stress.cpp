// SPDX-License-Identifier: Apache-2.0
// Every layer that keeps a state, with inputs at the ends of their ranges: NaN and Inf are always reported, and no
// finite number is wrong. A pass is right within the bound of its condition number, or the bound promises no digit, or
// it reports where it diverged. STRESS_STEPS=1000000 in the environment produces the table of docs/accuracy.md.
#include "harness/call/divergence.hpp"
#include "harness/core/text.hpp"
#include "harness/numerics/random.hpp"
#include "tests/variants/every_form.hpp"
#include <cmath>
#include <cstdlib>
#include <map>

namespace recollect {
namespace {

int steps() {
  const char *given = std::getenv("STRESS_STEPS");
  return given ? std::atoi(given) : 150;
}

struct Extreme {
  std::string name;
  std::function<void(Sequence &)> make;
};

void scale_keys(Sequence &s, const std::function<double(int t, int j)> &factor) {
  for (size_t i = 0; i < s.k.size(); ++i) s.k[i] *= factor(int(i / s.shape.Dk), int(i % s.shape.Dk));
}

std::vector<Extreme> extremes() {
  std::vector<Extreme> all;
  for (double norm : {1e-30, 1e30})
    all.push_back({"keys of " + number(norm), [=](Sequence &s) { scale_keys(s, [=](int, int) { return norm; }); }});
  all.push_back({"keys of 1e-30 to 1e30", [](Sequence &s) {
                   const Stream draw(71, "stress/norms");
                   scale_keys(s, [=](int t, int) { return std::pow(10, 60 * draw.uniform(t) - 30); });
                 }});
  all.push_back({"keys of condition 1e12", [](Sequence &s) {
                   scale_keys(s, [=](int, int j) { return std::pow(10, -12.0 * j / (s.shape.Dk - 1)); });
                 }});
  for (double gate : {0.0, 1.0, 1e-300, 5e-324})
    all.push_back({"gates of " + number(gate), [=](Sequence &s) {
                     for (auto *gates : {&s.alpha, &s.lambda}) gates->assign(gates->size(), gate);
                   }});
  all.push_back({"gates of 0, 1, 1e-300 and 5e-324", [](Sequence &s) {
                   const double gates[] = {0, 1, 1e-300, 5e-324};
                   const Stream draw(72, "stress/gates");
                   for (size_t i = 0; i < s.alpha.size(); ++i) s.alpha[i] = gates[draw.below(i, 4)];
                   for (size_t i = 0; i < s.lambda.size(); ++i) s.lambda[i] = gates[draw.below(i, 4)];
                 }});
  for (double beta : {0.0, 2.0, 5.0})
    all.push_back({"beta of " + number(beta), [=](Sequence &s) { s.beta.assign(s.beta.size(), beta); }});
  return all;
}

/// Products of two channels of such keys underflow in float32, which the descriptor states.
bool declared(const Variant &variant, Real real, const Extreme &extreme) {
  return variant.name == "dpfp" && real == Real::f32 && extreme.name == "keys of 1e-30";
}

bool takes(const Variant &variant, const Params &params, const Sequence &s) {
  try {
    check_inputs(variant, s, params);
    return true;
  } catch (const std::exception &) {
    return false;
  }
}

} // namespace

BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(stress)

BOOST_AUTO_TEST_CASE(no_wrong_number_goes_unreported) {
  const Shape shape{1, 1, steps(), 4, 3};
  std::map<std::string, int> counts;
  for (const Extreme &extreme : extremes()) {
    Sequence s = random_sequence(shape, 73);
    extreme.make(s);
    s.w = s.k;
    for (const Variant &variant : all_variants()) {
      const Params params = variant_params(variant);
      if (variant.state_shape(shape, params).size() == 0) continue;
      if (!takes(variant, params, s)) {
        ++counts["refused"];
        continue;
      }
      const Output reference = forward(variant, s, {"recurrent", Real::f64, 1, params});
      const bool finite = divergence(reference, shape).empty();
      const double kappa = finite ? input_condition(variant, s, params) : HUGE_VAL;
      for (const Form &form : variant.forms)
        for (Real real : {Real::f32, Real::f64}) {
          const Run run{form.name, real, 64, params};
          Output out = forward(variant, s, run);
          const std::string note = settle(variant, s, run, out);
          const std::string name = variant.name + " " + form.name + " " + name_of(real) + ", " + extreme.name;
          if (!note.empty()) BOOST_TEST_MESSAGE(name << ": " << note);
          if (note.find("diverged") == 0) {
            ++counts["diverged"];
            continue;
          }
          const double error = deviation(out, reference).largest(),
                       allowed = accumulated_terms(shape, 64) * epsilon_of(real) * kappa;
          if (!form.exact) {
            ++counts["another layer"];
            BOOST_TEST(divergence(out, shape).empty());
            continue;
          }
          const bool promised =
              allowed < 1 && form.stable && variant.traits.stable && !declared(variant, real, extreme);
          ++counts[!promised ? "nothing promised" : note.empty() ? "right" : "right by the recurrent form"];
          BOOST_TEST_INFO(name << ": error " << error << ", allowed " << allowed << ", kappa " << kappa);
          const double terms = accumulated_terms(shape, 64);
          BOOST_TEST((!promised || within(out, reference, allowed, terms, real)));
        }
    }
  }
  for (const auto &[what, count] : counts) BOOST_TEST_MESSAGE(what << ": " << count);
  BOOST_TEST(counts["right"] > counts["diverged"] + counts["nothing promised"]);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
