// SPDX-License-Identifier: Apache-2.0
#include "harness/command_line/print.hpp"
#include "harness/command_line/table.hpp"
#include <cmath>
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

void print_bench(std::ostream &out, const BenchResult &r, double ours) {
  const BenchCase &c = *r.bench_case;
  const bool peer = r.source != "recollect";
  const std::string name = (peer ? r.source + ": " : "") + name_of(c);
  if (r.status != "ok") {
    out << folded(formatted("%-64s ", name.c_str()) + r.status + ": " + r.reason) << std::endl;
    return;
  }
  const Timing &t = r.timing;
  std::string line =
      formatted("%-64s %9.4g ms  [%.4g, %.4g]  noise %.2g%%  %8.3g tokens/s", name.c_str(), t.median * 1e3, t.low * 1e3,
                t.high * 1e3, 100 * t.noise, double(c.shape.heads()) * c.shape.T / t.median);
  if (peer && ours > 0) line += formatted("  %.3gx ours", t.median / ours);
  if (peer || c.math != Math::exact) line += "  stored in " + r.storage;
  if (r.limit > 0) line += formatted("  %.3g%% of its limit (%s)", 100 * r.limit / t.median, r.bound.c_str());
  if (r.peak_bytes > 0) line += formatted("  peak %.3g MB", double(r.peak_bytes) / 1e6);
  if (c.math != Math::exact && r.error > 0) line += formatted("  error %.1e", r.error);
  if (std::fabs(r.clock - 1) > 1e-9) line += formatted("  clock %.0f%% of default", 100 * r.clock);
  if (r.discarded > 0) line += formatted("  %zu samples discarded: slow clock", r.discarded);
  if (r.kept_slow) line += ", the others were kept although the clock stayed slow";
  if (r.stopped_by == "most seconds" || r.stopped_by == "most samples")
    line += "  stopped at the limit: " + r.stopped_by;
  if (!t.outliers.empty()) line += formatted("  %zu of %zu outliers", t.outliers.size(), r.seconds.size());
  if (!r.method.empty()) line += "  " + r.method;
  if (!r.reason.empty()) line += "  " + r.reason;
  out << folded(line) << std::endl;
}

void print_ceilings(std::ostream &out, const Ceilings &c) {
  std::string line = "ceilings of this run:";
  for (const char *of : {"f32", "f64", "tf32", "bf16", "bytes"}) {
    const Ceiling best = c.best(of);
    if (best.per_second > 0)
      line += formatted(" %s %.4g %s (%s, %s);", best.of.c_str(), best.per_second / 1e9,
                        best.of == "bytes" ? "GB/s" : "GFLOP/s", best.kernel.c_str(), best.size.c_str());
  }
  line.back() = '\n';
  out << folded(line) << std::flush;
}

void print_growth(std::ostream &out, const std::vector<Growth> &fits) {
  for (const Growth &g : fits)
    out << folded(formatted("%-64s time ~ T^%.3f +- %.3f (%d lengths)\n", g.name.c_str(), g.exponent,
                            2 * g.standard_error, g.points));
}

} // namespace recollect
