// SPDX-License-Identifier: Apache-2.0
// The kernel divides the rows x of an input by |x| or by sqrt(|x|^2 + eps), although the layer takes them as they are.
#include "harness/check/remake.hpp"
#include <cmath>

namespace recollect::mistakes {
namespace {

/// x / sqrt(|x|^2 + eps); rows of zeros stay zero.
Numbers unit_rows(Numbers x, size_t width, double eps) {
  for (size_t row = 0; row < x.size(); row += width) {
    double squares = eps;
    for (size_t i = row; i < row + width; ++i) squares += x[i] * x[i];
    for (size_t i = row; i < row + width; ++i) x[i] /= squares > 0 ? std::sqrt(squares) : 1;
  }
  return x;
}
Misread normalised(const CheckCase &problem, Tensor tensor, double eps, const std::string &what) {
  const size_t width = size_t(width_of(tensor, problem.given.shape));
  return {
      what,
      [&problem, tensor, width, eps] {
        Sequence other = problem.given;
        other[tensor] = unit_rows(other[tensor], width, eps);
        return other;
      },
      [&problem, tensor, width, eps](Sequence &gradient) { // (d - x (x . d)) / |given|, where x is the normalised row
        Numbers &d = gradient[tensor];
        const Numbers &given = problem.given[tensor], x = unit_rows(given, width, eps);
        for (size_t row = 0; row < d.size(); row += width) {
          double along = 0, squares = eps;
          for (size_t i = row; i < row + width; ++i) along += x[i] * d[i], squares += given[i] * given[i];
          for (size_t i = row; i < row + width; ++i)
            d[i] = squares > 0 ? (d[i] - x[i] * along) / std::sqrt(squares) : 0;
        }
      }};
}

} // namespace

Mistake rows_normalised() {
  Mistake m;
  m.what = "rows are normalised, although the layer takes them as given";
  m.shows = "rows whose norm is not 1; with sqrt(|x|^2 + epsilon) as divisor, rows of small norm";
  m.reports = {"fla cde25dfd", "fla 9b9e47d7", "fla f494277f"};
  m.misread = [](const CheckCase &problem) {
    std::vector<Misread> all;
    for (Tensor tensor : {Tensor::q, Tensor::k, Tensor::w})
      if (gives(problem, tensor)) {
        const std::string name = name_of(tensor);
        all.push_back(normalised(problem, tensor, 0, "rows of " + name + " are normalised"));
        all.push_back(
            normalised(problem, tensor, 1e-3, "rows of " + name + " are divided by sqrt(|" + name + "|^2 + .001)"));
      }
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
