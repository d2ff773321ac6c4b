// SPDX-License-Identifier: Apache-2.0
#include "harness/numerics/permutation.hpp"
#include <algorithm>

namespace recollect {
namespace {

std::vector<double> means(const Tried &trials) {
  std::vector<double> sums(trials.at(0).size());
  for (const auto &row : trials)
    for (size_t c = 0; c < sums.size(); ++c) sums[c] += row.at(c);
  for (double &sum : sums) sum /= double(trials.size());
  return sums;
}

double best(const Tried &trials, bool smallest) {
  const std::vector<double> all = means(trials);
  return smallest ? *std::min_element(all.begin(), all.end()) : *std::max_element(all.begin(), all.end());
}

} // namespace

size_t best_column(const Tried &trials, bool smallest) {
  const std::vector<double> all = means(trials);
  const auto place = smallest ? std::min_element(all.begin(), all.end()) : std::max_element(all.begin(), all.end());
  return size_t(place - all.begin());
}

PermutationTest permutation_test(const Tried &first, const Tried &second, bool smallest) {
  Tried all = first;
  all.insert(all.end(), second.begin(), second.end());
  const double found = best(first, smallest) - best(second, smallest);
  // Sums of the same numbers in another order differ by rounding. Accuracies that differ do so by at least one answer.
  const double rounding = 1e-12;
  std::vector<char> in_first(all.size(), 0);
  std::fill_n(in_first.begin(), first.size(), char(1));
  size_t splits = 0, larger = 0, smaller = 0;
  do {
    Tried a, b;
    for (size_t i = 0; i < all.size(); ++i) (in_first[i] ? a : b).push_back(all[i]);
    const double difference = best(a, smallest) - best(b, smallest);
    ++splits, larger += difference >= found - rounding, smaller += difference <= found + rounding;
  } while (std::prev_permutation(in_first.begin(), in_first.end()));
  return {double(larger) / double(splits), double(smaller) / double(splits)};
}

} // namespace recollect
