// SPDX-License-Identifier: Apache-2.0
#include "harness/numerics/element_response.hpp"
#include "harness/numerics/random.hpp"
#include <algorithm>
#include <limits>
#include <stdexcept>

namespace recollect {

ElementResponse element_response(const Dense &M, const Dense &B, const std::vector<double> &q) {
  const Stream signs(17, "element_response/signs");
  Dense moved = M;
  for (int i = 0; i < M.rows; ++i)
    for (int j = 0; j < M.columns; ++j)
      if (signs.bits(size_t(std::min(i, j)) * M.columns + std::max(i, j)) & 1) moved(i, j) *= -1;
  try {
    const Dense BM = B * inverse(M), column(M.columns, 1, q);
    return {max_abs((BM * moved * inverse(M) * column).data), max_abs((BM * column).data)};
  } catch (const std::runtime_error &) {
    return {std::numeric_limits<double>::infinity(), 0};
  }
}

} // namespace recollect
