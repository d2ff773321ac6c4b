// SPDX-License-Identifier: Apache-2.0
// A memory with the write rule of Kimi delta attention (decay_first.hpp), but with keys and values exchanged. Queries
// have the keys' width. With M = S^T [Dk,Dv], values u_t, and a decay lambda_t per value channel:
//
//   M_t = M_{t-1} diag(lambda_t) + e_t u_t^T,   e_t = beta_t (k_t - M_{t-1} diag(lambda_t) u_t),   o_t = M_t^T q_t
//
// delta_rule.hpp computes reads M_t x_t, but the outputs here are M_t^T q_t, so two calls are made. The first call runs
// the rule and reads it one step ahead, at x_t = diag(lambda_{t+1}) u_{t+1}; the errors follow from these reads. The
// second call is the backward pass of a decayed sum of e_t u_t^T: if x_t reads M_t x_t and the gradient of this read is
// q_t, then the gradient of x_t is M_t^T q_t, which is o_t.
//
// The backward pass of this memory calls the rule with queries do_t and output gradients q_t: the rule's outputs are
// dq_t, and its other gradients are also the gradients of this memory.
#pragma once
#include "variants/kernels/chunked/decay_first.hpp"
#include "variants/kernels/chunked/gated_recurrence_backward.hpp"

namespace recollect::variants {

/// Transposes every matrix: [B,H,rows,columns] -> [B,H,columns,rows].
template <class Real> Array<Real> transposed(const Call<Real> &call, const Array<Real> &x, int rows, int columns) {
  const Array<Real> out = allocate(call, x.extent(0));
  const size_t size = size_t(rows) * columns;
  parallel_loop(
      "exchanged::transpose", x.extent(0),
      KOKKOS_LAMBDA(const size_t i) { out(i / size * size + i % columns * rows + i % size / columns) = x(i); });
  return out;
}

/// The call in which u [B,H,T,Dv] are the keys, k the values, and M the state. Channel i of u decays by channel i mod
/// Dk of lambda. The call's q is empty, and its o is scratch.
template <class Real> Call<Real> with_exchanged_roles(const Call<Real> &call, const Array<Real> &u) {
  Call<Real> x = call;
  const Shape &s = call.shape;
  const size_t Dk = size_t(s.Dk), Dv = size_t(s.Dv);
  const Array<Real> lambda = call.lambda, decays = allocate(call, u.extent(0));
  parallel_loop(
      "exchanged::decays", decays.extent(0),
      KOKKOS_LAMBDA(const size_t i) { decays(i) = lambda(i / Dv * Dk + i % Dv % Dk); });
  x.shape.Dk = s.Dv, x.shape.Dv = s.Dk, x.state_shape = {s.Dk, s.Dv};
  x.k = u, x.v = call.k, x.lambda = decays;
  x.q = {}, x.o = allocate(call, call.k.extent(0));
  x.state = transposed(call, call.state, s.Dv, s.Dk);
  return x;
}

template <class Real> DecayFirst<Real> exchanged_rule(const Call<Real> &x) { return {x.k, x.k, x.beta, {}, x.lambda}; }

/// Runs the memory with values u from call.state, and leaves the final state there. Writes call.o.
template <class Real> void exchanged_roles(const std::string &label, const Call<Real> &call, const Array<Real> &u) {
  Call<Real> x = with_exchanged_roles(call, u);
  const size_t T = size_t(x.shape.T), n = size_t(x.shape.Dk), m = size_t(x.shape.Dv); // n channels of u, m of k
  const Array<Real> lambda = x.lambda, k = x.v, beta = x.beta, next = allocate(call, u.extent(0)),
                    errors = allocate(call, k.extent(0)), M = allocate(call, x.state.extent(0)), reads = x.o;
  copy(M, x.state);
  parallel_loop(
      "exchanged::next", next.extent(0),
      KOKKOS_LAMBDA(const size_t i) { next(i) = i / n % T + 1 < T ? lambda(i + n) * u(i + n) : Real(0); });
  x.q = next;
  decay_first(label + "::errors", x, exchanged_rule(x));
  parallel_loop(
      "exchanged::errors", errors.extent(0), KOKKOS_LAMBDA(const size_t i) {
        const size_t step = i / m;
        Real read = 0;
        if (step % T)
          read = reads(i - m);
        else
          for (size_t c = 0; c < n; ++c)
            read += M((step / T * m + i % m) * n + c) * lambda(step * n + c) * u(step * n + c);
        errors(i) = beta(step) * (k(i) - read);
      });
  copy(call.state, transposed(call, x.state, int(m), int(n)));
  // Any array may be the queries here: the gradient of the queries does not depend on their values.
  x.q = u, x.v = errors, x.state = M;
  BackwardCall<Real> sum{x, x};
  sum.d.o = call.q, sum.d.v = reads, sum.d.state = filled(call, M.extent(0), Real(0));
  gated_recurrence_vjp(label, sum, {int(n), u, u, {}, lambda}, {call.o, next}); // `reads` and `next` are overwritten
}

/// Gradients of exchanged_roles(back.call): writes d_u, and the arrays q, k, beta, lambda and state of back.d.
template <class Real>
void exchanged_roles_vjp(const std::string &label, const BackwardCall<Real> &back, const Array<Real> &u,
                         const Array<Real> &d_u) {
  const Call<Real> &call = back.call, &d = back.d;
  const Shape &s = call.shape;
  Call<Real> x = with_exchanged_roles(call, u);
  const Array<Real> d_lambda = d.lambda, d_decays = allocate(call, u.extent(0));
  x.q = d.o;
  Call<Real> reads = x;
  reads.o = d.q, reads.state = allocate(call, x.state.extent(0));
  copy(reads.state, x.state);
  decay_first(label + "::queries", reads, exchanged_rule(x));
  BackwardCall<Real> rule{x, x};
  rule.d.o = call.q, rule.d.q = allocate(call, d_u.extent(0)), rule.d.v = d.k;
  rule.d.state = transposed(call, d.state, s.Dv, s.Dk);
  decay_first_vjp(label, rule, exchanged_rule(x), {d_u, d_u, d.beta, {}, d_decays});
  copy(d.state, transposed(call, rule.d.state, s.Dk, s.Dv));
  const size_t Dk = size_t(s.Dk), Dv = size_t(s.Dv);
  parallel_loop(
      "exchanged::decay_gradient", d_lambda.extent(0), KOKKOS_LAMBDA(const size_t i) {
        Real sum = 0;
        for (size_t c = i % Dk; c < Dv; c += Dk) sum += d_decays(i / Dk * Dv + c);
        d_lambda(i) = sum;
      });
}

} // namespace recollect::variants
