// SPDX-License-Identifier: Apache-2.0
// Softmax attention to slots that keep running means of keys and values (gated_slot_attention.cpp, abc.cpp). The state
// starts with V transposed [Dv,Dk], one column per slot, followed by K [Dk,Dk], one row per slot.
//
// In the chunked form, a scan (scan.hpp) computes the logits, because each row of K has its own decay. The outputs come
// from a gated recurrence for V, with p, the softmax of the logits, as queries and the write factors of the slots as
// keys.
#pragma once
#include "variants/kernels/attention/online_softmax.hpp"
#include "variants/kernels/chunked/gated_recurrence_backward.hpp"
#include "variants/kernels/common/columns.hpp"
#include "variants/kernels/scan/scan_backward.hpp"

namespace recollect::variants {

/// The recurrence of K; its reads are the logits.
template <class Real> struct SlotKeys {
  struct Row {
    Real keep, add, scale;
    const Real *k, *q;
    KOKKOS_FUNCTION Real decay(int) const { return keep; }
    KOKKOS_FUNCTION Real write(int j) const { return add * k[j]; }
    KOKKOS_FUNCTION Real read(int j) const { return scale * q[j]; }
  };
  Real scale;
  KOKKOS_FUNCTION Row at(const Head<Real> &h, int t, int m) const {
    return {h.lambda(t)[m], h.w(t)[m], scale, h.k(t), h.q(t)};
  }
};
template <class Real> SlotKeys<Real> slot_keys(const Call<Real> &call) { return {Real(call.params.real("scale"))}; }

/// The factor with which a step adds its key and value to the slots: the input w or, if w is not given, 1 - lambda.
template <class Real> Array<Real> slot_writes(const Call<Real> &call) {
  if (call.has("w")) return call.w;
  const Array<Real> writes = allocate(call, call.k.extent(0)), lambda = call.lambda;
  parallel_loop(
      "slots::writes", writes.extent(0), KOKKOS_LAMBDA(const size_t i) { writes(i) = 1 - lambda(i); });
  return writes;
}

/// The definition, step by step.
template <class Real> void slots_recurrent(const std::string &label, const Call<Real> &call) {
  const Real scale = call.params.real("scale");
  const Array<Real> writes = slot_writes(call);
  each_head(
      label, call, call.shape.Dk, KOKKOS_LAMBDA(const Team &team, const Head<Real> &h) {
        Real *const p = h.work, *const V = h.state, *const K = V + size_t(h.Dv) * h.Dk;
        for (int t = 0; t < h.T; ++t) {
          const Real *q = h.q(t), *k = h.k(t), *lambda = h.lambda(t), *w = writes.data() + (h.index * h.T + t) * h.Dk;
          each(team, h.Dk, [=](int m) {
            Real *const slot = K + size_t(m) * h.Dk;
            const Real keep = lambda[m], add = w[m];
            for (int j = 0; j < h.Dk; ++j) slot[j] = keep * slot[j] + add * k[j];
            p[m] = scale * dot(slot, q, h.Dk);
          });
          team.barrier();
          soften(team, h.Dk, p);
          team.barrier();
          each(team, h.Dv, [=](int i) {
            Real *const slots = V + size_t(i) * h.Dk;
            for (int m = 0; m < h.Dk; ++m) slots[m] = lambda[m] * slots[m] + w[m] * h.v(t)[i];
            h.o(t)[i] = dot(slots, p, h.Dk);
          });
          team.barrier();
        }
      });
}

/// K [Dk,Dk] is stored below V in every head's state. Copies K from `state` to the array `K`, or back.
template <class Real>
void copy_keys(const Shape &s, const Array<Real> &state, const Array<Real> &K, bool back = false) {
  const size_t size = size_t(s.Dk) * s.Dk, first = size_t(s.Dv) * s.Dk, whole_state = state.extent(0) / s.heads();
  parallel_loop(
      "slots::keys", K.extent(0), KOKKOS_LAMBDA(const size_t i) {
        Real &whole = state(i / size * whole_state + first + i % size);
        back ? whole = K(i) : K(i) = whole;
      });
}
/// The call that runs K's recurrence: its values have Dk channels, and its w is slot_writes().
template <class Real> Call<Real> keys_call(const Call<Real> &call) {
  Call<Real> keys = call;
  keys.shape.Dv = call.shape.Dk;
  keys.state_shape = {call.shape.Dk, call.shape.Dk};
  keys.o = allocate(call, call.k.extent(0));
  keys.w = slot_writes(call);
  keys.state = allocate(call, call.shape.heads() * keys.state_shape.size());
  copy_keys(call.shape, call.state, keys.state);
  return keys;
}
/// p = softmax of the logits.
template <class Real> struct SoftmaxRows {
  int slots;
  Array<Real> p;
  KOKKOS_FUNCTION void operator()(size_t step) const {
    Real *const own = p.data() + step * slots, peak = own[0], mass = 0;
    for (int m = 1; m < slots; ++m) peak = math::fmax(peak, own[m]);
    for (int m = 0; m < slots; ++m) mass += own[m] = math::exp(own[m] - peak);
    for (int m = 0; m < slots; ++m) own[m] /= mass;
  }
};
/// Runs K's recurrence. Returns the recurrence of V, with queries p and keys slot_writes().
template <class Real> GatedRecurrence<Real> read_of(const Call<Real> &keys) {
  chunked_scan("slots::logits", keys, slot_keys(keys));
  parallel_loop("slots::softmax", keys.steps(), SoftmaxRows<Real>{keys.shape.Dk, keys.o});
  return {keys.shape.Dk, keys.o, keys.w, {}, keys.lambda};
}
template <class Real> void slots_chunked(const std::string &label, const Call<Real> &call) {
  const Call<Real> keys = keys_call(call);
  gated_recurrence(label, call, read_of(keys));
  copy_keys(call.shape, call.state, keys.state, true);
}

/// One step of the backward pass. With l_t = scale K_t q_t the logits: dK_t += scale dl_t q_t^T, dq_t = scale K_t^T
/// dl_t, dk_t = dK_t^T w_t and dw_t = dK_t k_t. Element r of d lambda_t is the inner product of row r of dK_t and row r
/// of K_{t-1}. Then dK_{t-1} = diag(lambda_t) dK_t.
template <class Real> struct SlotsBack {
  int D;
  Real scale;
  KOKKOS_FUNCTION size_t scratch() const { return 0; }
  KOKKOS_FUNCTION void advance(const Team &team, const Head<Real> &h, int t, const Real *before, Real *after,
                               Real *) const {
    const Real *lambda = h.lambda(t), *w = h.w(t), *k = h.k(t);
    const int n = D;
    each_cell(team, n, n, [=](int m, int j) { after[m * n + j] = lambda[m] * before[m * n + j] + w[m] * k[j]; });
  }
  KOKKOS_FUNCTION void back(const Team &team, const Head<Real> &h, int t, const Real *before, const Real *after,
                            Real *dK, const StepGradient<Real> &d, Real *) const {
    const Real *lambda = h.lambda(t), *w = h.w(t), *k = h.k(t), *q = h.q(t), scale = this->scale;
    const int n = D;
    each_cell(team, n, n, [=](int m, int j) { dK[m * n + j] += scale * d.o[m] * q[j]; });
    team.barrier();
    column_sums(team, n, n, Kokkos::Array<Real *, 2>{d.q, d.k}, [=](int m, int j) {
      return Kokkos::Array<Real, 2>{scale * d.o[m] * after[m * n + j], w[m] * dK[m * n + j]};
    });
    team.barrier();
    each(team, n, [=](int m) {
      Real *const row = dK + m * n;
      d.w[m] = dot(row, k, n), d.lambda[m] = dot(row, before + m * n, n);
      for (int j = 0; j < n; ++j) row[j] *= lambda[m];
    });
  }
};
/// Replaces dp by the gradient of the logits, given p.
template <class Real> struct SoftmaxRowsBack {
  int slots;
  Array<Real> p, d_p;
  KOKKOS_FUNCTION void operator()(size_t step) const {
    const Real *own = p.data() + step * slots;
    Real *const d = d_p.data() + step * slots, mean = dot(own, d, slots);
    for (int m = 0; m < slots; ++m) d[m] = own[m] * (d[m] - mean);
  }
};
/// Gradients of slots_chunked(back.call).
template <class Real> void slots_vjp(const std::string &label, const BackwardCall<Real> &back) {
  const Call<Real> &call = back.call;
  const size_t n = call.k.extent(0);
  const GatedRecurrence<Real> read = read_of(keys_call(call));
  BackwardCall<Real> keys{keys_call(call), back.d};
  keys.d.o = allocate(call, n), keys.d.lambda = allocate(call, n), keys.d.w = allocate(call, n);
  GatedRecurrenceGradient<Real> d{keys.d.o, allocate(call, n)};
  d.lambda = back.d.lambda;
  keys.d.state = allocate(call, keys.call.state.extent(0));
  copy_keys(call.shape, back.d.state, keys.d.state);
  gated_recurrence_vjp(label, back, read, d);
  parallel_loop("slots::softmax_back", call.steps(), SoftmaxRowsBack<Real>{call.shape.Dk, read.q, keys.d.o});
  scan_vjp(label + "::logits", keys, slot_keys(call), SlotsBack<Real>{call.shape.Dk, slot_keys(call).scale});
  copy_keys(call.shape, back.d.state, keys.d.state, true);
  const bool given = call.has("w");
  const Array<Real> d_lambda = back.d.lambda, d_w = back.d.w, lambda_by_keys = keys.d.lambda, w_by_keys = keys.d.w,
                    w_by_values = d.k;
  parallel_loop(
      "slots::gates", n, KOKKOS_LAMBDA(const size_t i) {
        const Real added = w_by_keys(i) + w_by_values(i);
        d_w(i) = given ? added : Real(0);
        d_lambda(i) += lambda_by_keys(i) - (given ? Real(0) : added);
      });
}

} // namespace recollect::variants
