// SPDX-License-Identifier: Apache-2.0
#include "harness/check/noise.hpp"
#include "harness/numerics/random.hpp"
#include <algorithm>
#include <cmath>

namespace recollect {
namespace {

using Numbers = std::vector<double>;

/// Random signs: one stream for each array of each draw.
class Signs {
public:
  Signs(int draw, const std::string &array) : stream_(17, "check/signs/" + array, std::uint64_t(draw)) {}
  double operator()(size_t i) const { return stream_.bits(i) & 1 ? 1 : -1; }

private:
  Stream stream_;
};

/// Rounding leaves zeros as they are, and whole numbers of a state: counts of steps, which kernels keep exactly.
void move(Numbers &values, const Signs &sign, Precision precision, bool counts) {
  for (size_t i = 0; i < values.size(); ++i)
    if (const double x = values[i]; x != 0 && !(counts && x == std::nearbyint(x)))
      values[i] = x + sign(i) * half_spacing(x, precision);
}

/// Decays [heads, T, width], factors in [0,1]: each logarithm moves by half a spacing of the type, and the sum G_t of the
/// logarithms since the start of the chunk by half a spacing of float32, the type of such sums in every kernel.
void move_decays(Numbers &decays, const Signs &sign, const Signs &sum_sign, Precision precision, size_t T, size_t width,
                 int chunk) {
  for (size_t lane = 0; lane < decays.size() / T; ++lane) {
    const size_t first = lane / width * T * width + lane % width;
    double sum = 0, moved = 0; // G_{t-1} and its error
    for (size_t t = 0; t < T; ++t) {
      double &x = decays[first + t * width];
      if (t % size_t(chunk) == 0) sum = moved = 0;
      if (!(x > 0)) continue; // 0 stays 0; -inf is not summed
      const size_t i = first + t * width;
      const double log = std::log(x), before = moved;
      sum += log;
      moved = sum_sign(i) * half_spacing(sum, precision == Precision::f64 ? precision : Precision::f32);
      const double error = (log == 0 ? 0 : sign(i) * half_spacing(log, precision)) + moved - before;
      x = std::min(1.0, std::exp(log + error));
    }
  }
}

CheckCase disturbed(const CheckCase &problem, Precision precision, int draw, int chunk) {
  CheckCase moved = problem;
  const Shape &n = problem.given.shape;
  const auto signs = [&](const std::string &array) { return Signs(draw, array); };
  for (Tensor tensor : all_tensors) {
    const std::string name = name_of(tensor);
    if (facts_of(tensor).decay)
      move_decays(moved.given[tensor], signs(name), signs("sums of " + name), precision, size_t(n.T),
                  size_t(width_of(tensor, n)), chunk);
    else
      move(moved.given[tensor], signs(name), precision, false);
  }
  move(moved.given.state, signs("state"), precision, true);
  move(moved.weights.o, signs("do"), precision, false);
  move(moved.weights.state, signs("dstate"), precision, false);
  return moved;
}

Results disturbed_results(const CheckCase &problem, Precision precision, int draw, int chunk) {
  int handovers = 0;
  return in_segments(disturbed(problem, precision, draw, chunk), chunk, [&](Numbers &numbers, const std::string &what) {
    move(numbers, Signs(draw, what + " handed over " + std::to_string(++handovers)), precision, what == "state");
  });
}

/// Below it float32 is zero or subnormal, whatever the type of the arrays: numbers that small count as zero.
double underflow(const Part &part, Precision precision) {
  double largest = 1;
  for (double x : part.values)
    if (std::isfinite(x)) largest = std::max(largest, std::fabs(x));
  return std::ldexp(largest, precision == Precision::f64 ? -1022 : -126);
}

/// Rows backed by few numbers have at least the RMS of the rows around them.
void pool(Numbers &squares, const Part &part) {
  const size_t backed = part.columns * size_t(noise_draws), radius = backed >= 32 ? 0 : (32 / backed + 1) / 2;
  if (radius == 0) return;
  const Numbers own = squares;
  for (size_t i = 0; i < own.size(); ++i) {
    const size_t head = i / part.rows, row = i % part.rows;
    const size_t begin = row < radius ? 0 : row - radius, end = std::min(part.rows, row + radius + 1);
    double sum = 0;
    for (size_t j = begin; j < end; ++j) sum += own[head * part.rows + j];
    squares[i] = std::max(own[i], sum / double(end - begin));
  }
}

} // namespace

Noise noise_of(const CheckCase &problem, const Results &definition, Precision precision, int chunk) {
  const Shape &n = problem.given.shape;
  chunk = std::clamp(chunk, 1, n.T);
  const bool sums_in_f64 = precision == Precision::f64;
  const double sums = std::sqrt(double(n.T) + n.Dk); // roundings of a float32 sum, as a random walk
  Noise noise;
  for (const Part &part : definition) noise.push_back({part.name, Numbers(part.heads * part.rows, 0.0)});
  for (int draw = 0; draw < noise_draws; ++draw) {
    const Results moved = disturbed_results(problem, precision, draw, chunk);
    for (size_t p = 0; p < definition.size(); ++p) {
      const Part &part = definition[p], *other = find_part(moved, part.name);
      for (size_t i = 0; i < part.values.size(); ++i) {
        const double response = other ? other->values[i] - part.values[i] : 0;
        noise[p].rows[i / part.columns] += response * response / noise_draws;
      }
    }
  }
  for (size_t p = 0; p < definition.size(); ++p) {
    const Part &part = definition[p];
    const double least = underflow(part, precision);
    for (size_t i = 0; i < part.values.size(); ++i) {
      const double own = half_spacing(part.values[i], precision),
                   sum = sums * half_spacing(part.values[i], sums_in_f64 ? Precision::f64 : Precision::f32);
      noise[p].rows[i / part.columns] += own * own + sum * sum + least * least;
    }
    for (double &square : noise[p].rows) square /= double(part.columns);
    pool(noise[p].rows, part);
    for (double &square : noise[p].rows) square = std::isnan(square) ? HUGE_VAL : std::sqrt(square);
  }
  return noise;
}

} // namespace recollect
