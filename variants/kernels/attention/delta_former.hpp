// SPDX-License-Identifier: Apache-2.0
// DeltaFormer's two sums (000 Eq 41-42), computed step by step, or chunk by chunk (000 Eq 96-100, Appendix D.3):
//
//   u_t = alpha_t v_t - beta_t sum_{i<t} kappa1(k_i, w_t) u_i,   o_t = sum_{i<=t} kappa2(k_i, q_t) u_i
//
// For a chunk, the part of the first sum with i in earlier chunks is a matrix product R. The rows U of the chunk then
// solve (I + A) U = X, with A(t,i) = beta_t kappa1(k_i, w_t) strictly lower triangular, and row t of X equal to alpha_t
// v_t - beta_t R_t. If kappa1 is a softmax, its denominator sums over all keys i < t, also over keys of the same chunk.
// This denominator depends on keys only, and is known before the system is solved.
#pragma once
#include "harness/device/tile/transposed.hpp"
#include "variants/kernels/attention/attention.hpp"
#include "variants/kernels/common/arrays.hpp"

namespace recollect::variants {

/// The definition (000 Eq 41-42), one step at a time. Scratch per head: u [T,Dv] and one row of weights [T].
template <class Real, class Erase, class Read> struct StepByStep {
  Erase kappa1;
  Read kappa2;
  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &h) const {
    const Erase erase = kappa1;
    const Read read = kappa2;
    Real *u = h.work, *p = u + size_t(h.T) * h.Dv;
    for (int t = 0; t < h.T; ++t) {
      each(team, t, [=](int i) { p[i] = erase(h.index, t, i, dot(h.k(i), h.w(t), h.Dk)); });
      team.barrier();
      if (erase.normalised()) soften(team, t, p);
      team.barrier();
      each(team, h.Dv, [=](int c) {
        Real overlap = 0;
        for (int i = 0; i < t; ++i) overlap += p[i] * u[size_t(i) * h.Dv + c];
        u[size_t(t) * h.Dv + c] = h.alpha[t] * h.v(t)[c] - h.beta[t] * overlap;
      });
      team.barrier();
      each(team, t + 1, [=](int i) { p[i] = read(h.index, t, i, dot(h.k(i), h.q(t), h.Dk)); });
      team.barrier();
      if (read.normalised()) soften(team, t + 1, p);
      team.barrier();
      each(team, h.Dv, [=](int c) {
        Real sum = 0;
        for (int i = 0; i <= t; ++i) sum += p[i] * u[size_t(i) * h.Dv + c];
        h.o(t)[c] = sum;
      });
      team.barrier();
    }
  }
};

template <class Real, class Erase, class Read>
void step_by_step(const std::string &label, const Call<Real> &call, const Erase &kappa1, const Read &kappa2) {
  each_head(label, call, size_t(call.shape.T) * (call.shape.Dv + 1), StepByStep<Real, Erase, Read>{kappa1, kappa2});
}

enum class Inverse { substitution, doubling };

/// u = (I + A)^{-1} u, with (I + A)^{-1} = (I - A)(I + A^2)(I + A^4) ... (000 Eq 99-100) for a strictly lower
/// triangular A [n,n]: ceil(log2 n) - 1 factors follow I - A, and each doubles the power of A. On entry, u [n,width]
/// holds X. `work` has [3 n + width,n] numbers. Barriers inside.
template <class Real>
KOKKOS_FUNCTION void solve_by_doubling(const Team &team, int n, int width, const Real *A, std::ptrdiff_t lda, Real *u,
                                       Real *work) {
  const auto product = [&](const Real *a, std::ptrdiff_t ld, const Real *b, int columns, Real beta, Real *c) {
    tile::gemm_lower<Real>(team, n, columns, Real(1), a, ld, tile::rows(b, columns), beta, c, columns);
    team.barrier();
  };
  const auto copy = [&](int columns, const Real *from, std::ptrdiff_t ld, Real *to) {
    each_cell(team, n, columns, [=](int i, int j) { to[size_t(i) * columns + j] = from[i * ld + j]; });
    team.barrier();
  };
  const size_t square = size_t(n) * n;
  Real *X = work, *Y = X + square, *Z = Y + square, *rhs = Z + square;
  each_cell(team, n, n, [=](int i, int j) { X[size_t(i) * n + j] = (i == j ? Real(1) : Real(0)) - A[i * lda + j]; });
  copy(n, A, lda, Z);
  product(A, lda, Z, n, Real(0), Y);
  for (int power = 2; power < n; power *= 2) { // Y = A^power
    copy(n, X, n, Z);
    product(Z, n, Y, n, Real(1), X);
    copy(n, Y, n, Z);
    product(Z, n, Z, n, Real(0), Y);
  }
  copy(width, u, width, rhs);
  product(X, n, rhs, width, Real(0), u);
}

