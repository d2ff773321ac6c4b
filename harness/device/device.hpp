// SPDX-License-Identifier: Apache-2.0
// Arguments of a kernel: device arrays of one call, and raw row-major pointers of one (batch, head).
#pragma once
#include "harness/core/variant.hpp"
#include "harness/device/form_builder.hpp"
#include "harness/device/launch.hpp"
#include "harness/device/math.hpp"
#include <memory>

namespace recollect {

constexpr int packed_chunk = 64; // steps per chunk of packed texts

/// Packed texts and shared heads in a call's arrays. By default each batch entry is one text, and q and k have as many
/// heads as v. Only forms with Form::packs get other calls (packed.hpp).
struct Packing {
  int key_heads = 0; // q and k are [B,key_heads,T,Dk]; head h uses their head h / (H / key_heads); 0: H
  // Packed texts: B is 1, text n has the steps starts[n] ... starts[n + 1] - 1 of the T, and states are
  // [texts,H,rows,columns].
  int texts = 0;     // 0: texts are not packed
  int chunks = 0;    // chunks of one head, in all texts
  Array<int> tables; // starts [texts + 1]; chunks of all earlier texts [texts + 1]; each chunk's text [chunks]
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
  std::shared_ptr<Arena> arena = std::make_shared<Arena>(); // memory for everything except the pass's arrays

  bool has(const std::string &input) const {
    for (const std::string &name : given)
      if (name == input) return true;
    return false;
  }
  size_t steps() const { return shape.heads() * shape.T; }
  int key_heads() const { return packing.key_heads ? packing.key_heads : shape.H; }
  bool packed() const { return packing.texts > 0 || key_heads() != shape.H; }
};

/// One forward pass. An absent optional input holds its neutral value if the variant takes it, and is empty otherwise.
/// `state` holds the initial state on entry and the final one on return. Every element of `o` must be written. In a
/// stateless call the initial state is zero and the final state is not needed. A stateless BackwardCall needs no
/// gradient of either state. A form may ignore that a call is stateless.
template <class Real, class Stored> struct Call : CallSettings {
  Array<Stored> q, k, v, w, o;
  Array<Real> beta, alpha, lambda, state;

  /// For a call whose arrays all have one type.
  Array<Real> &operator[](Tensor tensor) {
    Array<Real> *const all[tensor_count] = {&q, &k, &v, &beta, &alpha, &lambda, &w};
    return *all[int(tensor)];
  }
  /// Calls f(array of the tensor), which has either type.
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

/// One backward pass. `call` is the forward call: its `state` is the initial state and must not change; its `o` may be
/// overwritten. `d` holds the gradients. The inputs are d.o and d.state (the gradient of the final state); the pass
/// replaces d.state by the gradient of the initial state. The pass must write every element of all other gradients.
template <class Real, class Stored> struct BackwardCall { Call<Real, Stored> call, d; };

/// Pointers to the first step of one (batch, head).
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

/// A functor, not a lambda around a lambda, because nvcc does not nest extended lambdas.
template <class Real, class Body> struct HeadKernel {
  HeadArrays<Real> arrays;
  Body body;
  KOKKOS_FUNCTION void operator()(const Team &team, size_t index, Real *work) const {
    body(team, arrays.head(index, work));
  }
};

/// Runs body(team, head) for every (batch, head), one team each, with `work_size` reals of scratch per head. Label:
/// "variant::form".
template <class Real, class Body>
void each_head(const std::string &label, const Call<Real> &call, size_t work_size, const Body &body) {
  run<Real>({label, call.shape.heads(), 128, call.math}, *call.arena, work_size,
            HeadKernel<Real, Body>{HeadArrays<Real>(call), body});
}

} // namespace recollect
