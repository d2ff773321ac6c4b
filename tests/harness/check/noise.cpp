// SPDX-License-Identifier: Apache-2.0
#include "harness/check/noise.hpp"
#include "harness/device/device.hpp"
#include "harness/numerics/random.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(noises)

Noise noise_at(const CheckCase &problem, Precision precision, int chunk = 64) {
  const PartList right = definition_of(problem);
  return noise_of(problem, right, float32_rounding(problem, right), precision, chunk);
}
CheckCase linear_of(Sequence given) {
  const Variant &v = find_variant("linear");
  return {v, variant_params(v), std::move(given), {}, false};
}

BOOST_AUTO_TEST_CASE(one_write_and_one_read_by_hand) {
  // o = v k q with k = q = v = 1.5: three roundings of u = 2^-8 at 1.5 (spacing 2^-7) move o by 1.5^2 u each; o = 3.375
  // has a spacing of 2^-6. Depending on the signs of the draws, the three together move o as far as 1 to 3 of them.
  const Noise noise = noise_at(linear_of(one_head(1, {1.5}, {1.5}, {1.5})), Precision::bf16);
  const double one = 2.25 * 0x1p-8, own = 0x1p-7, found = noise.at(0).rows.at(0);
  BOOST_TEST((found >= std::hypot(one, own) && found <= std::hypot(3.1 * one, own) * 1.01));
}

BOOST_AUTO_TEST_CASE(measured_rounding_counts_up_to_n_times_the_response_to_moved_inputs) {
  const CheckCase problem = linear_of(one_head(1, {1.5}, {1.5}, {1.5}));
  const auto noise = [&](double measured) {
    return noise_of(problem, definition_of(problem), {{measured * measured}, {0}}, Precision::f32, 1).at(0).rows.at(0);
  };
  const double least = noise(0), n = 3; // T + Dk + chunk
  BOOST_TEST(std::fabs(noise(least) / std::hypot(least, least) - 1) < 1e-12);
  BOOST_TEST((noise(1e6) > least && noise(1e6) <= std::hypot(1, n) * least));
  const double square = float32_rounding(problem, definition_of(problem)).at(0).at(0);
  BOOST_TEST((square > 0 && std::sqrt(square) < 0x1p-21)); // o = 3.375 is exact, but not its neighbours
}

BOOST_AUTO_TEST_CASE(noise_grows_with_the_spacing_of_the_type) {
  const CheckCase problem = linear_of(random_sequence({1, 2, 40, 8, 8}, 1));
  const auto mean = [&](Precision precision) {
    const Noise noise = noise_at(problem, precision);
    double sum = 0;
    for (double x : noise.at(0).rows) sum += x;
    return sum;
  };
  BOOST_TEST(std::fabs(mean(Precision::bf16) / mean(Precision::f16) / 8 - 1) < 0.3);
  BOOST_TEST(mean(Precision::tf32) / mean(Precision::f32) > 100);
  BOOST_TEST(std::fabs(mean(Precision::f32) / mean(Precision::f64) / 0x1p29 - 1) < 0.3);
}

BOOST_AUTO_TEST_CASE(a_chunk_length_beyond_T_changes_nothing) {
  const CheckCase problem = linear_of(random_sequence({1, 1, 30, 4, 4}, 1));
  BOOST_TEST(noise_at(problem, Precision::bf16, 30).at(0).rows ==
             noise_at(problem, Precision::bf16, 100000000).at(0).rows);
}

BOOST_AUTO_TEST_CASE(exact_zeros_make_no_noise) {
  Sequence given = random_sequence({1, 1, 8, 4, 4}, 1);
  std::fill(given.v.begin(), given.v.end(), 0.0);
  const Noise noise = noise_at(linear_of(given), Precision::bf16);
  for (double x : noise.at(0).rows) BOOST_TEST(x < 1e-37);
}

BOOST_AUTO_TEST_CASE(a_gradient_whose_terms_cancel_keeps_the_noise_of_its_terms) {
  const Variant &v = find_variant("softmax"); // one key: the score's gradient is do (v - o) = 0
  CheckCase problem{v, variant_params(v), random_sequence({1, 1, 1, 4, 4}, 1), {}, false};
  problem.weights.o = Stream(1, "do").normals(4);
  const PartList right = definition_of(problem);
  BOOST_TEST(max_abs(find_part(right, "dq")->values) < 1e-15);
  for (const PartNoise &part : noise_of(problem, right, float32_rounding(problem, right), Precision::bf16, 64))
    if (part.name == "dq") BOOST_TEST((part.rows.at(0) > 1e-4 && part.rows.at(0) < 1e-1));
}

BOOST_AUTO_TEST_CASE(a_fault_of_the_backward_pass_is_no_noise) {
  const Variant &right = find_variant("retnet");
  Variant wrong = right; // its backward pass takes the decay for 1/2
  const Vjp pass = right.forms.back().vjp;
  const auto fault = [](const auto &run) {
    return [run](auto back) {
      back.call.params.set("gamma", 0.5);
      run(back);
    };
  };
  wrong.forms.back().vjp = {fault(pass.f32), fault(pass.f64)};
  const auto noise = [](const Variant &v, Precision precision) {
    CheckCase problem{v, variant_params(v), random_sequence({1, 1, 20, 4, 4}, 1), {}, false};
    problem.weights.o = Stream(1, "do").normals(20 * 4);
    return noise_at(problem, precision);
  };
  for (Precision precision : {Precision::bf16, Precision::f32, Precision::f64}) {
    const Noise of_right = noise(right, precision), of_wrong = noise(wrong, precision);
    for (size_t p = 0; p < of_right.size(); ++p)
      for (size_t row = 0; row < of_right[p].rows.size(); ++row)
        BOOST_TEST(of_wrong[p].rows[row] < 10 * of_right[p].rows[row]);
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