/// Processes the chunks of one head in order. `loop` has w as queries and u as values.
template <class Number, class Kernel> struct WriteByChunks {
  using Real = Number;
  OnlineSoftmax<Real, Kernel> loop;
  Inverse inverse;
  HeadArrays<Real> arrays;

  struct Buffers {
    typename OnlineSoftmax<Real, Kernel>::Buffers loop;
    Real *sum, *work; // sum: [C,Dv]; work: scratch of solve_by_doubling()
  };
  KOKKOS_FUNCTION Buffers place(Stack<Real> &s) const {
    const size_t C = loop.most_rows;
    return {loop.place(s), s.take(C * arrays.Dv),
            inverse == Inverse::doubling ? s.take(C * (3 * C + arrays.Dv)) : nullptr};
  }

  KOKKOS_FUNCTION void operator()(const Team &team, size_t head, Real *memory) const {
    Stack<Real> stack{memory};
    const Buffers x = place(stack);
    const Head<Real> h = arrays.head(head);
    const int V = h.Dv, T = h.T, C = loop.most_rows;
    const std::ptrdiff_t ld = tile::pitch<Real>(loop.most_keys);
    Real *sum = x.sum;
    for (int t0 = 0; t0 < T; t0 += C) {
      const Range chunk{t0, t0 + C < T ? t0 + C : T};
      const int n = chunk.size();
      Real *u = loop.values.at(head, t0);
      loop.begin(team, n, x.loop, sum, V);
      loop.gather(team, head, chunk, {0, t0}, x.loop, sum, V);
      loop.weigh(team, head, chunk, chunk, tile::rows<Real>(loop.queries.at(head, t0), h.Dk),
                 tile::transposed<Real>(loop.keys.at(head, t0), h.Dk), x.loop, sum, V);
      const Real *mass = x.loop.mass;
      Real *A = x.loop.p;
      each_row(team, n, [=](int r, int first, int step) {
        const Real factor = mass[r] == 0 ? Real(0) : h.beta[t0 + r] / mass[r];
        for (int j = first; j < r; j += step) A[r * ld + j] *= factor;
        for (int c = first; c < V; c += step)
          u[size_t(r) * V + c] = h.alpha[t0 + r] * h.v(t0 + r)[c] - factor * sum[size_t(r) * V + c];
      });
      team.barrier();
      if (inverse == Inverse::doubling)
        solve_by_doubling(team, n, V, A, ld, u, x.work);
      else
        tile::solve_unit_lower(team, n, V, A, ld, u, V);
      team.barrier();
    }
  }
};

template <class Real, class Kernel>
void write_by_chunks(const std::string &label, const Call<Real> &call, const Kernel &kernel, Inverse inverse,
                     const Array<Real> &u) {
  const Shape &s = call.shape;
  OnlineSoftmax<Real, Kernel> loop = online_softmax(kernel, CausalMask::earlier, rows_of(call.w, s, s.Dk),
                                                    rows_of(call.k, s, s.Dk), rows_of(u, s, s.Dv), call.chunk);
  loop.most_rows = call.chunk, loop.most_keys = std::max(loop.most_keys, call.chunk); // a chunk must be a single block
  const WriteByChunks<Real, Kernel> write{loop, inverse, HeadArrays<Real>(call)};
  Stack<Real> size;
  write.place(size);
  run<Real>({label, s.heads(), 256, call.math}, *call.arena, size.used, write);
}

/// o_t = sum_{i<=t} kappa2(k_i, q_t) u_i.
template <class Real, class Kernel>
void read_back(const std::string &label, const Call<Real> &call, const Kernel &kernel, const Array<Real> &u) {
  const Shape &s = call.shape;
  attend(label, call,
         online_softmax(kernel, CausalMask::through_self, rows_of(call.q, s, s.Dk), rows_of(call.k, s, s.Dk),
                        rows_of(u, s, s.Dv), call.chunk),
         Divide<Real>{rows_of(call.o, s, s.Dv)});
}

template <class Real> Array<Real> empty_u(const Call<Real> &call) {
  return allocate(call, call.steps() * call.shape.Dv);
}

} // namespace recollect::variants
