// SPDX-License-Identifier: Apache-2.0
#include "harness/command_line/print.hpp"
#include "tests/testing.hpp"
#include <sstream>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(print_benches)

struct Printed {
  std::vector<BenchCase> plan;
  BenchResult result;
  Printed() {
    BenchRequest request;
    request.variants = {"linear"}, request.forms = {"chunked"}, request.shapes = {{1, 2, 500, 8, 4}};
    plan = bench_plan(request);
    result.bench_case = &plan[0];
    result.seconds = {1e-3, 2e-3, 9e-3}, result.timing = {2e-3, 1e-3, 3e-3, {2}};
    result.bytes = 2e6, result.flops = 4e6, result.peak_bytes = 3450000;
  }
  std::string line() const {
    std::ostringstream out;
    print_bench(out, result, {1e10, 2e10, 4e9});
    return out.str();
  }
};
bool says(const std::string &text, const std::string &words) { return text.find(words) != std::string::npos; }

BOOST_AUTO_TEST_CASE(a_line_is_time_rate_and_shares) {
  const std::string line = Printed().line();
  for (const char *part :
       {"linear/chunked/B:1/H:2/T:500/Dk:8/Dv:4/f32", "2 ms  [1, 3]", "5e+05 tokens/s", "25.0% of copy",
        "20.0% of gemm", "peak 3.45 MB", "1 of 3 outliers"}) // 1000 tokens, 1 GB/s, 2 GFLOP/s
    BOOST_TEST(says(line, part), part << " in " << line);
}

BOOST_AUTO_TEST_CASE(what_was_not_counted_is_not_shared_out) {
  Printed p;
  p.result.flops = 0, p.result.peak_bytes = 0, p.result.timing.outliers.clear();
  BOOST_TEST((!says(p.line(), "gemm") && !says(p.line(), "peak") && !says(p.line(), "outliers")));
}

BOOST_AUTO_TEST_CASE(a_wrong_form_shows_no_time) {
  Printed p;
  p.result.status = "wrong", p.result.reason = "far off";
  BOOST_TEST((says(p.line(), "wrong: far off") && !says(p.line(), "ms")));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
