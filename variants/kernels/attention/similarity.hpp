// SPDX-License-Identifier: Apache-2.0
// The similarities of 000 Table 1 and §2.2.1 as kernels for attention.hpp. They depend only on z = scale x . y, for a
// query x and a key y.
#pragma once
#include "harness/device/device.hpp"

namespace recollect::variants {

enum class Kind { linear, round, exp, softmax, relu };
inline const std::vector<std::string> kind_names{"linear", "round", "exp", "softmax", "relu"};

template <class Real> KOKKOS_FORCEINLINE_FUNCTION Real similarity(Kind kind, Real z, Real tau) {
  switch (kind) {
  case Kind::linear:
    return z;
  case Kind::round:
    return math::round_half_even(z);
  case Kind::exp:
    return math::exp(z / tau);
  case Kind::softmax:
    return z / tau; // the logit
  case Kind::relu:
    return z > 0 ? z : Real(0);
  }
  return z;
}

/// Derivative of similarity(kind, factor xy, 1) with respect to xy. For a similarity that rounds, it is the derivative
/// without the rounding (straight-through estimator).
template <class Real> KOKKOS_FORCEINLINE_FUNCTION Real slope_of(Kind kind, Real factor, Real returned) {
  return kind == Kind::exp ? factor * returned : kind == Kind::relu && !(returned > 0) ? Real(0) : factor;
}

/// The factor for which similarity(kind, factor xy, 1) equals the similarity with this `scale` and `tau`.
template <class Real> KOKKOS_FORCEINLINE_FUNCTION Real factor_of(Kind kind, Real scale, Real tau) {
  return kind == Kind::exp || kind == Kind::softmax ? scale / tau : scale;
}

/// A kernel chosen at run time.
template <class Real> struct AnyKernel {
  Kind kind;
  Real scale, tau;
  KOKKOS_FUNCTION bool normalised() const { return kind == Kind::softmax; }
  KOKKOS_FUNCTION Real operator()(size_t, int, int, Real xy) const { return similarity(kind, scale * xy, tau); }
  KOKKOS_FUNCTION Real slope(size_t, int, int, Real, Real returned) const {
    return slope_of(kind, factor_of(kind, scale, tau), returned);
  }
};

/// A kernel chosen at compile time, so that inner loops contain no branch and no division.
template <class Real, Kind kind> struct FixedKernel {
  static constexpr bool steady = kind == Kind::linear || kind == Kind::softmax; // (block_gradient.hpp)
  static constexpr bool proportional = steady;                                  // (fragments_cuda.hpp)
  Real factor;
  FixedKernel(Real scale, Real tau) : factor(factor_of(kind, scale, tau)) {}
  KOKKOS_FUNCTION static constexpr bool normalised() { return kind == Kind::softmax; }
  KOKKOS_FUNCTION Real operator()(size_t, int, int, Real xy) const { return similarity(kind, factor * xy, Real(1)); }
  KOKKOS_FUNCTION Real slope(size_t, int, int, Real, Real returned) const { return slope_of(kind, factor, returned); }
};

/// A kernel without a normaliser, chosen at run time. All threads of a GPU take the same branch.
template <class Real> struct ChosenKernel {
  Kind kind; // not softmax
  Real factor;
  KOKKOS_FUNCTION static constexpr bool normalised() { return false; }
  KOKKOS_FUNCTION Real operator()(size_t, int, int, Real xy) const { return similarity(kind, factor * xy, Real(1)); }
  KOKKOS_FUNCTION Real slope(size_t, int, int, Real, Real returned) const { return slope_of(kind, factor, returned); }
};

/// The kernel named by the choice parameter `name`.
template <class Real> AnyKernel<Real> kernel_param(const Params &params, const std::string &name) {
  Kind kind = Kind::linear;
  while (kind_names[int(kind)] != params.text(name)) kind = Kind(int(kind) + 1);
  return {kind, Real(params.real("scale")), Real(params.real("tau"))};
}

/// Calls visit(kernel) with the requested kernel. A CPU has one type per kind, so that its loops are vectorised. A GPU
/// has one type for all kinds without a normaliser, so that fewer kernels are compiled.
template <class Real, class Visit> void with_fixed(const AnyKernel<Real> &any, const Visit &visit) {
  const auto fixed = [&](auto kind) { visit(FixedKernel<Real, decltype(kind)::value>{any.scale, any.tau}); };
  if (any.kind == Kind::softmax) return fixed(std::integral_constant<Kind, Kind::softmax>());
  if constexpr (!on_host) {
    visit(ChosenKernel<Real>{any.kind, factor_of(any.kind, any.scale, any.tau)});
  } else {
    switch (any.kind) {
    case Kind::linear:
      return fixed(std::integral_constant<Kind, Kind::linear>());
    case Kind::round:
      return fixed(std::integral_constant<Kind, Kind::round>());
    case Kind::exp:
      return fixed(std::integral_constant<Kind, Kind::exp>());
    case Kind::relu:
      return fixed(std::integral_constant<Kind, Kind::relu>());
    case Kind::softmax:
      return;
    }
  }
}

/// sum_j a_j kappa(j z), j = 1 ... groups: several lookups with the same keys (000 Eq 111 with w^j = j w).
template <class Real, class Kernel> struct Grouped {
  static constexpr int most = 4;
  static constexpr bool costly = true; // (attention_cuda.hpp)
  Kernel kernel;
  int groups;
  Real weights[most] = {};
  KOKKOS_FUNCTION bool normalised() const { return kernel.normalised(); }
  KOKKOS_FUNCTION Real operator()(size_t head, int t, int i, Real xy) const {
    Real sum = 0;
    for (int j = 0; j < groups; ++j) sum += weights[j] * kernel(head, t, i, (j + 1) * xy);
    return sum;
  }
  KOKKOS_FUNCTION Real slope(size_t head, int t, int i, Real xy, Real) const {
    Real sum = 0;
    for (int j = 0; j < groups; ++j) {
      const Real z = (j + 1) * xy;
      sum += weights[j] * (j + 1) * kernel.slope(head, t, i, z, kernel(head, t, i, z));
    }
    return sum;
  }
};

} // namespace recollect::variants
