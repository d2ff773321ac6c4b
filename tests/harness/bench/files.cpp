// SPDX-License-Identifier: Apache-2.0
#include "harness/system/files.hpp"
#include "harness/bench/bench.hpp"
#include "tests/program.hpp"
#include "tests/testing.hpp"
#include <nlohmann/json.hpp>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(bench_files)

std::vector<BenchCase> one_case() {
  BenchRequest r;
  r.variants = {"gated_linear"}, r.shapes = {{{1, 2, 100, 8, 4}, "60,40", 1}};
  r.schedule = Schedule::streaming, r.without = {"alpha"};
  return bench_plan(r);
}

std::pair<BenchResult, BenchResult> good_and_bad(const BenchCase &c) {
  BenchSettings quick;
  quick.rule.least_seconds = 0, quick.rule.most = 5;
  BenchResult good = bench(c, quick).at(0), bad = good;
  bad.status = "wrong", bad.reason = "far off", bad.seconds.clear();
  return {good, bad};
}

BOOST_AUTO_TEST_CASE(the_json_is_google_benchmarks) {
  const std::vector<BenchCase> plan = one_case();
  const auto [good, bad] = good_and_bad(plan[0]);
  const auto parsed = nlohmann::json::parse(bench_json({good, bad}, {{"version", "0"}}));
  BOOST_TEST(parsed.at("context").at("json_schema_version") == 1);
  const auto &list = parsed.at("benchmarks");
  BOOST_TEST_REQUIRE(list.size() == good.seconds.size() + 2);
  BOOST_TEST(list[0].at("run_type") == "iteration");
  BOOST_TEST(list[0].at("real_time") == good.seconds[0] * 1e9);
  BOOST_TEST(list[0].at("flops_per_second") == good.flops / good.seconds[0]);
  BOOST_TEST((good.flops > 0 && good.peak_bytes > 0));
  const auto &median = list[good.seconds.size()];
  BOOST_TEST(median.at("aggregate_name") == "median");
  BOOST_TEST(median.at("items_per_second") == 200 / good.timing.median);
  BOOST_TEST(median.at("bytes_per_second") == good.bytes / good.timing.median);
  BOOST_TEST(median.at("flops_per_second") == good.flops / good.timing.median);
  BOOST_TEST(median.at("max_bytes_used") == good.peak_bytes);
  BOOST_TEST(list.back().at("error_occurred") == true);
}

BOOST_AUTO_TEST_CASE(the_tables_hold_every_sample_and_rates_of_the_median) {
  const Folder folder;
  const std::vector<BenchCase> plan = one_case();
  const auto [good, bad] = good_and_bad(plan[0]);
  const Ceilings ceilings{
      {{"f32", "gemm", "8 x 8", 1e9}, {"f64", "gemm", "8 x 8", 2e9}, {"bytes", "triad", "1 MiB", 3e9}}};
  OutputFile(folder / "b.h5").publish(bench_image({good, bad}, ceilings, {{"seed", "1"}}));
  const Hdf5File file(folder / "b.h5");
  const Table bench = file.table("bench"), samples = file.table("bench_samples");
  BOOST_TEST_REQUIRE(bench.rows.size() == 2u);
  BOOST_TEST(bench.get<double>(0, "tokens_per_second") == 200 / good.timing.median);
  BOOST_TEST(bench.get<double>(0, "flops_ceiling") == 1e9); // float32
  BOOST_TEST((bench.get<std::string>(0, "pass") == "forward" && bench.get<std::string>(0, "math") == "exact"));
  BOOST_TEST((bench.get<std::string>(0, "schedule") == "streaming" && bench.get<std::string>(0, "without") == "alpha"));
  BOOST_TEST((bench.get<std::string>(0, "texts") == "60,40" && bench.get<std::int64_t>(0, "qk_heads") == 1));
  BOOST_TEST((bench.get<std::string>(1, "status") == "wrong" && bench.get<double>(1, "tokens_per_second") == 0));
  BOOST_TEST_REQUIRE(samples.rows.size() == good.seconds.size());
  for (size_t i = 0; i < samples.rows.size(); ++i) BOOST_TEST(samples.get<double>(i, "seconds") == good.seconds[i]);
  BOOST_TEST((bench.get<std::string>(0, "storage") == "f32" && bench.get<double>(0, "noise") == good.timing.noise));
  BOOST_TEST((bench.get<std::string>(0, "method") == good.method && bench.get<double>(0, "error") == good.error));
  const Table limits = file.table("ceilings");
  BOOST_TEST((limits.get<std::string>(2, "name") == "bytes_per_second" && limits.get<double>(2, "value") == 3e9));
  BOOST_TEST((limits.get<std::string>(5, "kernel") == "triad" && limits.get<std::string>(5, "size") == "1 MiB"));
}

BOOST_AUTO_TEST_CASE(results_reach_another_rank_whole) {
  BenchRequest request;
  request.variants = {"linear", "softmax"}, request.shapes = {{1, 1, 8, 2, 2}};
  const std::vector<BenchCase> plan = bench_plan(request);
  BenchResult r;
  r.bench_case = &plan.at(1), r.status = "skipped", r.reason = "why", r.seconds = {1, 2, 4};
  r.bytes = 5, r.flops = 6, r.peak_bytes = 7, r.error = 8;
  r.storage = "bf16", r.method = "graph", r.discarded = 9, r.clock = 0.9, r.kept_slow = true, r.stopped_by = "precise",
  r.limit = 10;
  const std::vector<BenchResult> found = unpacked(packed({r, r}), plan);
  BOOST_TEST_REQUIRE(found.size() == 2u);
  BOOST_TEST((found[1].bench_case == &plan[1] && found[1].status == "skipped" && found[1].reason == "why"));
  BOOST_TEST((found[1].seconds == r.seconds && found[1].timing.median == 2 && found[1].bytes == 5));
  BOOST_TEST(
      (found[1].storage == "bf16" && found[1].method == "graph" && found[1].discarded == 9u && found[1].clock == 0.9));
  BOOST_TEST((found[1].kept_slow && found[1].stopped_by == "precise" && found[1].limit == 10));
  BOOST_TEST(
      (found[1].flops == 6 && found[1].peak_bytes == 7 && found[1].error == 8 && found[1].source == "recollect"));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
