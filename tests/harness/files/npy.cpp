// SPDX-License-Identifier: Apache-2.0
#include "harness/files/npy.hpp"
#include "harness/core/error.hpp"
#include "harness/system/memory.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(npy)

std::string file_of(const std::string &descr, const std::string &shape, const std::string &data) {
  const std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }\n";
  return std::string("\x93NUMPY\x01\x00", 8) + char(header.size()) + '\0' + header + data;
}
std::string bytes(std::initializer_list<int> values) {
  std::string out;
  for (int v : values) out.push_back(char(v));
  return out;
}

BOOST_AUTO_TEST_CASE(types_and_byte_orders_are_read) {
  const auto one = [](const std::string &descr, const std::string &data) {
    return parse_npy(file_of(descr, "(1,)", data), "x").data.at(0);
  };
  BOOST_TEST(one("<f4", bytes({0, 0, 0x80, 0x3f})) == 1);
  BOOST_TEST(one(">f4", bytes({0x3f, 0x80, 0, 0})) == 1);
  BOOST_TEST(one("<f8", bytes({0, 0, 0, 0, 0, 0, 0, 0x40})) == 2);
  BOOST_TEST(one("<f2", bytes({0, 0x3c})) == 1);
  BOOST_TEST(one("<f2", bytes({1, 0})) == std::ldexp(1.0, -24));
  for (const char *bfloat16 : {"|V2", "bfloat16"}) BOOST_TEST(one(bfloat16, bytes({0x80, 0x3f})) == 1);
}

BOOST_AUTO_TEST_CASE(integers_are_read_where_whole_numbers_are_asked_for) {
  const auto one = [](const std::string &descr, const std::string &data) {
    return parse_npy(file_of(descr, "(1,)", data), "x", true).data.at(0);
  };
  BOOST_TEST(one("<i4", bytes({0x2c, 1, 0, 0})) == 300);
  BOOST_TEST(one(">i4", bytes({0, 0, 1, 0x2c})) == 300);
  BOOST_TEST(one("<i8", bytes({0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})) == -2);
  BOOST_TEST(one("<f4", bytes({0, 0, 0x80, 0x3f})) == 1);
  BOOST_CHECK_THROW(one("<i2", bytes({1, 0})), Error);
}

BOOST_AUTO_TEST_CASE(arrays_come_back) {
  const NumericArray a{{2, 3}, {1, -2, 0.1, 1e300, 5e-324, 0}};
  const NumericArray b = parse_npy(npy_bytes(a, Real::f64), "x");
  BOOST_TEST((a.dims == b.dims && a.data == b.data));
  BOOST_TEST(parse_npy(npy_bytes({{1}, {0.5}}, Real::f32), "x").data[0] == 0.5);
  BOOST_TEST((npy_bytes(a, Real::bf16) == npy_bytes(a, Real::f32))); // NumPy has no bfloat16
}

BOOST_AUTO_TEST_CASE(damage_is_refused) {
  const std::string four(4, '\0');
  for (const std::string &bad :
       {std::string("junk"), std::string("twenty bytes of junk"), file_of("<i4", "(1,)", four),
        file_of("<f4", "(2,)", four), file_of("<f4", "(1,", four), file_of("<f4", "(4294967296, 4294967296)", four),
        file_of("<c8", "(1,)", four + four), file_of("<f4", "(0, 200000000000000000000000)", four),
        file_of("<f4", "(1 1,)", four + four)})
    BOOST_CHECK_THROW(parse_npy(bad, "x"), Error);
  std::string long_header = file_of("<f4", "(1,)", four);
  long_header[9] = char(0x7f);
  BOOST_CHECK_THROW(parse_npy(long_header, "x"), Error);
}

BOOST_AUTO_TEST_CASE(the_header_of_version_2_has_a_length_of_four_bytes) {
  const std::string first = file_of("<f4", "(1,)", bytes({0, 0, 0x80, 0x3f}));
  const auto second = [&](int length, const std::string &rest) {
    return std::string("\x93NUMPY\x02\x00", 8) + bytes({length & 255, length >> 8 & 255, length >> 16, 0}) + rest;
  };
  BOOST_TEST(parse_npy(second(first[8], first.substr(10)), "x").data.at(0) == 1);
  const std::string blank(70000, ' '); // a header of 64 KiB is all that is read
  BOOST_CHECK_THROW(parse_npy(second(int(first[8]) + 70000, blank + first.substr(10)), "x"), Error);
}

BOOST_AUTO_TEST_CASE(an_array_takes_no_more_memory_than_it_may) {
  const std::string three = file_of("<f2", "(3,)", bytes({0, 0x3c, 0, 0x3c, 0, 0x3c}));
  set_memory_limit(23); // each becomes a number of 8 bytes
  BOOST_CHECK_THROW(parse_npy(three, "x"), Error);
  set_memory_limit(24);
  BOOST_TEST(parse_npy(three, "x").data.size() == 3u);
  set_memory_limit(0);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
