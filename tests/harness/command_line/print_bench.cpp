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
    result.timing.noise = 0.0123, result.limit = 5e-4, result.bound = "bytes", result.peak_bytes = 3450000;
    result.method = "graph of 3 passes, caches flushed", result.storage = "f32";
  }
  std::string line() const {
    std::ostringstream out;
    print_bench(out, result, 4e-3);
    return out.str();
  }
};
bool says(const std::string &text, const std::string &words) { return text.find(words) != std::string::npos; }

BOOST_AUTO_TEST_CASE(a_line_is_time_rate_and_shares) {
  const std::string line = Printed().line();
  for (const char *part :
       {"linear/chunked/B:1/H:2/T:500/Dk:8/Dv:4/f32", "2 ms  [1, 3]", "noise 1.2%", "5e+05 tokens/s",
        "25% of its limit (bytes)", "peak 3.45 MB", "1 of 3 outliers", "graph of 3 passes"}) // 1000 tokens
    BOOST_TEST(says(line, part), part << " in " << line);
}

BOOST_AUTO_TEST_CASE(what_was_not_counted_is_not_shared_out) {
  Printed p;
  p.result.limit = 0, p.result.peak_bytes = 0, p.result.timing.outliers.clear();
  BOOST_TEST((!says(p.line(), "limit") && !says(p.line(), "peak") && !says(p.line(), "outliers")));
  BOOST_TEST((!says(p.line(), "discarded") && !says(p.line(), "ours") && !says(p.line(), "stopped")));
}

BOOST_AUTO_TEST_CASE(a_peer_is_held_against_the_form_beside_it) {
  Printed p;
  p.result.source = "fla", p.result.storage = "bf16", p.result.reason = "its gates are logarithms";
  for (const char *part : {"fla: linear/chunked", "0.5x ours", "stored in bf16", "its gates are logarithms"})
    BOOST_TEST(says(p.line(), part), part << " in " << p.line());
}

BOOST_AUTO_TEST_CASE(what_disturbed_a_time_is_said) {
  Printed p;
  p.result.discarded = 7, p.result.stopped_by = "most seconds";
  BOOST_TEST(
      (says(p.line(), "7 samples discarded: slow clock") && says(p.line(), "stopped at the limit: most seconds")));
  p.result.clock = 0.6, p.result.kept_slow = true;
  BOOST_TEST(says(p.line(), "clock 60% of default"));
  BOOST_TEST(says(p.line(), "kept although the clock stayed slow"));
}

BOOST_AUTO_TEST_CASE(ceilings_name_their_kernel_and_size) {
  std::ostringstream out;
  print_ceilings(
      out, {{{"bytes", "triad", "64 MiB", 3e9}, {"bytes", "copy", "64 MiB", 2e9}, {"f32", "gemm", "8 x 8", 1e9}}});
  BOOST_TEST(out.str() == "ceilings of this run: f32 1 GFLOP/s (gemm, 8 x 8); bytes 3 GB/s (triad, 64 MiB)\n");
}

BOOST_AUTO_TEST_CASE(a_wrong_form_shows_no_time) {
  Printed p;
  p.result.status = "wrong", p.result.reason = "far off";
  BOOST_TEST((says(p.line(), "wrong: far off") && !says(p.line(), "ms")));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
