// SPDX-License-Identifier: Apache-2.0
#include "harness/check/array_types.hpp"
#include "harness/check/noise.hpp"
#include "harness/core/error.hpp"
#include "harness/numerics/random.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(types_of_arrays)

constexpr Precision f64 = Precision::f64, f32 = Precision::f32, tf32 = Precision::tf32, f16 = Precision::f16,
                    bf16 = Precision::bf16;

BOOST_AUTO_TEST_CASE(an_array_has_the_type_of_the_computation_but_for_parameters_of_gates) {
  const ArrayTypes usual;
  BOOST_TEST((usual.stored("q", bf16) == bf16 && usual.stored("q", tf32) == f32));
  for (const char *parameter : {"A_log", "dt_bias", "gamma", "dA_log", "ddt_bias"})
    BOOST_TEST((usual.stored(parameter, bf16) == f32 && usual.stored(parameter, f64) == f64), parameter);
  BOOST_TEST((usual.used("alpha", tf32) == tf32 && usual.written("o", tf32) == tf32));
}

BOOST_AUTO_TEST_CASE(presets_hold_gates_and_states_in_float32) {
  const ArrayTypes fla(preset("fla"));
  for (const char *array : {"alpha", "lambda", "state", "final_state", "dalpha", "dstate"})
    BOOST_TEST((fla.stored(array, bf16) == f32 && fla.stored(array, f64) == f64), array);
  BOOST_TEST((fla.stored("beta", bf16) == bf16 && ArrayTypes(preset("flashinfer")).stored("beta", bf16) == f32));
  BOOST_TEST((ArrayTypes(preset("mamba")).stored("alpha", bf16) == bf16)); // dt
  const ArrayTypes other(preset("fla"), {{"alpha", bf16}});
  BOOST_TEST((other.stored("alpha", bf16) == bf16));
}

BOOST_AUTO_TEST_CASE(operands_round_to_the_computation_and_factors_to_their_own_type) {
  const ArrayTypes types({}, {{"q", f32}, {"alpha", f32}, {"beta", bf16}, {"state", f32}, {"o", bf16}});
  BOOST_TEST((types.used("q", bf16) == bf16));
  BOOST_TEST((types.used("alpha", bf16) == f32));
  BOOST_TEST((types.used("beta", f32) == f32)); // the numbers are exact, and the kernel continues in float32
  BOOST_TEST((types.used("state", bf16) == bf16));
  BOOST_TEST((types.written("state", bf16) == f32));
  BOOST_TEST((types.written("o", f32) == bf16));
  const ArrayTypes decode({}, {{"state", f16}});
  BOOST_TEST((decode.used("state", f32) == f16 && decode.written("final_state", f32) == f16));
}

BOOST_AUTO_TEST_CASE(what_is_stated_comes_before_what_a_file_has) {
  ArrayTypes types(preset("fla"), {{"state", bf16}});
  types.add_those_in_files({{"q", f16}, {"alpha", f16}, {"state", f32}});
  BOOST_TEST((types.stored("q", bf16) == f16 && types.stored("alpha", bf16) == f16));
  BOOST_TEST((types.stored("state", bf16) == bf16));
  BOOST_TEST((types.stored("lambda", bf16) == f32));
}

BOOST_AUTO_TEST_CASE(names_are_those_of_the_convention_or_of_the_layer) {
  const Convention fla = preset("fla");
  BOOST_TEST((parse_types("g=f32,h0=bf16", fla) == StatedTypes{{"alpha", f32}, {"lambda", f32}, {"state", bf16}}));
  BOOST_TEST((parse_types("alpha=f32", fla) == StatedTypes{{"alpha", f32}}));
  BOOST_TEST(parse_types("", fla).empty());
  BOOST_CHECK_THROW(parse_types("g=f32", {}), Error);
  BOOST_CHECK_THROW(parse_types("state=f31", {}), Error);
  BOOST_CHECK_THROW(parse_types("state", {}), Error);
}

double size_of(const Noise &noise, const char *part) {
  double squares = 0;
  for (const PartNoise &one : noise)
    if (one.name == part)
      for (double row : one.rows) squares += row * row;
  return std::sqrt(squares);
}

BOOST_AUTO_TEST_CASE(noise_is_that_of_each_arrays_type) {
  const Variant &v = find_variant("gated_delta_net");
  CheckCase problem{v, variant_params(v), random_sequence({1, 2, 40, 8, 6}, 1), {}, false};
  const auto noise = [&](Precision computed, const StatedTypes &stated) {
    CheckCase one = problem;
    one.types = ArrayTypes({}, stated);
    const PartList definition = definition_of(one);
    return noise_of(one, definition, float32_rounding(one, definition), computed, 64);
  };
  const auto moved = [&](const StatedTypes &stated, Tensor tensor) { // relative change, in bf16
    CheckCase one = problem;
    one.types = ArrayTypes({}, stated);
    return std::fabs(disturbed(one, bf16, 0, 64).given[tensor][0] / problem.given[tensor][0] - 1);
  };
  BOOST_TEST((moved({}, Tensor::alpha) > 1e-4 && moved({{"alpha", f32}}, Tensor::alpha) < 1e-6));
  BOOST_TEST((moved({}, Tensor::beta) > 1e-4 && moved({{"beta", f32}}, Tensor::beta) < 1e-6));
  BOOST_TEST(moved({{"q", f32}}, Tensor::q) > 1e-4); // an operand
  const Noise exact = noise(f32, {}), coarse_state = noise(f32, {{"state", bf16}}),
              coarse_o = noise(f32, {{"o", bf16}});
  BOOST_TEST(size_of(coarse_state, "state") > 100 * size_of(exact, "state"));
  BOOST_TEST(size_of(coarse_o, "o") > 100 * size_of(exact, "o"));
  BOOST_TEST(size_of(coarse_o, "state") == size_of(exact, "state"));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
