// SPDX-License-Identifier: Apache-2.0
#include "harness/call/converted.hpp"
#include "harness/bench/plan.hpp"
#include "harness/call/along_ranks.hpp"
#include "harness/call/backward.hpp"
#include "harness/call/make_call.hpp"
#include "harness/core/error.hpp"
#include "harness/core/float16.hpp"
#include "harness/run/plan.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(arrays_of_16_bits)

using Numbers = std::vector<double>;

Sequence inputs_for(const Variant &variant, Real real) {
  const Shape shape{2, 2, 37, 8, 6};
  Sequence s = random_sequence(shape, 7, Keys::unit, [&](Tensor tensor) { return variant.takes(tensor); });
  for (Tensor tensor : {Tensor::q, Tensor::k, Tensor::v, Tensor::w}) round_to(real, s[tensor]);
  return s;
}
Numbers rounded_to(Real real, Numbers numbers) {
  round_to(real, numbers);
  return numbers;
}
Run run_in(const Variant &variant, const std::string &form, Real real) {
  return {form, real, 16, variant_params(variant)};
}

/// v = 1 + 2^-8 is stored as 1 in bfloat16, and beta = 0.999 stays; o = 1 * 0.999 is 1 again.
BOOST_AUTO_TEST_CASE(a_write_and_a_read_by_hand) {
  const Variant &linear = find_variant("linear");
  Sequence s = one_head(1, {1}, {1}, {1 + std::ldexp(1.0, -8)});
  const Params params = variant_params(linear, {{"scale", "1"}});
  const Output found = forward(linear, s, {"recurrent", Real::bf16, 1, params});
  BOOST_TEST(found.o.at(0) == 1);
  BOOST_TEST(found.state.at(0) == 1);
  const Variant &delta = find_variant("delta_net");
  s.beta = {0.999};
  const Output written = forward(delta, s, {"recurrent", Real::bf16, 1, variant_params(delta)});
  BOOST_TEST(written.o.at(0) == 1);                        // 0.999 in bfloat16
  BOOST_TEST(written.state.at(0) == double(float(0.999))); // the state is float32
}

/// Without kernels for 16 bits, a pass gives exactly the float32 results on widened inputs, rounded once.
BOOST_AUTO_TEST_CASE(a_pass_is_the_float32_pass_rounded_once) {
  for (const char *name : {"linear", "delta_net", "gated_delta_net", "gated_linear", "softmax", "rwkv7", "mesa"}) {
    const Variant &variant = find_variant(name);
    for (Real real : {Real::bf16, Real::f16})
      for (const Form &form : variant.forms) {
        if (form.native.has(real, {2, 2, 37, 8, 6}, variant_params(variant))) continue;
        const Sequence s = inputs_for(variant, real);
        const Output narrow = forward(variant, s, run_in(variant, form.name, real)),
                     wide = forward(variant, s, run_in(variant, form.name, Real::f32));
        BOOST_TEST((narrow.o == rounded_to(real, wide.o)), name << " " << form.name << " " << name_of(real));
        BOOST_TEST((narrow.o != wide.o)); // rounding changed something
        BOOST_TEST((narrow.state == wide.state), name << " " << form.name);
      }
  }
}

BOOST_AUTO_TEST_CASE(a_backward_pass_is_the_float32_pass_rounded_once) {
  for (const char *name : {"linear", "delta_net", "gated_delta_net", "gated_linear", "softmax"}) {
    const Variant &variant = find_variant(name);
    for (Real real : {Real::bf16, Real::f16}) {
      const std::string form = backward_form(variant);
      if (find_form(variant, form).vjp.native.has(real, {2, 2, 37, 8, 6}, variant_params(variant))) continue;
      const Sequence s = inputs_for(variant, real);
      const size_t state = variant.state_shape(s.shape, variant_params(variant)).size() * s.shape.heads();
      OutputWeights weights{random_sequence(s.shape, 8).v, Numbers(state, 0.3)};
      round_to(real, weights.o);
      const Sequence narrow = backward(variant, s, run_in(variant, form, real), weights),
                     wide = backward(variant, s, run_in(variant, form, Real::f32), weights);
      for (Tensor tensor : all_tensors) {
        const Numbers wanted = facts_of(tensor).gate() ? wide[tensor] : rounded_to(real, wide[tensor]);
        BOOST_TEST((narrow[tensor] == wanted), name << " d" << name_of(tensor) << " " << name_of(real));
      }
      BOOST_TEST((narrow.state == wide.state), name);
    }
  }
}

BOOST_AUTO_TEST_CASE(inputs_are_rounded_where_they_are_none_of_the_type) {
  const Variant &variant = find_variant("gated_delta_net");
  const Sequence exact = random_sequence({1, 1, 20, 4, 4}, 3);
  Sequence stored = exact;
  for (Tensor tensor : {Tensor::q, Tensor::k, Tensor::v}) round_to(Real::bf16, stored[tensor]);
  BOOST_TEST((stored.q != exact.q));
  const Run run = run_in(variant, "chunked", Real::bf16);
  BOOST_TEST((forward(variant, exact, run).o == forward(variant, stored, run).o));
}

