// SPDX-License-Identifier: Apache-2.0
// The scale of the scores is missing (q sqrt(Dk) instead of q), applied twice (q / sqrt(Dk)), or computed from another
// width.
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
  m.what = "the scale of the scores is missing, applied twice, or computed from another width";
  m.shows = "every output, by one factor where outputs are linear in the query";
  m.reports = {"mlx-lm #1798"};
  m.misread = [](const CheckCase &problem) {
    const Shape &n = problem.given.shape;
    const double root = std::sqrt(double(n.Dk));
    int padded = 1;
    while (padded < n.Dk) padded *= 2;
    std::vector<Misread> all{
        scaled(problem, root, "the scale is missing: scores are too large by the factor sqrt(Dk)"),
        scaled(
            problem, 1 / root,
            "scores have an extra factor 1/sqrt(Dk): a scale that the layer does not have, or its scale applied twice"),
        scaled(problem, 1 / (root * root), "scores have an extra factor 1/Dk")};
    if (n.Dv != n.Dk) all.push_back(scaled(problem, root / std::sqrt(double(n.Dv)), "the scale is that of Dv, not Dk"));
    if (padded != n.Dk)
      all.push_back(
          scaled(problem, root / std::sqrt(double(padded)), "the scale is that of Dk padded to a power of 2"));
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
