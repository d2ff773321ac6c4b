// SPDX-License-Identifier: Apache-2.0
// q sqrt(Dk), q / sqrt(Dk): the factor of the scores is missing, or there twice
#include "harness/check/remake.hpp"
#include <cmath>

namespace recollect::mistakes {
namespace {

Misread scaled(const CheckCase &problem, double factor, const std::string &what) {
  return elementwise(
      problem, Tensor::q, what, [=](double x) { return factor * x; }, [=](double) { return factor; });
}

} // namespace

Mistake scale_wrong() {
  Mistake m;
  m.what = "the scale of the scores is missing, applied twice, or that of another width";
  m.shows = "every output, by one factor where outputs are linear in the query";
  m.reports = {"mlx-lm #1798"};
  m.misread = [](const CheckCase &problem) {
    const Shape &n = problem.given.shape;
    const double root = std::sqrt(double(n.Dk));
    int padded = 1;
    while (padded < n.Dk) padded *= 2;
    std::vector<Misread> all{
        scaled(problem, root, "the scale is missing: scores are sqrt(Dk) too large"),
        scaled(problem, 1 / root, "the scale 1/sqrt(Dk) is applied, or applied twice"),
        scaled(problem, 1 / (root * root), "scores are divided by Dk in place of nothing, or by Dk sqrt(Dk)")};
    if (n.Dv != n.Dk) all.push_back(scaled(problem, root / std::sqrt(double(n.Dv)), "the scale is that of Dv, not Dk"));
    if (padded != n.Dk)
      all.push_back(
          scaled(problem, root / std::sqrt(double(padded)), "the scale is that of Dk padded to a power of 2"));
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
