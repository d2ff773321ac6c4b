// SPDX-License-Identifier: Apache-2.0
#include "harness/device/form_builder.hpp"
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(form_builder)

void forward32(const Call<float> &) {}
void forward64(const Call<double> &) {}
void backward32(const BackwardCall<float> &) {}
void backward64(const BackwardCall<double> &) {}

BOOST_AUTO_TEST_CASE(a_fast_form_is_exact_causal_stable_and_nothing_else_until_said) {
  const Form form = fast("chunked", forward32, forward64);
  BOOST_TEST(form.name == "chunked");
  BOOST_TEST((form.f32 && form.f64 && form.exact && form.causal && form.stable));
  BOOST_TEST((!form.vjp && !form.vjp.f32 && !form.native.bf16 && !form.vjp.native.bf16));
  BOOST_TEST((!form.counted && !form.taped && !form.quad)); // only the definition runs on such numbers
  BOOST_TEST(form.work.str() == Polynomial().str());
}

BOOST_AUTO_TEST_CASE(each_part_sets_its_own) {
  const Form back = fast("chunked", forward32, forward64).backward(backward32, backward64);
  BOOST_TEST((back.vjp.f32 && back.vjp.f64 && back.exact && back.causal && back.stable));
  const Form far = fast("nystrom", forward32, forward64).approximate();
  BOOST_TEST((!far.exact && far.causal && far.stable));
  const Form ahead = fast("nystrom", forward32, forward64).not_causal();
  BOOST_TEST((ahead.exact && !ahead.causal && ahead.stable));
  const Form lossy = fast("doubling", forward32, forward64).unstable();
  BOOST_TEST((lossy.exact && lossy.causal && !lossy.stable));
  const Form packing = fast("chunked", forward32, forward64).packs();
  BOOST_TEST((packing.packs && !lossy.packs));
  const Form costly = fast("chunked", forward32, forward64).work(2 * cost::Dk);
  BOOST_TEST(costly.work.str() == (on_host ? 2 * cost::Dk : Polynomial()).str());
}

BOOST_AUTO_TEST_CASE(kernels_of_16_bits_are_of_a_pass_each) {
  const auto narrow = [](const Shape &s, const Params &) { return s.Dk < 8; };
  const Form form = fast("chunked", forward32, forward64)
                        .native({[](const Call<float, BFloat16> &) {}, nullptr, narrow})
                        .native_backward({nullptr, [](const BackwardCall<float, Float16> &) {}});
  BOOST_TEST((form.native.has(Real::bf16, {1, 1, 1, 4, 4}, {}) && !form.native.has(Real::bf16, {1, 1, 1, 8, 4}, {})));
  BOOST_TEST((!form.native.has(Real::f16, {1, 1, 1, 4, 4}, {}) && form.vjp.native.has(Real::f16, {1, 1, 1, 8, 4}, {})));
  BOOST_TEST(!form.vjp.native.has(Real::bf16, {1, 1, 1, 8, 4}, {}));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
