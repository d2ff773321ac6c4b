// SPDX-License-Identifier: Apache-2.0
// Effects of writes on the memory: with strength zero, at a zero key, and repeatedly at one key. What a descriptor
// declares must hold in every form; what it does not declare must fail.
#include "tests/variants/every_form.hpp"
#include <algorithm>
#include <cmath>
#include <map>

namespace recollect {
namespace {

/// A sequence whose initial state is what `variant` stored in an earlier pass, with gates and steps of 1.
Sequence after_a_first_pass(const Variant &variant, const Params &params) {
  Sequence s = random_sequence(odd, 31);
  s.state = forward(variant, random_sequence(odd, 32), {"recurrent", Real::f64, 1, params}).state;
  for (auto *gates : {&s.beta, &s.alpha, &s.lambda}) std::fill(gates->begin(), gates->end(), 1.0);
  return s;
}

/// Compares the states before and after `change` is made to the writes: they must be equal if `keeps`, else differ.
template <class Change> void check_state(const char *what, bool (*keeps)(const Traits &), const Change &change) {
  every_form([&](const Variant &variant, const Params &params, const Form &form, Real real) {
    if (variant.state_shape(odd, params).size() == 0) return;
    Sequence s = after_a_first_pass(variant, params);
    if (!change(s, variant)) return;
    const Run run{form.name, real, 8, params};
    const double moved = deviation({{}, forward(variant, s, run).state, {}}, {{}, s.state, {}}).state;
    BOOST_TEST_INFO(label(variant, form, real) << " at " << what << ": the state moves by " << moved);
    BOOST_TEST((keeps(variant.traits) ? moved <= accumulated_terms(odd, 8) * epsilon_of(real) : moved > 1e-3));
  });
}

/// A closed form of the read after t values were written at one unit key.
struct Law {
  double (*read)(int t, double sum, double last, const Params &);
  bool inverts = false; // T k k^T + ridge I, of condition number 1 + T / ridge
};
const std::map<Repeats, Law> laws{
    {Repeats::sum, {[](int, double sum, double, const Params &) { return sum; }}},
    {Repeats::mean, {[](int t, double sum, double, const Params &) { return sum / t; }}},
    {Repeats::ridged_mean,
     {[](int t, double sum, double, const Params &p) { return sum / (t + p.real("ridge")); }, true}},
    {Repeats::last, {[](int, double, double last, const Params &) { return last; }}}};

/// One unit key at every step, gates and steps of 1, read at that key.
Sequence one_key(const Shape &shape) {
  Sequence s = random_sequence(shape, 33);
  const size_t head = size_t(shape.T) * shape.Dk;
  for (size_t i = 0; i < s.k.size(); ++i) s.k[i] = std::fabs(s.k[i / head * head + i % shape.Dk]);
  s.q = s.k, s.w.clear(); // positive, so that no feature map gives 0
  for (auto *gates : {&s.beta, &s.alpha, &s.lambda}) std::fill(gates->begin(), gates->end(), 1.0);
  return s;
}

bool requires_w(const Variant &variant) {
  return std::any_of(variant.inputs.begin(), variant.inputs.end(),
                     [](const Input &i) { return i.name == "w" && i.required; });
}

std::vector<double> by_law(const Law &law, const Sequence &s, const Params &params) {
  std::vector<double> expected(s.v.size());
  for (size_t head = 0; head < s.shape.heads(); ++head)
    for (int c = 0; c < s.shape.Dv; ++c) {
      double sum = 0;
      for (int t = 0; t < s.shape.T; ++t) {
        const size_t at = (head * s.shape.T + t) * s.shape.Dv + c;
        sum += s.v[at];
        expected[at] = law.read(t + 1, sum, s.v[at], params);
      }
    }
  return expected;
}

} // namespace

BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(writes)

BOOST_AUTO_TEST_CASE(of_strength_zero) {
  check_state(
      "beta = 0", [](const Traits &t) { return t.zero_step_keeps; },
      [](Sequence &s, const Variant &variant) {
        std::fill(s.beta.begin(), s.beta.end(), 0.0);
        return std::any_of(variant.inputs.begin(), variant.inputs.end(),
                           [](const Input &i) { return i.name == "beta"; });
      });
}

BOOST_AUTO_TEST_CASE(at_a_key_of_zero) {
  check_state(
      "keys of zero", [](const Traits &t) { return t.zero_key_keeps; },
      [](Sequence &s, const Variant &) {
        std::fill(s.k.begin(), s.k.end(), 0.0), s.w = s.k;
        return true;
      });
}

BOOST_AUTO_TEST_CASE(at_one_key_again_and_again_read_the_sum_the_mean_or_the_last_value) {
  for (int T : {1, 19}) {
    const Sequence without_w = one_key({1, 2, T, 5, 3});
    Sequence with_w = without_w;
    with_w.w = with_w.k;
    every_form(
        [&](const Variant &variant, const Params &params, const Form &form, Real real) {
          if (!form.stable) return;
          const Sequence &s = requires_w(variant) ? with_w : without_w;
          const std::vector<double> o = forward(variant, s, {form.name, real, 8, params}).o;
          for (const auto &[repeats, law] : laws) {
            if (law.inverts && !params.has("ridge")) continue;
            const std::vector<double> expected = by_law(law, s, params);
            const double cond = law.inverts ? 1 + T / params.real("ridge") : 1;
            const double allowed = cond * bound(variant, params, s, real),
                         error = max_difference(o, expected) / max_abs(expected);
            BOOST_TEST_INFO(label(variant, form, real) << " T=" << T << ", " << name_of(repeats) << ": error " << error
                                                       << ", allowed " << allowed);
            if (variant.traits.repeats == repeats)
              BOOST_TEST((allowed < 1 && error <= allowed));
            else if (T > 1 && real == Real::f64)
              BOOST_TEST(error > 1e-6);
          }
        },
        false);
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
