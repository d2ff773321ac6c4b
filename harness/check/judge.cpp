// SPDX-License-Identifier: Apache-2.0
#include "harness/check/judge.hpp"
#include <algorithm>
#include <cmath>

namespace recollect {
namespace {

/// |a - b|; infinity if the difference is NaN, so that an element that is NaN counts as wrong.
double gap(double a, double b) {
  const double difference = std::fabs(a - b);
  return std::isnan(difference) ? HUGE_VAL : difference;
}

double over(double error, double noise) { return error == 0 ? 0 : noise == HUGE_VAL ? 0 : error / noise; }

/// Errors of one head. `squares` and `noise` are sums over its rows of the mean squared error and of sigma^2.
struct HeadErrors {
  double worst_row = 0, squares = 0, noise = 0;
  double ratio() const { return over(std::sqrt(squares), std::sqrt(noise)); }
  bool beyond(const Limits &limits, size_t rows, double margin = 1) const {
    return worst_row > margin * limits.row || ratio() > margin * limits.head_of(rows);
  }
};

/// Computes the errors of a head row by row. error(i) must return the error of element i; told(row, ratio) receives the
/// ratio of error to noise of each row.
template <class Error, class Told>
HeadErrors head_errors(const Part &reference, const PartNoise &noise, size_t head, const Error &error,
                       const Told &told) {
  HeadErrors found;
  for (size_t row = head * reference.rows; row < (head + 1) * reference.rows; ++row) {
    double squares = 0;
    for (size_t i = row * reference.columns; i < (row + 1) * reference.columns; ++i) squares += error(i) * error(i);
    squares /= double(reference.columns);
    const double ratio = over(std::sqrt(squares), noise.rows[row]);
    told(row, ratio);
    found.worst_row = std::max(found.worst_row, ratio);
    found.squares += squares, found.noise += noise.rows[row] * noise.rows[row];
  }
  return found;
}

/// Whether judge() would find zeros wrong in place of the head's values, even if its limits were 1.25 times as large.
/// True for a head that is zero up to float64 rounding.
bool has_power(const Part &reference, const PartNoise &noise, size_t head, const Limits &limits) {
  constexpr double margin = 1.25;
  const auto own = [&](size_t i) { return std::isfinite(reference.values[i]) ? std::fabs(reference.values[i]) : NAN; };
  const HeadErrors errors = head_errors(reference, noise, head, own, [](size_t, double) {});
  if (std::isnan(errors.squares) || errors.noise == HUGE_VAL) return false;
  const double float64 = half_spacing(1, Precision::f64) / half_spacing(1, noise.precision);
  return errors.ratio() <= 4 * float64 || errors.beyond(limits, reference.rows, margin);
}

/// Heads for which has_power() is false. If heads have fewer than 32 numbers, none is listed unless all lack power,
/// because a few numbers may be near 0 by chance.
std::vector<size_t> heads_without_power(const Part &reference, const PartNoise &noise, const Limits &limits) {
  std::vector<size_t> found;
  for (size_t head = 0; head < reference.heads; ++head)
    if (!has_power(reference, noise, head, limits)) found.push_back(head);
  const bool few_numbers = reference.rows * reference.columns < 32;
  return few_numbers && found.size() < reference.heads ? std::vector<size_t>{} : found;
}

/// The element with the largest error in the row, as b, h, row, column.
std::vector<long> place_in(const Part &reference, const std::vector<double> &candidate, size_t row, size_t H) {
  size_t worst = row * reference.columns;
  for (size_t i = worst; i < (row + 1) * reference.columns; ++i)
    if (gap(candidate[i], reference.values[i]) > gap(candidate[worst], reference.values[worst])) worst = i;
  const size_t head = row / reference.rows;
  return {long(head / H), long(head % H), long(row % reference.rows), long(worst % reference.columns)};
}

} // namespace

Limits limits_of(Precision precision) {
  return precision == Precision::f64 || precision == Precision::f32 ? Limits{10, 3} : Limits{8, 2};
}

double Limits::head_of(size_t rows) const { return head + (row - head) / std::sqrt(double(rows)); }

Judged judge(const Part &reference, const PartNoise &noise, const std::vector<double> &candidate, size_t H) {
  const Limits limits = limits_of(noise.precision);
  Judged found;
  found.name = reference.name;
  found.ratios.resize(reference.heads * reference.rows);
  double scale = 0, squares = 0, whole = 0;
  for (size_t i = 0; i < candidate.size(); ++i) {
    const double error = gap(candidate[i], reference.values[i]);
    found.finite = found.finite && (std::isfinite(candidate[i]) || !std::isfinite(reference.values[i]));
    found.worst = std::max(found.worst, error), scale = std::max(scale, std::fabs(reference.values[i]));
    squares += error * error, whole += reference.values[i] * reference.values[i];
  }
  if (scale > 0) found.worst /= scale;
  found.rms = std::sqrt(whole > 0 ? squares / whole : squares);

  found.without_power = heads_without_power(reference, noise, limits);
  size_t first = reference.rows, first_row = 0; // first: earliest step beyond the limits; first_row: its row
  const auto powerless = [&](size_t head) {
    return std::binary_search(found.without_power.begin(), found.without_power.end(), head);
  };
  const auto error = [&](size_t i) { return gap(candidate[i], reference.values[i]); };
  for (size_t head = 0; head < reference.heads; ++head) {
    const HeadErrors errors =
        head_errors(reference, noise, head, error, [&](size_t row, double ratio) { found.ratios[row] = ratio; });
    found.row = std::max(found.row, errors.worst_row), found.head = std::max(found.head, errors.ratio());
    if (!errors.beyond(limits, reference.rows) || (powerless(head) && std::isfinite(errors.squares))) continue;
    found.bad_heads.push_back(head);
    const auto begin = found.ratios.begin() + std::ptrdiff_t(head * reference.rows),
               end = begin + std::ptrdiff_t(reference.rows);
    auto bad = std::find_if(begin, end, [&](double ratio) { return ratio > limits.row; });
    if (bad == end)
      bad = std::max_element(begin, end); // only the head as a whole is beyond its limit: report its worst row
    if (size_t(bad - begin) < first) first = size_t(bad - begin), first_row = head * reference.rows + first;
  }
  if (!found.bad_heads.empty()) {
    found.judgement = Judgement::wrong;
    found.first_bad = place_in(reference, candidate, first_row, H);
  } else if (!found.finite) {
    found.judgement = Judgement::wrong;
  } else if (!found.without_power.empty()) {
    found.judgement = Judgement::undecided;
  }
  return found;
}

} // namespace recollect
