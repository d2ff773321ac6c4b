// SPDX-License-Identifier: Apache-2.0
#include "harness/system/child.hpp"
#include "harness/core/error.hpp"
#include "harness/core/packing.hpp"
#include "harness/system/memory.hpp"
#include "tests/testing.hpp"
#include <csignal>
#include <sys/resource.h>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(child)

BOOST_AUTO_TEST_CASE(results_and_errors_come_back_and_crashes_are_errors) {
  const std::string zero("a\0b", 3);
  BOOST_TEST(in_child("x", [&] { return zero; }) == zero);
  BOOST_TEST(in_child("x", [] { return std::string(10 << 20, 'y'); }).size() == size_t(10) << 20);
  BOOST_CHECK_EXCEPTION(in_child("x", []() -> std::string { usage_error("no"); }), Error,
                        [](const Error &e) { return e.code == exit_usage && std::string(e.what()) == "no"; });
  BOOST_CHECK_EXCEPTION(in_child("x", []() -> std::string { throw std::bad_alloc(); }), Error,
                        [](const Error &e) { return e.code == exit_input; });
  const auto crash = []() -> std::string {
    signal(SIGSEGV, SIG_DFL); // replaces the test framework's handler
    raise(SIGSEGV);
    return "";
  };
  BOOST_CHECK_EXCEPTION(in_child("reading x.h5", crash), Error, [](const Error &e) {
    return e.code == exit_input && std::string(e.what()).rfind("reading x.h5 crashed", 0) == 0;
  });
}

BOOST_AUTO_TEST_CASE(pieces_arrive_in_order_and_an_error_between_them_is_a_crash) {
  std::vector<double> numbers(300'000), found;
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = double(i);
  int last = 0;
  in_child(
      "x", [&](const Send &send) { Packer(send) << numbers << 7; },
      [&](const Receive &receive) { Unpacker(receive) >> found >> last; });
  BOOST_TEST((found == numbers && last == 7));
  const auto take_more = [&](const Receive &receive) {
    char more[10]; // as many as a code and "no"
    receive(&last, sizeof last), receive(more, sizeof more);
  };
  const auto fails_at_once = [](const Send &) { usage_error("no"); };
  BOOST_CHECK_EXCEPTION(in_child("x", fails_at_once, take_more), Error,
                        [](const Error &e) { return e.code == exit_usage && std::string(e.what()) == "no"; });
  BOOST_TEST(last == 7); // nothing was taken
  const auto fails_between = [](const Send &send) {
    Packer(send) << 1;
    usage_error("no");
  };
  BOOST_CHECK_EXCEPTION(in_child("x", fails_between, take_more), Error,
                        [](const Error &e) { return std::string(e.what()).rfind("x crashed", 0) == 0; });
}

BOOST_AUTO_TEST_CASE(a_child_takes_no_more_time_than_it_may) {
  const auto never_ends = []() -> std::string {
    for (volatile int turns = 0;; turns = turns + 1) {
    }
  };
  BOOST_CHECK_EXCEPTION(in_child("x", never_ends, 1), Error, [](const Error &e) {
    return std::string(e.what()) == "x takes more than 1 s of processor time: the file is damaged, or this machine too "
                                    "slow for what it holds";
  });
}

/// The child passes its result through a pipe: `ulimit -f` was once reported as a crash of the HDF5 library.
BOOST_AUTO_TEST_CASE(a_limit_of_files_is_none_of_results) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit none = before;
  none.rlim_cur = 0;
  setrlimit(RLIMIT_FSIZE, &none);
  const size_t size = in_child("x", [] { return std::string(1 << 20, 'y'); }).size();
  setrlimit(RLIMIT_FSIZE, &before);
  BOOST_TEST(size == size_t(1) << 20);
}

BOOST_AUTO_TEST_CASE(what_is_packed_is_unpacked) {
  Packer pack;
  pack << 7 << 0.5 << std::string("text\0zero", 9) << std::vector<double>{1, 2, 3} << std::vector<double>{};
  Unpacker unpack(pack.bytes);
  BOOST_TEST(unpack.next<int>() == 7);
  BOOST_TEST(unpack.next<double>() == 0.5);
  BOOST_TEST(unpack.next<std::string>() == std::string("text\0zero", 9));
  std::vector<double> three, none{9};
  unpack >> three >> none;
  BOOST_TEST((three == std::vector<double>{1, 2, 3} && none.empty()));
  BOOST_CHECK_THROW(unpack.next<int>(), std::logic_error);
}

BOOST_AUTO_TEST_CASE(memory_is_given_in_bytes_or_units) {
  BOOST_TEST(parse_bytes("1000", "--memory") == 1000u);
  BOOST_TEST(parse_bytes("2K", "--memory") == 2048u);
  BOOST_TEST(parse_bytes("1.5GiB", "--memory") == 3u << 29);
  for (const char *bad : {"", "G", "x", "-1", "1X", "1KK", "0", "1e40"})
    BOOST_CHECK_THROW(parse_bytes(bad, "--memory"), Error);
  BOOST_TEST(saturating_product(std::uint64_t(1) << 63, 4) > memory_limit());
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
