// SPDX-License-Identifier: Apache-2.0
#include "harness/command_line/print.hpp"
#include "harness/command_line/table.hpp"
#include <cstdarg>
#include <cstdio>
#include <ostream>

namespace recollect {
namespace {

std::string formatted(const char *format, ...) __attribute__((format(printf, 1, 2)));
std::string formatted(const char *format, ...) {
  char text[512];
  va_list values;
  va_start(values, format);
  std::vsnprintf(text, sizeof text, format, values);
  va_end(values);
  return text;
}

} // namespace

void print_bench(std::ostream &out, const BenchResult &r, const Ceilings &ceilings) {
  const BenchCase &c = *r.bench_case;
  const std::string name = (r.source == "recollect" ? "" : r.source + ": ") + name_of(c);
  if (r.status != "ok") {
    out << folded(formatted("%-64s ", name.c_str()) + r.status + ": " + r.reason) << std::endl;
    return;
  }
  const Timing &t = r.timing;
  std::string line = formatted("%-64s %9.4g ms  [%.4g, %.4g]  %8.3g tokens/s", name.c_str(), t.median * 1e3,
                               t.low * 1e3, t.high * 1e3, double(c.shape.heads()) * c.shape.T / t.median);
  if (r.bytes > 0 && ceilings.bytes_per_second > 0)
    line += formatted("  %4.1f%% of copy", 100 * r.bytes / t.median / ceilings.bytes_per_second);
  const double peak = c.real == Real::f32 ? ceilings.flops_per_second_f32 : ceilings.flops_per_second_f64;
  if (r.flops > 0 && peak > 0) line += formatted("  %4.1f%% of gemm", 100 * r.flops / t.median / peak);
  if (r.peak_bytes > 0) line += formatted("  peak %.3g MB", double(r.peak_bytes) / 1e6);
  if (c.math != Math::exact && r.error > 0) line += formatted("  error %.1e", r.error);
  if (!t.outliers.empty()) line += formatted("  %zu of %zu outliers", t.outliers.size(), r.seconds.size());
  out << folded(line) << std::endl;
}

void print_ceilings(std::ostream &out, const Ceilings &c) {
  out << folded(formatted("ceilings of this run: gemm f32 %.4g, f64 %.4g GFLOP/s; copy %.4g GB/s\n",
                          c.flops_per_second_f32 / 1e9, c.flops_per_second_f64 / 1e9, c.bytes_per_second / 1e9));
}

void print_growth(std::ostream &out, const std::vector<Growth> &fits) {
  for (const Growth &g : fits)
    out << folded(formatted("%-64s time ~ T^%.3f +- %.3f (%d lengths)\n", g.name.c_str(), g.exponent,
                            2 * g.standard_error, g.points));
}

} // namespace recollect
