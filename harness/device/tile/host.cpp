// SPDX-License-Identifier: Apache-2.0
// A block of results is kept in vector registers: R rows of N vectors, with one instance of the code for each R and N.
// Columns of B are packed first if they do not fill the last vector, or if the rows of B are not contiguous.
#include "harness/device/tile/host.hpp"
#include "harness/device/exp_host.hpp"
#include "harness/device/vectors.hpp"
#include <algorithm>
#include <limits>
#include <utility>

namespace recollect::tile::host {
namespace {

constexpr int most_vectors = registers == 32 ? 4 : 2;
/// The most rows of a block for which its sums, one row of B and one element of A stay in registers.
constexpr int most_rows(int vectors) { return std::min((registers - 2 - vectors) / vectors, 14); }
constexpr int depth = 128; // rows of B that are packed at a time; most_vectors vectors of each fit into the L1 cache

/// C[R,width] = beta C + alpha A[R,k] B[k,width]. The rows of B have N full vectors (width or more numbers), and start
/// `ldb` apart.
template <class Real, int R, int N>
void block(int k, Real alpha, const Matrix<Real> &A, const Real *b, std::ptrdiff_t ldb, Real beta, Real *C,
           std::ptrdiff_t ldc, int width) {
  constexpr int W = lanes<Real>,
                groups = (R + 2) / 3; // one pointer addresses three rows: base, base + row, base + 2 row
  Vector<Real> sum[R][N] = {};
  const Real *a[groups];
  for (int g = 0; g < groups; ++g) a[g] = A.data + 3 * g * A.row;
  for (int p = 0; p < k; ++p, b += ldb) {
    Vector<Real> x[N];
    UNROLL for (int j = 0; j < N; ++j) x[j] = load(b + j * W);
    UNROLL for (int r = 0; r < R; ++r) {
      const Real s = a[r / 3][r % 3 * A.row];
      UNROLL for (int j = 0; j < N; ++j) sum[r][j] += s * x[j];
    }
    UNROLL for (int g = 0; g < groups; ++g) a[g] += A.column;
  }
  UNROLL for (int r = 0; r < R; ++r) {
    Real *out = C + r * ldc;
    UNROLL for (int j = 0; j < N; ++j, out += W) {
      Vector<Real> result = alpha * sum[r][j];
      if (width >= (j + 1) * W) {
        if (beta != 0) result += beta * load(out);
        store(result, out);
      } else
        for (int l = 0; l < width - j * W; ++l) out[l] = result[l] + (beta == 0 ? Real(0) : beta * out[l]);
    }
  }
}

/// X[R,width] = (I + L)^{-1} X, computed in registers.
template <class Real, int R, int N>
void substitute(const Real *L, std::ptrdiff_t ldl, Real *X, std::ptrdiff_t ldx, int width) {
  constexpr int W = lanes<Real>;
  alignas(bytes) Real edge[N * W];
  Vector<Real> x[R][N];
  UNROLL for (int r = 0; r < R; ++r) {
    const Real *row = X + r * ldx;
    if (width < N * W) row = static_cast<const Real *>(std::memcpy(edge, row, width * sizeof(Real)));
    UNROLL for (int j = 0; j < N; ++j) x[r][j] = load(row + j * W);
    UNROLL for (int p = 0; p < r; ++p) UNROLL for (int j = 0; j < N; ++j) x[r][j] -= L[r * ldl + p] * x[p][j];
  }
  for (int r = 0; r < R; ++r) {
    Real *row = X + r * ldx, *to = width < N * W ? edge : row;
    UNROLL for (int j = 0; j < N; ++j) store(x[r][j], to + j * W);
    if (to == edge) std::memcpy(row, edge, width * sizeof(Real));
  }
}

template <class Real>
using Block = void (*)(int, Real, const Matrix<Real> &, const Real *, std::ptrdiff_t, Real, Real *, std::ptrdiff_t,
                       int);
template <class Real> using Substitute = void (*)(const Real *, std::ptrdiff_t, Real *, std::ptrdiff_t, int);

template <class Real, int N, int... R> Block<Real> pick_block(int rows, std::integer_sequence<int, R...>) {
  static constexpr Block<Real> table[] = {block<Real, R + 1, N>...};
  return table[rows - 1];
}
template <class Real> Block<Real> block_of(int rows, int vectors) {
  if (vectors == 1) return pick_block<Real, 1>(rows, std::make_integer_sequence<int, most_rows(1)>());
  if (vectors == 2) return pick_block<Real, 2>(rows, std::make_integer_sequence<int, most_rows(2)>());
  if constexpr (most_vectors > 2)
    if (vectors == 3) return pick_block<Real, 3>(rows, std::make_integer_sequence<int, most_rows(3)>());
  return pick_block<Real, most_vectors>(rows, std::make_integer_sequence<int, most_rows(most_vectors)>());
}

constexpr int solved_rows = 8, solved_vectors = registers == 32 ? 3 : 1;
template <class Real, int N, int... R> Substitute<Real> pick_substitute(int rows, std::integer_sequence<int, R...>) {
  static constexpr Substitute<Real> table[] = {substitute<Real, R + 1, N>...};
  return table[rows - 1];
}
template <class Real> Substitute<Real> substitute_of(int rows, int vectors) {
  constexpr auto all = std::make_integer_sequence<int, solved_rows>();
  if (vectors == 1) return pick_substitute<Real, 1>(rows, all);
  if (vectors == 2) return pick_substitute<Real, (solved_vectors > 2 ? 2 : 1)>(rows, all);
  return pick_substitute<Real, solved_vectors>(rows, all);
}

/// Copies B[k,width] to out[k,padded], with zeros in the columns from `width` on.
template <class Real> void pack(int k, int width, int padded, const Matrix<Real> &B, Real *out) {
  constexpr int W = lanes<Real>;
  if (B.column == 1) {
    for (int p = 0; p < k; ++p) {
      Real *row = out + std::ptrdiff_t(p) * padded;
      std::memcpy(row, B.data + p * B.row, width * sizeof(Real));
      std::fill(row + width, row + padded, Real(0));
    }
    return;
  }
  const int squares = B.row == 1 ? k / W * W : 0;
  for (int j = 0; j < padded; j += W) {
    int p = 0;
    if (j + W <= width)
      for (; p < squares; p += W) {
        Vector<Real> x[W];
        UNROLL for (int l = 0; l < W; ++l) x[l] = load(B.data + (j + l) * B.column + p);
        transpose_registers<Real>(x);
        UNROLL for (int l = 0; l < W; ++l) store(x[l], out + std::ptrdiff_t(p + l) * padded + j);
      }
    for (; p < k; ++p)
      for (int l = j; l < j + W; ++l) out[std::ptrdiff_t(p) * padded + l] = l < width ? B(p, l) : Real(0);
  }
}

/// Whether all numbers in the rows [begin, end) of b are finite. Its rows consist of N full vectors.
template <class Real, int N> bool finite(const Matrix<Real> &b, int begin, int end) {
  Vector<Real> zero = {}; // sum of x - x: 0, or NaN once some x is infinite or NaN
  for (int p = begin; p < end; ++p) UNROLL for (int j = 0; j < N; ++j) {
      const Vector<Real> x = load(b.data + p * b.row + j * lanes<Real>);
      zero += x - x;
    }
  for (int l = 0; l < lanes<Real>; ++l)
    if (zero[l] != 0) return false;
  return true;
}
template <class Real> bool finite(const Matrix<Real> &b, int vectors, int begin, int end) {
  if (vectors == 1) return finite<Real, 1>(b, begin, end);
  if (vectors == 2) return finite<Real, 2>(b, begin, end);
  if (vectors == 3) return finite<Real, 3>(b, begin, end);
  return finite<Real, 4>(b, begin, end);
}

/// Splits `all` into as few parts of at most `most` as possible, as even as possible, and calls f(first, count).
template <class F> void evenly(int all, int most, const F &f) {
  for (int first = 0, parts = (all + most - 1) / most; parts > 0; --parts) {
    const int count = (all - first + parts - 1) / parts;
    f(first, count);
    first += count;
  }
}

} // namespace

template <class Real>
void gemm(int m, int n, Real alpha, const Product<Real> &product, Real beta, Real *C, std::ptrdiff_t ldc) {
  constexpr int W = lanes<Real>;
  alignas(bytes) Real packed[depth * most_vectors * W];
  const Staircase &given = product.given, &wanted = product.wanted;
  const int k = product.k;
  // Narrow panels skip more of the results that are not wanted.
  const int panel = wanted.end(0, n) < n ? std::min(2, most_vectors) : most_vectors;
  for (int p = 0; p == 0 || p < k; p += depth) {
    evenly((n + W - 1) / W, panel, [&](int vector, int N) {
      const int j = vector * W, width = std::min(n - j, N * W), deep = std::min(depth, k - p);
      int top = 0; // the first row that needs any of these columns
      while (top < m && wanted.end(top, n) <= j) ++top;
      if (top == m) return;
      Matrix<Real> b = product.B.from(p, j);
      if (b.column != 1 || width < N * W) {
        pack(deep, width, N * W, b, packed);
        b = rows<Real>(packed, N * W);
      }
      evenly(m - top, most_rows(N), [&](int below, int R) {
        const int i = top + below;
        const auto multiply = [&](int first, int count, int end) {
          if (p == 0 || end > 0)
            block_of<Real>(count, N)(end, alpha, product.A.from(first, p), b.data, b.row, p ? Real(1) : beta,
                                     C + first * ldc + j, ldc, width);
        };
        const auto end = [&](int row) { return std::clamp(given.end(row, k) - p, 0, deep); };
        if (end(i) == end(i + R - 1) || finite(b, N, end(i), end(i + R - 1)))
          multiply(i, R, end(i + R - 1));
        else // row by row: in a block, rows that end earlier would get 0 times infinity added
          for (int row = i; row < i + R; ++row) multiply(row, 1, end(row));
      });
    });
  }
}

template <class Real>
void solve_unit_lower(int n, int columns, const Real *L, std::ptrdiff_t ldl, Real *X, std::ptrdiff_t ldx) {
  constexpr int W = lanes<Real>;
  for (int i = 0; i < n; i += solved_rows) {
    const int R = std::min(solved_rows, n - i);
    if (i)
      gemm(R, columns, Real(-1), Product<Real>{rows(L + i * ldl, ldl), rows<Real>(X, ldx), i}, Real(1), X + i * ldx,
           ldx);
    evenly((columns + W - 1) / W, solved_vectors, [&](int vector, int N) {
      const int j = vector * W;
      substitute_of<Real>(R, N)(L + i * ldl + i, ldl, X + i * ldx + j, ldx, std::min(columns - j, N * W));
    });
  }
}

template <class Real> void transpose(int m, int n, const Real *A, std::ptrdiff_t lda, Real *B, std::ptrdiff_t ldb) {
  constexpr int W = lanes<Real>;
  for (int i = 0; i < m; i += W)
    for (int j = 0; j < n; j += W) {
      if (i + W <= m && j + W <= n) {
        Vector<Real> x[W];
        UNROLL for (int l = 0; l < W; ++l) x[l] = load(A + (i + l) * lda + j);
        transpose_registers<Real>(x);
        UNROLL for (int l = 0; l < W; ++l) store(x[l], B + (j + l) * ldb + i);
      } else
        for (int r = i; r < std::min(i + W, m); ++r)
          for (int c = j; c < std::min(j + W, n); ++c) B[c * ldb + r] = A[r * lda + c];
    }
}

template <class Real> Real exponentiate(int n, Real peak, Real *p) {
  constexpr int W = lanes<Real>;
  using K = math::host::ExpConstants<Real>;
  const auto exp = [=](const Vector<Real> &x) {
    return math::host::exp<Real, Vector<Real>, Vector<typename K::Integer>, Vector<typename K::Word>>(x - peak);
  };
  Vector<Real> sum = {};
  int j = 0;
  for (; j + W <= n; j += W) {
    const Vector<Real> weight = exp(load(p + j));
    store(weight, p + j);
    sum += weight;
  }
  if (j < n) {
    alignas(bytes) Real edge[W];
    std::fill(edge, edge + W, -std::numeric_limits<Real>::infinity()); // exp(-infinity) adds 0 to the sum
    std::memcpy(edge, p + j, (n - j) * sizeof(Real));
    const Vector<Real> weight = exp(load(edge));
    std::memcpy(p + j, &weight, (n - j) * sizeof(Real));
    sum += weight;
  }
  alignas(bytes) Real parts[W];
  store(sum, parts);
  UNROLL for (int half = W / 2; half > 0; half /= 2) UNROLL for (int l = 0; l < half; ++l) parts[l] += parts[l + half];
  return parts[0];
}

#define FOR(Real)                                                                                                      \
  template void gemm(int, int, Real, const Product<Real> &, Real, Real *, std::ptrdiff_t);                             \
  template void solve_unit_lower(int, int, const Real *, std::ptrdiff_t, Real *, std::ptrdiff_t);                      \
  template void transpose(int, int, const Real *, std::ptrdiff_t, Real *, std::ptrdiff_t);                             \
  template Real exponentiate(int, Real, Real *);
FOR(float)
FOR(double)

} // namespace recollect::tile::host
