// SPDX-License-Identifier: Apache-2.0
// DeltaFormer's two sums (000 Eq 41-42), step by step and a chunk at a time (000 Eq 96-100, Appendix D.3):
//
//   u_t = alpha_t v_t - beta_t sum_{i<t} kappa1(k_i, w_t) u_i,   o_t = sum_{i<=t} kappa2(k_i, q_t) u_i
//
// What a chunk reads of earlier u is a matrix product; inside it (I + A) U = X with A(t,i) = beta_t kappa1(k_i, w_t)
// strictly lower triangular and X = alpha v - beta (reads). A softmax kappa1 is divided by its row's whole mass, old
// keys and the chunk's own, which is known before the solve.
#pragma once
#include "harness/device/tile.hpp"
#include "variants/kernels/attention.hpp"

namespace recollect::variants {

/// The definition (000 Eq 41-42), one step at a time. Work of a head: u [T,Dv] and one row of weights [T].
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

/// A and X of one chunk, from weights and reads; A over the weights, X over the rows of u.
template <class Real> struct ChunkSystem {
  int T, Dv, n, t0, stride;
  size_t head;
  const Real *v, *alpha, *beta, *mass, *sum;
  Real *weights, *u;

  KOKKOS_FUNCTION void operator()(int row) const {
    const int g = row / n, r = row % n;
    const size_t step = (head + g) * T + t0 + r, slot = size_t(g) * stride + r;
    const Real factor = mass[slot] == 0 ? Real(0) : beta[step] / mass[slot];
    Real *A = weights + size_t(row) * n;
    for (int j = 0; j < r; ++j) A[j] *= factor;
    for (int c = 0; c < Dv; ++c) u[step * Dv + c] = alpha[step] * v[step * Dv + c] - factor * sum[slot * Dv + c];
  }
};

/// U = (I + A)^{-1} X in place, one team a head.
template <class Real> struct Substitute {
  int T, Dv, n, t0;
  size_t head;
  const Real *A;
  Real *u;
  KOKKOS_FUNCTION void operator()(const Team &team, size_t g, Real *) const {
    tile::solve_unit_lower(team, n, Dv, A + g * n * n, n, u + ((head + g) * T + t0) * Dv, Dv);
  }
};

/// (I + A)^{-1} = (I - A)(I + A^2)(I + A^4) ...: ceil(log2 n) - 1 doublings (000 Eq 99-100), then U = (I + A)^{-1} X.
template <class Real> class Doubling {
public:
  Doubling(int chunk, int Dv)
      : width_(Dv),
        work_(Kokkos::view_alloc(Kokkos::WithoutInitializing, "doubling"), size_t(chunk) * (3 * size_t(chunk) + Dv)) {}

  void solve(int n, const Real *A, Real *u) {
    const int square = n * n, width = width_;
    Real *X = work_.data(), *Y = X + square, *Z = Y + square, *rhs = Z + square;
    Kokkos::parallel_for(
        "doubling::start", Kokkos::RangePolicy<Execution>(0, square),
        KOKKOS_LAMBDA(int i) { X[i] = (i / n == i % n ? Real(1) : Real(0)) - A[i]; });
    product("N", n, n, n, Real(1), A, A, Real(0), Y);
    for (int power = 2; power < n; power *= 2) { // Y = A^power
      copy(square, X, Z);
      product("N", n, n, n, Real(1), Z, Y, Real(1), X);
      copy(square, Y, Z);
      product("N", n, n, n, Real(1), Z, Z, Real(0), Y);
    }
    copy(n * width, u, rhs);
    product("N", n, width, n, Real(1), X, rhs, Real(0), u);
  }

private:
  static void copy(int count, const Real *from, Real *to) {
    using In = Kokkos::View<const Real *, Execution, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
    using Out = Kokkos::View<Real *, Execution, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
    Kokkos::deep_copy(Execution(), Out(to, count), In(from, count));
  }
  int width_;
  Array<Real> work_;
};

/// Fills u [heads,T,Dv] from the call's k, w, v, alpha, beta.
template <class Real, class Kernel>
void write_by_chunks(const std::string &label, const Call<Real> &call, const Kernel &kernel, Inverse inverse,
                     const Array<Real> &u) {
  const Shape &s = call.shape;
  const int C = call.chunk;
  const Rows<Real> values = rows_of(u, s, s.Dv);
  Attention<Real, Kernel> tiles(label, kernel, Sees::earlier, rows_of(call.w, s, s.Dk), rows_of(call.k, s, s.Dk),
                                values, s.heads(), C);
  Doubling<Real> doubling(inverse == Inverse::doubling ? C : 0, s.Dv);
  const int stretch = tiles.tile_rows / C * C; // whole chunks whose reads of older u are one product
  tiles.each_group([&](size_t head, size_t heads) {
    for (int begin = 0; begin < s.T; begin += stretch) {
      const int end = std::min(begin + stretch, s.T);
      tiles.begin(head, heads, {begin, end});
      tiles.gather({begin, end}, {0, begin});
      for (int t = begin; t < end; t += C) {
        const Range chunk{t, std::min(t + C, end)};
        const int n = chunk.size();
        tiles.gather(chunk, {begin, t});
        tiles.weigh(chunk, chunk);
        Real *A = tiles.scores(0, chunk, chunk);
        Kokkos::parallel_for(label + "::system", Kokkos::RangePolicy<Execution>(0, int(heads) * n),
                             ChunkSystem<Real>{s.T, s.Dv, n, t, tiles.tile_rows, head, call.v.data(), call.alpha.data(),
                                               call.beta.data(), tiles.mass(0, chunk), tiles.sum(0, chunk), A,
                                               u.data()});
        if (inverse == Inverse::doubling)
          for (size_t g = 0; g < heads; ++g) doubling.solve(n, A + g * n * n, values.at(head + g, t));
        else
          run<Real>({label + "::solve", heads}, *call.arena, 0, Substitute<Real>{s.T, s.Dv, n, t, head, A, u.data()});
      }
    }
  });
}

/// o_t = sum_{i<=t} kappa2(k_i, q_t) u_i.
template <class Real, class Kernel>
void read_back(const std::string &label, const Call<Real> &call, const Kernel &kernel, const Array<Real> &u) {
  const Shape &s = call.shape;
  attend(label, kernel, Sees::through_self, rows_of(call.q, s, s.Dk), rows_of(call.k, s, s.Dk), rows_of(u, s, s.Dv),
         rows_of(call.o, s, s.Dv), s.heads(), call.chunk);
}

template <class Real> Array<Real> empty_u(const Call<Real> &call) {
  return Array<Real>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "u"),
                     call.shape.heads() * call.shape.T * call.shape.Dv);
}

} // namespace recollect::variants
