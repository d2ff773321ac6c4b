// SPDX-License-Identifier: Apache-2.0
#include "harness/device/side_by_side.hpp"
#include "harness/core/error.hpp"
#include "harness/device/each_index.hpp"
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(calls_side_by_side)

BOOST_AUTO_TEST_CASE(every_call_runs_once_and_may_launch_kernels) {
  constexpr size_t calls = 37, n = 50000; // a loop of this size runs as a kernel
  std::vector<std::vector<double>> found(calls);
  side_by_side(calls, [&](size_t call) {
    const Array<double> numbers = allocated<double>("numbers", n);
    fill(numbers, double(call));
    for (double x : download(numbers)) found[call].push_back(x);
  });
  for (size_t call = 0; call < calls; ++call)
    BOOST_TEST((found[call] == std::vector<double>(n, double(call))), "call " << call);
}

BOOST_AUTO_TEST_CASE(an_error_of_one_call_reaches_the_caller) {
  const auto fails = [] {
    side_by_side(8, [](size_t call) {
      if (call == 5) input_error("call 5");
    });
  };
  BOOST_CHECK_EXCEPTION(fails(), Error, [](const Error &error) { return std::string(error.what()) == "call 5"; });
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
