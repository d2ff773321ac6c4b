// SPDX-License-Identifier: Apache-2.0
#include "harness/system/memory.hpp"
#include "harness/core/error.hpp"
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(memory)

BOOST_AUTO_TEST_CASE(sizes_are_powers_of_1024) {
  BOOST_TEST(parse_bytes("1000", "x") == 1000u);
  BOOST_TEST(parse_bytes("512M", "x") == std::uint64_t(512) << 20);
  BOOST_TEST(parse_bytes("1.5T", "x") == std::uint64_t(3) << 39);
  for (const char *same : {"24G", "24g", "24GB", "24GiB"})
    BOOST_TEST(parse_bytes(same, "x") == std::uint64_t(24) << 30, same);
}

BOOST_AUTO_TEST_CASE(what_is_no_size_is_refused) {
  for (const char *bad : {"", "lots", "-1", "0", "1X", "1MM", "1e30", "nan", "G"})
    BOOST_CHECK_THROW(parse_bytes(bad, "x"), Error);
}

BOOST_AUTO_TEST_CASE(a_product_beyond_64_bits_is_beyond_any_limit) {
  BOOST_TEST(saturating_product(3, 5) == 15u);
  BOOST_TEST(saturating_product(std::uint64_t(1) << 32, std::uint64_t(1) << 32) ==
             ~std::uint64_t(0)); // would wrap to 0
  const std::uint64_t before = memory_limit();
  BOOST_TEST(before >= std::uint64_t(64) << 20); // in bytes, not pages: the machine that runs this has that much
  set_memory_limit(4096);
  BOOST_TEST(memory_limit() == 4096u);
  set_memory_limit(0); // the machine's memory
  BOOST_TEST(memory_limit() == before);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
