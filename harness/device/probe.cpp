// SPDX-License-Identifier: Apache-2.0
#include "harness/device/probe.hpp"
#include "harness/device/tile/tile.hpp"

namespace recollect {
namespace {

template <class Real> Array<Real> upload(const std::vector<double> &data) {
  return uploaded<Real>("probed", data.size(), [&](size_t i) { return data[i]; });
}

template <class Real> struct ProductProbe {
  int m, n, k;
  bool transposed;
  Loops loops;
  Array<Real> A, B, C;
  KOKKOS_FUNCTION void operator()(const Team &team, size_t, Real *) const {
    const tile::Product<Real> product{tile::rows<Real>(A.data(), k),
                                      transposed ? tile::transposed<Real>(B.data(), k) : tile::rows<Real>(B.data(), n),
                                      k};
    if (loops == Loops::plain)
      tile::portable::gemm(team, m, n, Real(1), product, {}, Real(0), C.data(), n);
    else
      tile::gemm(team, m, n, Real(1), product, {}, Real(0), C.data(), n);
  }
};
template <class Real> struct SolveProbe {
  int n, columns;
  Loops loops;
  Array<Real> L, X;
  KOKKOS_FUNCTION void operator()(const Team &team, size_t, Real *) const {
    if (loops == Loops::plain)
      tile::portable::substitute(team, n, columns, L.data(), n, X.data(), columns);
    else
      tile::solve_unit_lower(team, n, columns, L.data(), n, X.data(), columns);
  }
};
template <class Real> struct PrefixProbe {
  int n, F;
  Real ridge;
  Loops loops;
  Array<Real> alpha, k, q, H, x;
  KOKKOS_FUNCTION void operator()(const Team &team, size_t, Real *work) const {
    const Real *decays = alpha.extent(0) ? alpha.data() : nullptr;
    if (loops == Loops::plain)
      tile::portable::solve_prefixes(team, n, F, ridge, decays, k.data(), F, q.data(), F, H.data(), x.data(), F, work);
    else
      tile::solve_prefixes(team, n, F, ridge, decays, k.data(), F, q.data(), F, H.data(), x.data(), F, work);
  }
  size_t work_size() const {
    return loops == Loops::plain ? tile::portable::prefix_work(F) : tile::prefix_work<Real>(F);
  }
};
template <class Real> struct ExpProbe {
  Array<Real> x;
  KOKKOS_FUNCTION void operator()(const Team &team, size_t, Real *) const {
    const Array<Real> values = x;
    each(team, int(values.extent(0)), [=](int i) { values(i) = math::exp(values(i)); });
  }
};

// NOLINTNEXTLINE(bugprone-branch-clone): two types
template <class F> auto typed(Real real, const F &f) { return real == Real::f32 ? f(float()) : f(double()); }

} // namespace

std::vector<double> tile_product(int m, int n, int k, const std::vector<double> &A, const std::vector<double> &B,
                                 bool transposed, Real real, Math math, Loops loops) {
  return typed(real, [&](auto zero) {
    using Number = decltype(zero);
    Arena arena;
    const Array<Number> C = arena.take<Number>(size_t(m) * n);
    run<Number>({"probe::product", 1, 256, math}, arena, 0,
                ProductProbe<Number>{m, n, k, transposed, loops, upload<Number>(A), upload<Number>(B), C});
    return download(C);
  });
}

std::vector<double> tile_solve(int n, int columns, const std::vector<double> &L, const std::vector<double> &X,
                               Real real, Loops loops) {
  return typed(real, [&](auto zero) {
    using Number = decltype(zero);
    Arena arena;
    const Array<Number> x = upload<Number>(X);
    run<Number>({"probe::solve", 1, 256}, arena, 0, SolveProbe<Number>{n, columns, loops, upload<Number>(L), x});
    return download(x);
  });
}

std::vector<double> tile_prefixes(int n, int F, double ridge, const std::vector<double> &alpha,
                                  const std::vector<double> &k, const std::vector<double> &q,
                                  const std::vector<double> &H, Real real, Loops loops) {
  return typed(real, [&](auto zero) {
    using Number = decltype(zero);
    Arena arena;
    const Array<Number> x = arena.take<Number>(size_t(n) * F);
    const PrefixProbe<Number> probe{
        n, F, Number(ridge), loops, upload<Number>(alpha), upload<Number>(k), upload<Number>(q), upload<Number>(H), x};
    run<Number>({"probe::prefixes", 1, 256}, arena, probe.work_size(), probe);
    return download(x);
  });
}

std::vector<double> device_exp(const std::vector<double> &x, Real real) {
  return typed(real, [&](auto zero) {
    using Number = decltype(zero);
    Arena arena;
    const Array<Number> y = upload<Number>(x);
    run<Number>({"probe::exp", 1, 256}, arena, 0, ExpProbe<Number>{y});
    return download(y);
  });
}

} // namespace recollect