/// A form's 16-bit kernels run instead of its float32 ones, if they support the shape.
BOOST_AUTO_TEST_CASE(native_kernels_are_run_where_they_take_the_shape) {
  Variant variant = find_variant("linear");
  int passes = 0;
  Form &form = variant.forms.at(0);
  form.native.bf16 = [&passes](const Call<float, BFloat16> &call) {
    ++passes;
    fill(call.o, BFloat16(2.0f));
  };
  form.native.takes = [](const Shape &shape, const Params &) { return shape.Dk == 8; };
  const Run run = run_in(variant, "recurrent", Real::bf16);
  const Output native = forward(variant, inputs_for(variant, Real::bf16), run);
  BOOST_TEST((passes == 1 && native.o.at(0) == 2));
  const Sequence other = one_head(1, {1}, {1}, {3});
  BOOST_TEST(forward(variant, other, run).o.at(0) == 3);
  forward(variant, inputs_for(variant, Real::f16),
          run_in(variant, "recurrent", Real::f16)); // there is no kernel for f16
  BOOST_TEST(passes == 1);
}

BOOST_AUTO_TEST_CASE(what_a_kernel_leaves_unwritten_is_nan) {
  Variant idle = find_variant("linear");
  auto passes = std::make_shared<int>(0);
  Form &form = idle.forms.at(0);
  form.f32 = [whole = form.f32, passes](const Call<float> &call) {
    if (++*passes == 1) whole(call);
  };
  const Job job = prepare(idle, one_head(1, {1}, {1}, {1}), run_in(idle, "recurrent", Real::bf16));
  job.reset(), job.launch();
  BOOST_TEST(job.fetch().o.at(0) == 1);
  job.reset(), job.launch();
  BOOST_TEST(std::isnan(job.fetch().o.at(0)));
}

bool says(const Error &e, const std::string &what) { return std::string(e.what()).find(what) != std::string::npos; }

BOOST_AUTO_TEST_CASE(what_cannot_be_is_refused_in_a_line) {
  const Variant &variant = find_variant("linear");
  const Sequence large = one_head(1, {1}, {1}, {70000});
  BOOST_CHECK_EXCEPTION(forward(variant, large, run_in(variant, "recurrent", Real::f16)), Error, [](const Error &e) {
    return says(e, "v has 70000 at flat index 0, too large for float16, whose largest number is 65504");
  });
  BOOST_CHECK_NO_THROW(forward(variant, large, run_in(variant, "recurrent", Real::bf16)));

  Run coarse = run_in(variant, "recurrent", Real::bf16);
  coarse.math = Math::tf32;
  const auto refuses_math = [](const Error &e) {
    return e.code == exit_usage && says(e, "--math tf32 rounds products of float32 arrays, but --dtype bf16 stores");
  };
  BOOST_CHECK_EXCEPTION(forward(variant, large, coarse), Error, refuses_math);
  RunRequest runs;
  runs.variants = {"linear"}, runs.real = Real::bf16, runs.math = Math::tf32;
  BOOST_CHECK_EXCEPTION(make_plan(runs), Error, refuses_math);
  BenchRequest benches;
  benches.variants = {"linear"}, benches.shapes = {{1, 1, 4, 2, 2}}, benches.real = Real::bf16;
  benches.math = Math::tf32;
  BOOST_CHECK_EXCEPTION(bench_plan(benches), Error, refuses_math);

  const auto refuses_cut = [](const Error &e) {
    return e.code == exit_usage && says(e, "a sequence that ranks share is stored in f32 or f64, not in f16");
  };
  const Run half = run_in(variant, "recurrent", Real::f16);
  BOOST_CHECK_EXCEPTION(carry_along(variant, one_head(2, {1, 1}, {1, 1}, {1, 1}), half, "auto"), Error, refuses_cut);
  benches.math = Math::exact, benches.real = Real::f16, benches.along = "auto";
  BOOST_CHECK_EXCEPTION(bench_plan(benches), Error, refuses_cut);
}

/// q, k, v, o in 16 bits; one gate per step and the initial and final states in float32; all of it in float64 on the
/// host.
BOOST_AUTO_TEST_CASE(memory_is_counted_by_type) {
  const Variant &variant = find_variant("gated_delta_net");
  const Shape shape{1, 2, 100, 8, 4};
  const Params params = variant_params(variant);
  const std::uint64_t stored = 200 * (8 + 8 + 4 + 4), wide = 200 * 2 + 2 * 2 * 32;
  BOOST_TEST(memory_needed(variant, shape, params, Real::bf16) == 8 * (stored + wide) + 2 * stored + 4 * wide);
  BOOST_TEST(memory_needed(variant, shape, params, Real::f32) == 12 * (stored + wide));
  BOOST_TEST(memory_needed(variant, shape, params, Real::f64) == 16 * (stored + wide));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
