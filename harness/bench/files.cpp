// SPDX-License-Identifier: Apache-2.0
// The files that `bench` writes: HDF5 tables, and JSON in the format of Google Benchmark.
#include "harness/bench/bench.hpp"
#include "harness/core/packing.hpp"
#include "harness/core/text.hpp"
#include "harness/files/results.hpp"
#include "harness/system/child.hpp"
#include <algorithm>
#include <nlohmann/json.hpp>

namespace recollect {
namespace {

constexpr Kind integer = Kind::integer, real = Kind::real, text = Kind::text;
using json = nlohmann::ordered_json;

double rate(double amount, const BenchResult &r) { return r.status == "ok" ? amount / r.timing.median : 0; }
double tokens(const BenchCase &c) { return double(c.shape.heads()) * c.shape.T; }

std::vector<Table> tables_of(const std::vector<BenchResult> &results, const Ceilings &ceilings) {
  Table bench{"bench",
              {{"row", integer},
               {"source", text},
               {"name", text},
               {"variant", text},
               {"form", text},
               {"B", integer},
               {"H", integer},
               {"T", integer},
               {"Dk", integer},
               {"Dv", integer},
               {"real", text},
               {"chunk", integer},
               {"status", text},
               {"reason", text},
               {"median_seconds", real},
               {"low_seconds", real},
               {"high_seconds", real},
               {"samples", integer},
               {"outliers", integer},
               {"tokens_per_second", real},
               {"bytes", real},
               {"bytes_per_second", real},
               {"bytes_ceiling", real},
               {"flops", real},
               {"flops_per_second", real},
               {"flops_ceiling", real},
               {"peak_bytes", integer},
               {"pass", text},
               {"math", text},
               {"schedule", text},
               {"without", text},
               {"texts", text},
               {"qk_heads", integer},
               {"storage", text},
               {"noise", real},
               {"clock", real},
               {"discarded", integer},
               {"kept_slow", integer},
               {"stopped_by", text},
               {"method", text},
               {"limit_seconds", real},
               {"bound", text},
               {"error", real}},
              {}};
  Table samples{"bench_samples", {{"row", integer}, {"sample", integer}, {"seconds", real}, {"outlier", integer}}, {}};
  Table fits{"bench_growth", {{"name", text}, {"exponent", real}, {"standard_error", real}, {"points", integer}}, {}};
  Table limits{"ceilings", {{"name", text}, {"kernel", text}, {"size", text}, {"value", real}}, {}};
  for (size_t i = 0; i < results.size(); ++i) {
    const BenchResult &r = results[i];
    const BenchCase &c = *r.bench_case;
    bench.add(i, r.source, name_of(c), c.variant->name, c.form->name, c.shape.B, c.shape.H, c.shape.T, c.shape.Dk,
              c.shape.Dv, name_of(c.real), c.chunk, r.status, r.reason, r.timing.median, r.timing.low, r.timing.high,
              r.seconds.size(), r.timing.outliers.size(), rate(tokens(c), r), r.bytes, rate(r.bytes, r),
              ceilings.bytes_per_second(), r.flops, rate(r.flops, r), ceilings.flops_per_second(c.real, c.math),
              r.peak_bytes, c.backward ? "backward" : "forward", name_of(c.math), name_of(c.schedule),
              join(c.without, ","), c.texts, c.qk_heads, r.storage, r.timing.noise, r.clock, r.discarded,
              int(r.kept_slow), r.stopped_by, r.method, r.limit, r.bound, r.error);
    for (size_t s = 0; s < r.seconds.size(); ++s) {
      const auto &named = r.timing.outliers;
      samples.add(i, s, r.seconds[s], std::count(named.begin(), named.end(), s));
    }
  }
  for (const Growth &g : growth(results)) fits.add(g.name, g.exponent, g.standard_error, g.points);
  limits.add("flops_per_second_f32", "", "", ceilings.best("f32").per_second);
  limits.add("flops_per_second_f64", "", "", ceilings.best("f64").per_second);
  limits.add("bytes_per_second", "", "", ceilings.bytes_per_second());
  for (const Ceiling &one : ceilings.all) limits.add(one.of, one.kernel, one.size, one.per_second);
  return {bench, samples, fits, limits};
}

} // namespace

std::string packed(const std::vector<BenchResult> &results) {
  Packer pack;
  pack << std::uint64_t(results.size());
  for (const BenchResult &r : results)
    pack << r.bench_case->index << r.source << r.storage << r.status << r.reason << r.method << r.seconds << r.clock
         << std::uint64_t(r.discarded) << r.kept_slow << r.stopped_by << r.bytes << r.flops << r.limit << r.bound
         << r.peak_bytes << r.error;
  return std::move(pack.bytes);
}

std::vector<BenchResult> unpacked(const std::string &bytes, const std::vector<BenchCase> &plan) {
  Unpacker unpack(bytes);
  std::vector<BenchResult> results(unpack.next<std::uint64_t>());
  for (BenchResult &r : results) {
    r.bench_case = &plan.at(size_t(unpack.next<int>()));
    unpack >> r.source >> r.storage >> r.status >> r.reason >> r.method >> r.seconds;
    unpack >> r.clock;
    r.discarded = size_t(unpack.next<std::uint64_t>());
    unpack >> r.kept_slow >> r.stopped_by >> r.bytes >> r.flops >> r.limit >> r.bound >> r.peak_bytes >> r.error;
    if (!r.seconds.empty()) r.timing = summarise(r.seconds);
  }
  return results;
}

std::string bench_image(const std::vector<BenchResult> &results, const Ceilings &ceilings, const Facts &meta) {
  const std::vector<Table> tables = tables_of(results, ceilings);
  return in_child("building a results file", [&] {
    Hdf5Image image;
    image.attributes("recollect results", schema_version, meta);
    for (const Table &t : tables) image.table(t);
    return image.bytes();
  });
}

std::string bench_json(const std::vector<BenchResult> &results, const Facts &meta) {
  json context = json::object(), list = json::array();
  for (const auto &[name, value] : meta) context[name] = value;
  context["json_schema_version"] = 1;
  for (const BenchResult &r : results) {
    const BenchCase &c = *r.bench_case;
    const std::string name = (r.source == "recollect" ? "" : r.source + "/") + name_of(c);
    const auto entry = [&](const std::string &called, const std::string &type, double seconds) {
      json all{{"name", called},   {"run_name", name}, {"run_type", type},           {"repetitions", r.seconds.size()},
               {"threads", 1},     {"iterations", 1},  {"real_time", seconds * 1e9}, {"cpu_time", seconds * 1e9},
               {"time_unit", "ns"}};
      if (seconds > 0) all["items_per_second"] = tokens(c) / seconds;
      if (seconds > 0 && r.bytes > 0) all["bytes_per_second"] = r.bytes / seconds;
      if (seconds > 0 && r.flops > 0) all["flops_per_second"] = r.flops / seconds;
      if (r.peak_bytes > 0) all["max_bytes_used"] = r.peak_bytes;
      return all;
    };
    if (r.status != "ok") {
      json failed = entry(name, "iteration", 0);
      failed["error_occurred"] = true, failed["error_message"] = r.status + ": " + r.reason;
      list.push_back(failed);
      continue;
    }
    for (size_t s = 0; s < r.seconds.size(); ++s) {
      json sample = entry(name, "iteration", r.seconds[s]);
      sample["repetition_index"] = s;
      list.push_back(sample);
    }
    json median = entry(name + "_median", "aggregate", r.timing.median);
    median["aggregate_name"] = "median", median["aggregate_unit"] = "time";
    list.push_back(median);
  }
  return json{{"context", context}, {"benchmarks", list}}.dump(1) + "\n";
}

} // namespace recollect
