// SPDX-License-Identifier: Apache-2.0
#include "harness/device/arena.hpp"
#include "harness/device/backend.hpp"
#include "harness/system/memory.hpp"
#include "tests/testing.hpp"
#include <cstdint>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(arena)

using Addresses = std::vector<const void *>;

/// Takes 100 doubles and 3 floats, then releases the floats and takes 5000 doubles.
Addresses round_of(Arena &memory) {
  const Array<double> first = memory.take<double>(100);
  const size_t mark = memory.mark();
  const Array<float> second = memory.take<float>(3);
  memory.release(mark);
  const Array<double> third = memory.take<double>(5000);
  BOOST_TEST((first.extent(0) == 100u && second.extent(0) == 3u && third.extent(0) == 5000u));
  return {first.data(), second.data(), third.data()};
}

BOOST_AUTO_TEST_CASE(arrays_of_one_round_do_not_overlap) {
  Arena memory;
  const Addresses at = round_of(memory);
  const auto first = reinterpret_cast<std::uintptr_t>(at[0]), third = reinterpret_cast<std::uintptr_t>(at[2]);
  BOOST_TEST((third >= first + 100 * sizeof(double) || first >= third + 5000 * sizeof(double)));
}

BOOST_AUTO_TEST_CASE(from_the_second_round_on_one_block_serves_the_same_requests) {
  Arena memory;
  round_of(memory);
  memory.reset();
  Addresses second, third;
  BOOST_TEST(peak_bytes([&] { second = round_of(memory), memory.reset(), third = round_of(memory); }) == 0);
  BOOST_TEST((second == third));
  BOOST_TEST(second[1] == second[2]); // released memory is reused
  const auto start = static_cast<const char *>(second[0]), next = static_cast<const char *>(second[2]);
  BOOST_TEST(next - start == 1024); // 800 bytes in units of 256
}

BOOST_AUTO_TEST_CASE(within_the_first_round_too_what_was_given_back_is_taken_again) {
  Arena memory;
  const size_t mark = memory.mark();
  const void *const first = memory.take<double>(64).data();
  memory.release(mark);
  BOOST_TEST(peak_bytes([&] { BOOST_TEST(memory.take<double>(32).data() == first); }) == 0);
}

BOOST_AUTO_TEST_CASE(what_no_machine_has_is_refused) {
  Arena memory;
  BOOST_CHECK_THROW(memory.take<double>(size_t(1) << 50), OverMemory);
}

BOOST_AUTO_TEST_CASE(a_stack_measures_what_it_then_hands_out) {
  Stack<float> measured;
  const float *const nothing = measured.take(0), *const some = measured.take(17);
  BOOST_TEST((nothing && some));    // some requests depend on null pointers
  BOOST_TEST(measured.used == 32u); // 64 bytes
  std::vector<float> room(measured.used);
  Stack<float> stack{room.data()};
  BOOST_TEST((stack.take(0) == room.data() && stack.take(17) == room.data() && stack.take(1) == room.data() + 32));
  BOOST_TEST(stack.used == 48u);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
