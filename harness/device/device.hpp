// SPDX-License-Identifier: Apache-2.0
// What a kernel sees: device arrays of one call, and raw row-major pointers of one (batch, head).
#pragma once
#include "harness/core/variant.hpp"
#include "harness/device/math.hpp"
#include <Kokkos_Core.hpp>

namespace recollect {

#ifdef RECOLLECT_SPACE
using Execution = Kokkos::RECOLLECT_SPACE;
#else
using Execution = Kokkos::DefaultExecutionSpace;
#endif
using Team = Kokkos::TeamPolicy<Execution>::member_type;
template <class Real> using Array = Kokkos::View<Real *, Execution>;

/// One forward pass. Absent optional inputs that the variant takes are filled with their neutral values; inputs that it
/// does not take are empty. `state` holds the initial state on entry and the final one on return; every element of `o`
/// must be written.
template <class Real> struct Call {
  Shape shape;
  StateShape state_shape;
  int chunk = 1; // 1 ... T
  Params params;
  std::vector<std::string> given; // the optional inputs that the caller did supply
  Array<Real> q, k, v, beta, alpha, lambda, w, o, state;

  bool has(const std::string &input) const {
    for (const std::string &name : given)
      if (name == input) return true;
    return false;
  }
};

/// One (batch, head): pointers to its first step.
template <class Real> struct Head {
  int T, Dk, Dv, chunk;
  size_t index; // b * H + h
  const Real *q_, *k_, *v_, *beta, *alpha, *lambda_, *w_;
  Real *o_;
  Real *state; // [rows, columns] of the variant's state
  Real *work;  // this head's workspace, uninitialised

  KOKKOS_FUNCTION const Real *q(int t) const { return q_ + size_t(t) * Dk; }
  KOKKOS_FUNCTION const Real *k(int t) const { return k_ + size_t(t) * Dk; }
  KOKKOS_FUNCTION const Real *v(int t) const { return v_ + size_t(t) * Dv; }
  KOKKOS_FUNCTION const Real *lambda(int t) const { return lambda_ + size_t(t) * Dk; }
  KOKKOS_FUNCTION const Real *w(int t) const { return w_ + size_t(t) * Dk; }
  KOKKOS_FUNCTION Real *o(int t) const { return o_ + size_t(t) * Dv; }
};

template <class Real> struct HeadArrays {
  int T, Dk, Dv, chunk;
  size_t state_size, work_size;
  Array<Real> q, k, v, beta, alpha, lambda, w, o, state, work;

  HeadArrays(const Call<Real> &c, size_t work_size, const std::string &label)
      : T(c.shape.T), Dk(c.shape.Dk), Dv(c.shape.Dv), chunk(c.chunk), state_size(c.state_shape.size()),
        work_size(work_size), q(c.q), k(c.k), v(c.v), beta(c.beta), alpha(c.alpha), lambda(c.lambda), w(c.w), o(c.o),
        state(c.state),
        work(Kokkos::view_alloc(Kokkos::WithoutInitializing, label + "::work"), work_size * c.shape.heads()) {}

  KOKKOS_FUNCTION Head<Real> head(size_t i) const {
    const size_t keys = i * T * Dk, values = i * T * Dv, steps = i * T;
    return {T,
            Dk,
            Dv,
            chunk,
            i,
            q.data() + keys,
            k.data() + keys,
            v.data() + values,
            beta.data() + (beta.extent(0) ? steps : 0),
            alpha.data() + (alpha.extent(0) ? steps : 0),
            lambda.data() + (lambda.extent(0) ? keys : 0),
            w.data() + (w.extent(0) ? keys : 0),
            o.data() + values,
            state.data() + i * state_size,
            work.data() + i * work_size};
  }
};

/// A functor, not a lambda around a lambda, because nvcc does not nest extended lambdas.
template <class Real, class Body> struct HeadKernel {
  HeadArrays<Real> arrays;
  Body body;
  KOKKOS_FUNCTION void operator()(const Team &team) const { body(team, arrays.head(team.league_rank())); }
};

constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, Execution::memory_space>::accessible;

/// Runs body(team, head) once for every (batch, head), one team each, with `work_size` reals of workspace a head.
/// Label: "variant::form". A team is one thread on the host, where heads are the parallel axis.
template <class Real, class Body>
void each_head(const std::string &label, const Call<Real> &call, size_t work_size, const Body &body) {
  const HeadArrays<Real> arrays(call, work_size, label);
  Kokkos::parallel_for(label, Kokkos::TeamPolicy<Execution>(int(call.shape.heads()), on_host ? 1 : 128),
                       HeadKernel<Real, Body>{arrays, body});
}

/// f(i) for i in 0 ... n-1, shared among the team's threads. No barrier.
template <class F> KOKKOS_FUNCTION void each(const Team &team, int n, const F &f) {
  Kokkos::parallel_for(Kokkos::TeamThreadRange(team, n), f);
}

template <class Real> KOKKOS_FUNCTION Real dot(const Real *a, const Real *b, int n) {
  constexpr int lanes = 8; // independent partial sums: a vector unit may keep them without reassociating
  Real sum[lanes] = {};
  int i = 0;
  for (; i + lanes <= n; i += lanes)
    for (int l = 0; l < lanes; ++l) sum[l] += a[i + l] * b[i + l];
  Real total = ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]));
  for (; i < n; ++i) total += a[i] * b[i];
  return total;
}

} // namespace recollect
