// SPDX-License-Identifier: Apache-2.0
// Arguments of a kernel: the device arrays of one call, and pointers into these arrays for one (batch, head).
#pragma once
#include "harness/core/variant.hpp"
#include "harness/device/form_builder.hpp"
#include "harness/device/launch.hpp"
#include "harness/device/math.hpp"
#include <memory>

namespace recollect {

constexpr int packed_chunk = 64; // steps per chunk of packed texts

/// Packed texts and shared heads in the arrays of a call. By default each batch entry is one text, and q and k have as
/// many heads as v. Only forms with Form::packs get calls that differ from this default (packed.hpp).
struct Packing {
  int key_heads = 0; // q and k are [B,key_heads,T,Dk]; head h of v uses head h / (H / key_heads) of q and k; 0: H
  // If texts are packed, B is 1, text n has the steps starts[n] ... starts[n + 1] - 1 of the T steps, and states are
  // [texts,H,rows,columns].
  int texts = 0;  // number of packed texts; 0: texts are not packed
  int chunks = 0; // number of chunks of one head in all texts
  // Three tables, one after the other: starts [texts + 1]; for each text the number of chunks of all earlier texts
  // [texts + 1]; for each chunk the index of its text [chunks].
  Array<int> tables;
};

/// Sizes and settings of one pass, and its memory.
struct CallSettings {
  Shape shape;
  Packing packing;
  StateShape state_shape;
  int chunk = 1; // 1 ... T
  Schedule schedule = Schedule::automatic;
  Math math = Math::exact;
  bool stateless = false;
  Params params;
  std::vector<std::string> given;                           // optional inputs that the caller supplied
  std::shared_ptr<Arena> arena = std::make_shared<Arena>(); // memory for everything but the arrays of Call

  bool has(const std::string &input) const {
    for (const std::string &name : given)
      if (name == input) return true;
    return false;
  }
  size_t steps() const { return shape.heads() * shape.T; }
  int key_heads() const { return packing.key_heads ? packing.key_heads : shape.H; }
  bool packed() const { return packing.texts > 0 || key_heads() != shape.H; }
};

/// One forward pass. The array of an absent optional input holds the neutral value, or is empty if the variant does not
/// take this input. `state` holds the initial state on entry and the final state on return. Every element of `o` must
/// be written. In a stateless call the initial state is zero and the final state is not needed. A stateless
/// BackwardCall needs no gradient of either state. A form may ignore that a call is stateless.
template <class Real, class Stored> struct Call : CallSettings {
  Array<Stored> q, k, v, w, o;
  Array<Real> beta, alpha, lambda, state;

  /// The tensor's array, in a call whose arrays all have one type.
  Array<Real> &operator[](Tensor tensor) {
    Array<Real> *const all[tensor_count] = {&q, &k, &v, &beta, &alpha, &lambda, &w};
    return *all[int(tensor)];
  }
  /// Calls f with the tensor's array, which is an Array<Stored> or an Array<Real>.
  template <class F> auto with(Tensor tensor, const F &f) {
    switch (tensor) {
    case Tensor::q:
      return f(q);
    case Tensor::k:
      return f(k);
    case Tensor::v:
      return f(v);
    case Tensor::w:
      return f(w);
    case Tensor::beta:
      return f(beta);
    case Tensor::alpha:
      return f(alpha);
    case Tensor::lambda:
      return f(lambda);
    }
    throw std::logic_error("no such tensor");
  }
};

/// One backward pass. `call` is the forward call: call.state is the initial state and must not change; call.o may be
/// overwritten. `d` holds the gradients. On entry d.o and d.state are the gradients of the outputs and of the final
/// state. The pass replaces d.state by the gradient of the initial state, and must write every element of all other
/// gradients.
template <class Real, class Stored> struct BackwardCall { Call<Real, Stored> call, d; };

/// The inputs, outputs and state of one (batch, head): pointers to the first step.
template <class Real> struct Head {
  int T, Dk, Dv, chunk;
  size_t index; // b * H + h
  const Real *q_, *k_, *v_, *beta, *alpha, *lambda_, *w_;
  Real *o_;
  Real *state; // [rows, columns] of the variant's state
  Real *work;  // this head's scratch, uninitialised

  KOKKOS_FUNCTION const Real *q(int t) const { return q_ + size_t(t) * Dk; }
  KOKKOS_FUNCTION const Real *k(int t) const { return k_ + size_t(t) * Dk; }
  KOKKOS_FUNCTION const Real *v(int t) const { return v_ + size_t(t) * Dv; }
  KOKKOS_FUNCTION const Real *lambda(int t) const { return lambda_ + size_t(t) * Dk; }
  KOKKOS_FUNCTION const Real *w(int t) const { return w_ + size_t(t) * Dk; }
  KOKKOS_FUNCTION Real *o(int t) const { return o_ + size_t(t) * Dv; }
};

template <class Real> struct HeadArrays {
  int T, Dk, Dv, chunk;
  size_t state_size;
  Array<Real> q, k, v, beta, alpha, lambda, w, o, state;

  explicit HeadArrays(const Call<Real> &c)
      : T(c.shape.T), Dk(c.shape.Dk), Dv(c.shape.Dv), chunk(c.chunk), state_size(c.state_shape.size()), q(c.q), k(c.k),
        v(c.v), beta(c.beta), alpha(c.alpha), lambda(c.lambda), w(c.w), o(c.o), state(c.state) {}

  KOKKOS_FUNCTION Head<Real> head(size_t i, Real *work = nullptr) const {
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
            work};
  }
};

/// This is a functor, because `body` may be an extended lambda, and nvcc does not nest extended lambdas.
template <class Real, class Body> struct HeadKernel {
  HeadArrays<Real> arrays;
  Body body;
  KOKKOS_FUNCTION void operator()(const Team &team, size_t index, Real *work) const {
    body(team, arrays.head(index, work));
  }
};

/// Runs body(team, head) for every (batch, head), one team each, with `work_size` reals of scratch per head. `label` is
/// "variant::form".
template <class Real, class Body>
void each_head(const std::string &label, const Call<Real> &call, size_t work_size, const Body &body) {
  run<Real>({label, call.shape.heads(), 128, call.math}, *call.arena, work_size,
            HeadKernel<Real, Body>{HeadArrays<Real>(call), body});
}

} // namespace recollect
