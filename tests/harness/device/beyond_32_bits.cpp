// SPDX-License-Identifier: Apache-2.0
// q, k, v and o have more than 2^31 elements, so that a signed 32-bit index would reach another head. Heads repeat with
// a period: the outputs of every period must equal those of the first bitwise, and the first must agree with the
// definition. The period is odd, so that an offset of a power of two leads to another head. The large cases take 35 to
// 60 GB of device memory (lru's more than 80 GB) and only run if they are named:
//   tests --run_test=harness/beyond_32_bits/large
#include "harness/call/make_call.hpp"
#include "harness/device/backend.hpp"
#include "harness/device/device.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
namespace {

using Wide = Kokkos::RangePolicy<Execution, Kokkos::IndexType<size_t>>; // a GPU's default indices have 32 bits

/// `part`, repeated up to n numbers.
Array<float> repeated(const std::string &label, const Array<float> &part, size_t n) {
  const Array<float> all = allocated<float>(label, n);
  const size_t size = part.extent(0);
  Kokkos::parallel_for(
      "beyond_32_bits::repeat", Wide(0, n), KOKKOS_LAMBDA(const size_t i) { all.data()[i] = part.data()[i % size]; });
  return all;
}

/// How many elements differ from the element at the same position of the first `size`; NaN differs from everything.
size_t unlike_the_first(const Array<float> &all, size_t size) {
  size_t count = 0;
  Kokkos::parallel_reduce(
      "beyond_32_bits::compare", Wide(0, all.extent(0)),
      KOKKOS_LAMBDA(const size_t i, size_t &sum) { sum += all.data()[i] == all.data()[i % size] ? 0 : 1; }, count);
  return count;
}

std::vector<double> first(const Array<float> &all, size_t size) {
  return download<float>(Kokkos::subview(all, std::make_pair(size_t(0), size)));
}

/// Runs the fast form of a layer on the heads of `one`, repeated `periods` times.
void check_every_period(const char *name, const Shape &one, int periods) {
  const Variant &variant = find_variant(name);
  const Params params = variant_params(variant);
  const Sequence s = random_sequence(one, 81);
  const Form &form = find_form(variant, "fast");
  Call<float> call = make_call<float>(variant, s, {form.name, Real::f32, 64, params, Schedule::three_phase}, params);
  const size_t outputs = call.o.extent(0);
  call.shape.B *= periods;
  for (Tensor tensor : all_tensors)
    if (const size_t n = call[tensor].extent(0)) call[tensor] = repeated(name_of(tensor), call[tensor], n * periods);
  call.o = Array<float>(), call.o = allocated<float>("o", outputs * periods);
  fill(call.o, std::nanf(""));
  const Array<float> start = upload<float>("state", initial_state(variant, s, params));
  const size_t states = start.extent(0);
  call.state = states ? repeated("state", start, states * periods) : start;
  form.f32(call);
  Kokkos::fence();
  BOOST_TEST(unlike_the_first(call.o, outputs) == 0u);
  if (states) BOOST_TEST(unlike_the_first(call.state, states) == 0u);
  const Output reference = forward(variant, s, {"recurrent", Real::f64, 1, params}),
               found{first(call.o, outputs), states ? first(call.state, states) : std::vector<double>(),
                     call.state_shape};
  const double allowed = accumulated_terms(one, 64) * epsilon_of(Real::f32) * input_condition(variant, s, params, 1);
  BOOST_TEST(deviation(found, reference).largest() <= allowed);
}

/// 61 heads, 1076 times: the last period lies beyond element 2^31.
void check_beyond(const char *name) {
  const Shape one{1, 61, 512, 64, 64};
  const int periods = 1076;
  BOOST_TEST_REQUIRE(one.heads() * one.T * one.Dk * (periods - 1) > size_t(1) << 31);
  check_every_period(name, one, periods);
}

/// Naming a suite also selects its large cases.
struct HasRoom {
  int gib;
  boost::test_tools::assertion_result operator()(boost::unit_test::test_unit_id) const {
    const bool room = device_memory_free().value_or(0) > std::uint64_t(gib) << 30;
    boost::test_tools::assertion_result result(room);
    if (!room) result.message() << "it takes a device with " << gib << " GiB free";
    return result;
  }
};

} // namespace

BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(beyond_32_bits)

BOOST_AUTO_TEST_CASE(a_few_periods) {
  for (const char *name : {"linear", "gated_linear", "delta_net", "softmax", "lru", "rls"})
    BOOST_TEST_CONTEXT(name) check_every_period(name, {1, 3, 70, 8, 8}, 4);
}

BOOST_AUTO_TEST_SUITE(large, *boost::unit_test::disabled() * boost::unit_test::precondition(HasRoom{60}))

BOOST_AUTO_TEST_CASE(linear) { check_beyond("linear"); }
BOOST_AUTO_TEST_CASE(gated_linear) { check_beyond("gated_linear"); }
BOOST_AUTO_TEST_CASE(delta_net) { check_beyond("delta_net"); }
BOOST_AUTO_TEST_CASE(softmax) { check_beyond("softmax"); }
BOOST_AUTO_TEST_CASE(lru, *boost::unit_test::precondition(HasRoom{90})) { check_beyond("lru"); }
BOOST_AUTO_TEST_CASE(rls) { check_beyond("rls"); }

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
