// SPDX-License-Identifier: Apache-2.0
#include "harness/device/probe.hpp"
#include "harness/device/tile.hpp"

namespace recollect {
namespace {

template <class Real> Array<Real> upload(Arena &arena, const std::vector<double> &data) {
  const Array<Real> device = arena.take<Real>(data.size());
  const auto host = Kokkos::create_mirror_view(device);
  for (size_t i = 0; i < data.size(); ++i) host(i) = static_cast<Real>(data[i]);
  Kokkos::deep_copy(device, host);
  return device;
}
template <class Real> std::vector<double> download(const Array<Real> &device) {
  Kokkos::fence();
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), device);
  return {host.data(), host.data() + host.extent(0)};
}

template <class Real> struct ProductProbe {
  int m, n, k;
  bool transposed;
  Array<Real> A, B, C;
  KOKKOS_FUNCTION void operator()(const Team &team, size_t, Real *) const {
    tile::gemm(team, m, n, k, Real(1), tile::rows<Real>(A.data(), k),
               transposed ? tile::transposed<Real>(B.data(), k) : tile::rows<Real>(B.data(), n), Real(0), C.data(), n);
  }
};
template <class Real> struct SolveProbe {
  int n, columns;
  Array<Real> L, X;
  KOKKOS_FUNCTION void operator()(const Team &team, size_t, Real *) const {
    tile::solve_unit_lower(team, n, columns, L.data(), n, X.data(), columns);
  }
};
template <class Real> struct PrefixProbe {
  int n, F;
  Real ridge;
  Array<Real> alpha, k, q, H, x;
  KOKKOS_FUNCTION void operator()(const Team &team, size_t, Real *work) const {
    tile::solve_prefixes(team, n, F, ridge, alpha.extent(0) ? alpha.data() : nullptr, k.data(), F, q.data(), F,
                         H.data(), x.data(), F, work);
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
                                 bool transposed, Real real, Math math) {
  return typed(real, [&](auto zero) {
    using Number = decltype(zero);
    Arena arena;
    const Array<Number> C = arena.take<Number>(size_t(m) * n);
    run<Number>({"probe::product", 1, 256, math}, arena, 0,
                ProductProbe<Number>{m, n, k, transposed, upload<Number>(arena, A), upload<Number>(arena, B), C});
    return download(C);
  });
}

std::vector<double> tile_solve(int n, int columns, const std::vector<double> &L, const std::vector<double> &X,
                               Real real) {
  return typed(real, [&](auto zero) {
    using Number = decltype(zero);
    Arena arena;
    const Array<Number> x = upload<Number>(arena, X);
    run<Number>({"probe::solve", 1, 256}, arena, 0, SolveProbe<Number>{n, columns, upload<Number>(arena, L), x});
    return download(x);
  });
}

std::vector<double> tile_prefixes(int n, int F, double ridge, const std::vector<double> &alpha,
                                  const std::vector<double> &k, const std::vector<double> &q,
                                  const std::vector<double> &H, Real real) {
  return typed(real, [&](auto zero) {
    using Number = decltype(zero);
    Arena arena;
    const Array<Number> x = arena.take<Number>(size_t(n) * F);
    run<Number>({"probe::prefixes", 1, 256}, arena, tile::prefix_work<Number>(F),
                PrefixProbe<Number>{n, F, Number(ridge), upload<Number>(arena, alpha), upload<Number>(arena, k),
                                    upload<Number>(arena, q), upload<Number>(arena, H), x});
    return download(x);
  });
}

std::vector<double> device_exp(const std::vector<double> &x, Real real) {
  return typed(real, [&](auto zero) {
    using Number = decltype(zero);
    Arena arena;
    const Array<Number> y = upload<Number>(arena, x);
    run<Number>({"probe::exp", 1, 256}, arena, 0, ExpProbe<Number>{y});
    return download(y);
  });
}

} // namespace recollect
