// SPDX-License-Identifier: Apache-2.0
// Inputs near the ends of the types' ranges, where the exact answer is an ordinary number.
#include "harness/call/divergence.hpp"
#include "harness/core/error.hpp"
#include "harness/core/text.hpp"
#include "harness/device/backend.hpp"
#include "harness/numerics/random.hpp"
#include "tests/variants/every_form.hpp"
#include <algorithm>
#include <cmath>

namespace recollect {
namespace {

void scale(std::vector<double> &values, double factor) {
  for (double &x : values) x *= factor;
}

/// Compares `form` in `real` with the float64 definition, within the bound of its condition number if that promises
/// three digits.
void check_against_definition(const Variant &variant, const Sequence &s, const Params &params, const char *what) {
  const Output reference = forward(variant, s, {"recurrent", Real::f64, 1, params});
  const double kappa = input_condition(variant, s, params, 2);
  for (const Form &form : variant.forms)
    for (Real real : {Real::f32, Real::f64}) {
      if (!form.exact) continue;
      const double error = deviation(forward(variant, s, {form.name, real, 16, params}), reference).largest(),
                   allowed = accumulated_terms(s.shape, 16) * epsilon_of(real) * kappa;
      BOOST_TEST_INFO(label(variant, form, real) << ", " << what << ": error " << error << ", allowed " << allowed);
      BOOST_TEST((error <= allowed && (real == Real::f32 || allowed < 1e-3)));
    }
}

/// Checks every form and type of `variant`. The output must be finite wherever that of the recurrent form in the same
/// type is; if a form needs the recurrent form's result for that, it must report it. Matrices that the type does not
/// resolve must be reported as well. Wherever the bound of the condition number promises a digit, the output must be
/// within that bound of the float64 definition. Returns the number of such passes.
int check_extreme(const Variant &variant, const Sequence &s, const Params &params, const std::string &what) {
  const Output reference = forward(variant, s, {"recurrent", Real::f64, 1, params});
  const double terms = accumulated_terms(s.shape, 16),
               kappa = divergence(reference, s.shape).empty() ? input_condition(variant, s, params, 2) : HUGE_VAL;
  int promised = 0;
  for (const Form &form : variant.forms)
    for (Real real : {Real::f32, Real::f64}) {
      if (!form.exact) continue;
      const Run run{form.name, real, 16, params};
      Output out = forward(variant, s, run);
      const std::string recurrent = divergence(forward(variant, s, {"recurrent", real, 16, params}), s.shape),
                        before = divergence(out, s.shape), said = settle(variant, s, run, out);
      const double allowed = terms * epsilon_of(real) * kappa;
      const bool promises = allowed < 1 && form.stable && variant.traits.stable;
      promised += promises;
      BOOST_TEST_INFO(label(variant, form, real) << ", " << what << ": error " << deviation(out, reference).largest()
                                                 << ", allowed " << allowed << ", first " << before);
      if (recurrent.empty()) BOOST_TEST(divergence(out, s.shape).empty());
      BOOST_TEST((before.empty() ? said == unresolved(variant, s, run) : !said.empty()));
      if (promises) BOOST_TEST((before.empty() && within(out, reference, allowed, terms, real)));
    }
  return promised;
}

/// The same tensors with `gate` as every decay factor, or at one step in seven, and with that also for beta.
std::vector<Sequence> forgetting(const Sequence &s, double gate) {
  const Stream draw(62, "ranges/gates");
  std::vector<Sequence> all(3, s);
  for (int i = 0; i < 3; ++i)
    for (std::vector<double> *gates : {&all[i].alpha, &all[i].lambda})
      for (size_t at = 0; at < gates->size(); ++at) (*gates)[at] = i == 1 && draw.below(at, 7) ? 1 : gate;
  all[2].beta.assign(s.beta.size(), gate);
  return all;
}

} // namespace

BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(ranges)

BOOST_AUTO_TEST_CASE(gates_that_forget_at_once) {
  const Sequence s = random_sequence({1, 2, 200, 5, 3}, 61);
  int promised = 0, layers = 0;
  for (const Variant &variant : all_variants()) {
    const auto gated = [](const Input &input) { return facts_of(input.tensor()).decay || input.name == "beta"; };
    if (std::none_of(variant.inputs.begin(), variant.inputs.end(), gated)) continue;
    ++layers;
    for (double gate : {1e-20, 1e-3})
      for (const Sequence &extreme : forgetting(s, gate))
        promised += check_extreme(variant, extreme, variant_params(variant), "gates of " + number(gate));
  }
  BOOST_TEST(promised > 20 * layers); // of 24 or more passes: two forms, two types, six sequences
}

// weighted_rls: of the last Dk keys the newest has the weight 1 and the oldest alpha^(Dk - 1); with Dk = 2 the matrix
// can be inverted.
BOOST_AUTO_TEST_CASE(regressions_that_forget_at_once) {
  const Variant &variant = find_variant("weighted_rls");
  for (int Dk : {1, 2}) {
    Sequence s = random_sequence({1, 2, 200, Dk, 3}, 63);
    s.alpha.assign(s.alpha.size(), 1e-3);
    const Params params = variant_params(variant);
    check_extreme(variant, s, params, "alpha of 1e-3");
    const double allowed = accumulated_terms(s.shape, 16) * epsilon_of(Real::f64) * input_condition(variant, s, params);
    const Output reference = forward(variant, s, {"recurrent", Real::f64, 1, params}),
                 chunked = forward(variant, s, {"chunked", Real::f64, 16, params});
    BOOST_TEST_INFO(Dk << " channels: error " << deviation(chunked, reference).largest() << ", allowed " << allowed);
    BOOST_TEST((allowed < 1e-2 && deviation(chunked, reference).largest() <= allowed));
  }
}

// With as many keys as channels a ridge of 1e-12 is negligible, and reads are as well conditioned as with the default
// ridge. A recursion for the inverse (rls, weighted_rls) cannot recover what it lost at earlier steps.
BOOST_AUTO_TEST_CASE(regressions_with_hardly_a_ridge) {
  const Shape n{1, 2, 200, 5, 3};
  Sequence s = random_sequence(n, 61);
  for (const char *name : {"mesa", "intention", "rls", "weighted_rls"}) {
    const Variant &variant = find_variant(name);
    const Params params = variant_params(variant, {{"ridge", "1e-12"}});
    check_extreme(variant, s, params, "ridge of 1e-12");
    if (variant.initial_state) continue; // P
    const std::vector<double> reference = forward(variant, s, {"recurrent", Real::f64, 1, params}).o;
    const auto late = [&](const std::vector<double> &o) {
      std::vector<double> rows;
      for (size_t i = 0; i < o.size(); ++i)
        if (int(i / n.Dv % n.T) >= 4 * n.Dk) rows.push_back(o[i]);
      return rows;
    };
    for (const Form &form : variant.forms)
      for (Real real : {Real::f32, Real::f64}) {
        BOOST_TEST_INFO(label(variant, form, real));
        check_close(late(forward(variant, s, {form.name, real, 16, params}).o), late(reference),
                    bound(variant, variant_params(variant), s, real) * max_abs(late(reference)));
      }
  }
}

// Extreme weights of pairs: nearly hard, of either sign, and writes that are not erased, erased, or reversed.
BOOST_AUTO_TEST_CASE(delta_former_at_its_ends) {
  const Variant &variant = find_variant("delta_former");
  int promised = 0;
  for (const char *kind : {"softmax", "exp", "linear", "round", "relu"})
    for (const char *tau : {"1", "1e-3"})
      for (double beta : {0.0, 1.0, 2.0}) {
        Sequence s = random_sequence({1, 2, 100, 5, 3}, 64);
        s.beta.assign(s.beta.size(), beta);
        const Params params = variant_params(variant, {{"kappa1", kind}, {"kappa2", kind}, {"tau", tau}});
        promised += check_extreme(variant, s, params, std::string(kind) + ", tau " + tau + ", beta " + number(beta));
      }
  BOOST_TEST(promised > 50);
}

BOOST_AUTO_TEST_CASE(exponential_features_of_any_size) {
  for (const char *name : {"performer", "hedgehog", "dijiang"})
    for (double size : {5.0, 20.0, 300.0}) {
      Sequence s = random_sequence({1, 2, 60, 6, 4}, 51);
      scale(s.q, size), scale(s.k, size);
      check_against_definition(find_variant(name), s, variant_params(find_variant(name)), "large keys and queries");
    }
}

// hedgehog's weights have a closed form: 2 sum_j cosh(q_j + k_j). Logarithms of them cannot overflow.
BOOST_AUTO_TEST_CASE(hedgehog_is_its_kernel_where_features_leave_the_range) {
  const Shape n{1, 1, 40, 4, 3};
  for (double size : {1.0, 30.0, 2000.0}) {
    Sequence s = random_sequence(n, 52);
    scale(s.q, size), scale(s.k, -size);
    std::vector<double> expected;
    for (int t = 0; t < n.T; ++t) {
      std::vector<double> logs;
      for (int i = 0; i <= t; ++i)
        for (int j = 0; j < n.Dk; ++j) {
          const double sum = s.q[t * n.Dk + j] + s.k[i * n.Dk + j];
          logs.push_back(std::fabs(sum) + std::log1p(std::exp(-2 * std::fabs(sum))));
        }
      double most = 0, mass = 0;
      for (double x : logs) most = std::max(most, x);
      std::vector<double> read(n.Dv);
      for (size_t e = 0; e < logs.size(); ++e) {
        const double weight = std::exp(logs[e] - most);
        mass += weight;
        for (int c = 0; c < n.Dv; ++c) read[c] += weight * s.v[e / n.Dk * n.Dv + c];
      }
      for (double x : read) expected.push_back(x / mass);
    }
    const Variant &variant = find_variant("hedgehog");
    const double kappa = input_condition(variant, s, {});
    for (const char *form : {"recurrent", "chunked"}) // an exponent of size |x| is rounded by |x| eps
      check_close(forward(variant, s, {form, Real::f64, 8, {}}).o, expected,
                  (accumulated_terms(n, 8) * kappa + 16 * size) * epsilon_of(Real::f64) * max_abs(expected));
  }
}

BOOST_AUTO_TEST_CASE(performer_reads_raw_normal_keys_in_float32) {
  for (int D : {64, 192, 256}) {
    Sequence s = random_sequence({1, 1, 50, D, 4}, 53, Keys::gaussian);
    s.q = Stream(54, "test/queries").normals(s.q.size());
    const Variant &variant = find_variant("performer");
    const Params params = variant_params(variant);
    check_against_definition(variant, s, params, "raw normal keys");
    const std::vector<double> o = forward(variant, s, {"chunked", Real::f32, 16, params}).o;
    BOOST_TEST(std::count(o.begin(), o.end(), 0.0) == 0);
  }
}

// Powers of two change no digit. Results that depend only on the direction of a key, or are proportional to its length,
// are the same bit for bit as long as no length is squared.
BOOST_AUTO_TEST_CASE(lengths_of_keys_may_lie_anywhere) {
  const Shape n{1, 2, 30, 5, 3};
  for (const char *name : {"nlms", "longhorn", "softmax_qknorm", "rwkv7", "vla"})
    for (Real real : {Real::f32, Real::f64})
      for (int exponent :
           real == Real::f32 ? std::vector<int>{-50, 50, -110, 110} : std::vector<int>{-400, 400, -900}) {
        if (std::string(name) == "longhorn" && std::abs(exponent) > 50 && real == Real::f32)
          continue; // beta's own range
        if (std::string(name) == "longhorn" && exponent == -900) continue;
        const double power = std::ldexp(1, exponent);
        Sequence s = random_sequence(n, 55), moved = s;
        const Variant &variant = find_variant(name);
        if (variant.name == "rwkv7" || variant.name == "vla") {
          scale(moved.w, power);
        } else {
          scale(moved.k, power);
          if (variant.name != "softmax_qknorm") scale(moved.q, power); // the state scales by 1 / power
          if (variant.name == "longhorn") scale(moved.beta, std::ldexp(1, -2 * exponent));
        }
        for (const Form &form : variant.forms) {
          const Run run{form.name, real, 8, variant_params(variant)};
          BOOST_TEST_INFO(label(variant, form, real) << ", 2^" << exponent);
          const std::vector<double> found = forward(variant, moved, run).o, wanted = forward(variant, s, run).o;
          // A GPU's products take float32 in two parts (mma_cuda.hpp), whose lower one is subnormal near 2^-110: digits
          // that it loses elsewhere it keeps there.
          if (has_math(Math::tf32) && real == Real::f32 && form.name == "chunked" && std::abs(exponent) > 100)
            BOOST_TEST(max_difference(found, wanted) <= 16 * epsilon_of(real) * max_abs(wanted));
          else
            BOOST_TEST(found == wanted);
        }
      }
}

BOOST_AUTO_TEST_CASE(two_clusters_far_apart_are_regressed_each_by_itself) {
  const Variant &variant = find_variant("local_linear");
  for (const char *order : {"1", "2"})
    for (double apart : {10.0, 1000.0, 1e5}) {
      Sequence s = random_sequence({1, 2, 70, 3, 2}, 56);
      for (size_t t = 0; t < 140; ++t)
        if (t % 3) s.k[3 * t] += std::ldexp(1, std::ilogb(apart)), s.q[3 * t] += std::ldexp(1, std::ilogb(apart));
      check_against_definition(variant, s, variant_params(variant, {{"order", order}}), "clusters far apart");
    }
}

// Moments about the first key lose digits of clusters that are small compared with their distance from it, even if
// their weight is not small.
BOOST_AUTO_TEST_CASE(a_tight_cluster_beside_the_first_key_is_regressed) {
  const Variant &variant = find_variant("local_linear");
  for (const char *order : {"1", "2"})
    for (double spread : {1e-1, 1e-2, 1e-3}) {
      Sequence s = random_sequence({1, 2, 70, 3, 2}, 59);
      for (size_t i = 0; i < s.k.size(); ++i) {
        const bool first = i / 3 % 70 == 0;
        s.k[i] = first ? 0 : spread * s.k[i] + 2, s.q[i] = spread * s.q[i] + 2; // 12 from it, the bandwidth being 1
      }
      check_against_definition(variant, s,
                               variant_params(variant, {{"order", order}, {"bandwidth", "1"}, {"ridge", "1e-6"}}),
                               "a tight cluster");
    }
}

BOOST_AUTO_TEST_CASE(values_too_large_for_float32_are_refused) {
  Sequence s = random_sequence({1, 1, 4, 3, 2}, 57);
  s.v[5] = 1e39;
  BOOST_TEST(std::isfinite(forward(find_variant("linear"), s).o[7]));
  BOOST_CHECK_THROW(forward(find_variant("linear"), s, {"recurrent", Real::f32, 1, {}}), Error);
}

BOOST_AUTO_TEST_CASE(inputs_outside_their_range_are_refused) {
  Sequence s = random_sequence({1, 1, 4, 3, 2}, 58);
  s.alpha[2] = 0;
  BOOST_CHECK_THROW(forward(find_variant("weighted_rls"), s), Error);
  BOOST_CHECK_NO_THROW(forward(find_variant("gated_linear"), s));
  s.beta[2] = -0.5;
  for (const char *name : {"mamba", "longhorn", "mesa"}) BOOST_CHECK_THROW(forward(find_variant(name), s), Error);
  BOOST_CHECK_NO_THROW(forward(find_variant("delta_net"), s));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
