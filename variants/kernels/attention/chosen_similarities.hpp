// SPDX-License-Identifier: Apache-2.0
// The sums of delta_former.hpp and their gradients, with the similarities that a call's parameters name: kappa1,
// kappa2, scale, tau, groups, lookups and a1, a2 ... (variants/delta_former.cpp). Compiled once per number type and
// direction, in chosen_similarities_*.cpp.
#pragma once
#include "harness/numerics/linalg.hpp"
#include "variants/kernels/attention/shared_lookups.hpp"

namespace recollect::variants {

constexpr int most_lookups = Grouped<double, AnyKernel<double>>::most;
inline std::string weight_name(int j) { return "a" + std::to_string(j + 1); }
inline bool shares_lookups(const Params &params) { return params.text("lookups") == "shared"; }

/// The sum of lookups sum_j a_j kappa1(j z), j = 1 ... groups. The weights are the parameters a1, a2 ... A weight that
/// is not given is taken from the best fit of the sum to z at the points -1, 0, 1 and 2 (000 E.2).
template <class Real, class Kernel> Grouped<Real, Kernel> grouped(const Call<Real> &call, const Kernel &kernel) {
  const int groups = call.params.integer("groups");
  if (groups == 1) return {kernel, 1, {1}};
  const AnyKernel<double> kappa = kernel_param<double>(call.params, "kappa1");
  const double nodes[] = {-1, 0, 1, 2};
  Dense lookups(4, groups), wanted(4, 1);
  for (int n = 0; n < 4; ++n) {
    wanted(n, 0) = nodes[n];
    for (int j = 0; j < groups; ++j) lookups(n, j) = similarity(kappa.kind, (j + 1) * nodes[n], kappa.tau);
  }
  const Dense fit = pseudo_inverse(lookups) * wanted;
  Grouped<Real, Kernel> sum{kernel, groups, {}};
  for (int j = 0; j < groups; ++j) sum.weights[j] = Real(call.params.real_or(weight_name(j), fit(j, 0)));
  return sum;
}

/// Calls visit(kernel) with the kernel of kappa1 for the first sum. A softmax always has one lookup.
template <class Real, class Visit> void with_erase(const Call<Real> &call, const Visit &visit) {
  const AnyKernel<Real> any = kernel_param<Real>(call.params, "kappa1");
  if (shares_lookups(call.params)) return visit(shared_lookups(call, any));
  const bool several = call.params.integer("groups") > 1;
  with_fixed(any, [&](const auto &kappa1) {
    if constexpr (!std::is_same_v<std::decay_t<decltype(kappa1)>, FixedKernel<Real, Kind::softmax>>)
      if (several) return visit(grouped(call, kappa1));
    visit(kappa1);
  });
}

/// Returns the rows u_t of the first sum, [heads,T,Dv].
template <class Real> Array<Real> written(const std::string &label, const Call<Real> &call, Inverse inverse) {
  const Array<Real> u = empty_u(call);
  const Call<Real> erase = shares_lookups(call.params) ? whole_steps(call) : call;
  with_erase(call, [&](const auto &kappa1) { write_by_chunks(label, erase, kappa1, inverse, u); });
  return u;
}

template <class Real> void by_chosen_similarities(const std::string &label, const Call<Real> &call, Inverse inverse) {
  const Array<Real> u = written(label, call, inverse);
  with_fixed(kernel_param<Real>(call.params, "kappa2"), [&](const auto &kappa2) { read_back(label, call, kappa2, u); });
}

template <class Real> void chosen_similarities_vjp(const std::string &label, const BackwardCall<Real> &back) {
  BackwardCall<Real> reads = back; // gradients of the second sum, whose values are u
  reads.call.v = written(label + "::u", back.call, Inverse::substitution), reads.d.v = empty_u(back.call);
  with_fixed(kernel_param<Real>(back.call.params, "kappa2"),
             [&](const auto &kappa2) { attend_vjp(label + "::reads", reads, kappa2); });
  with_erase(back.call, [&](const auto &kappa1) { write_vjp(label, back, kappa1, reads.call.v, reads.d.v); });
}

#define RECOLLECT_SIMILARITIES(prefix, Real)                                                                           \
  prefix template Array<Real> written(const std::string &, const Call<Real> &, Inverse);                               \
  prefix template void by_chosen_similarities(const std::string &, const Call<Real> &, Inverse);
#define RECOLLECT_SIMILARITIES_BACK(prefix, Real)                                                                      \
  prefix template void chosen_similarities_vjp(const std::string &, const BackwardCall<Real> &);
RECOLLECT_SIMILARITIES(extern, float)
RECOLLECT_SIMILARITIES(extern, double)
RECOLLECT_SIMILARITIES_BACK(extern, float)
RECOLLECT_SIMILARITIES_BACK(extern, double)

} // namespace recollect::variants
