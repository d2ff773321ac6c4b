// SPDX-License-Identifier: Apache-2.0
// The type that a file in variants/ must return. It uses host types only, so that tasks, theory and tests do not
// include Kokkos.
#pragma once
#include "harness/core/cost.hpp"
#include "harness/core/counted.hpp"
#include "harness/core/float16.hpp"
#include "harness/core/quad.hpp"
#include "harness/core/taped.hpp"
#include "harness/core/types.hpp"
#include <functional>
#include <string_view>
#include <type_traits>

namespace recollect {

// Device arrays, parameters and chunk length of one forward or backward pass (device.hpp). q, k, v, w and o hold Stored
// numbers.
template <class Real, class Stored = Real> struct Call;
template <class Real, class Stored = Real> struct BackwardCall;

/// Kernels of a pass that read and write 16-bit arrays directly, with sums, states and gates in float32. A form without
/// such kernels runs in float32 on converted arrays (converted.hpp).
template <template <class, class> class Pass> struct Native16 {
  std::function<void(const Pass<float, BFloat16> &)> bf16 = nullptr;
  std::function<void(const Pass<float, Float16> &)> f16 = nullptr;
  /// Whether the kernels support a shape; null: they support all.
  std::function<bool(const Shape &, const Params &)> takes = nullptr;

  template <class Stored> const auto &of() const {
    if constexpr (std::is_same_v<Stored, BFloat16>)
      return bf16;
    else
      return f16;
  }
  /// Whether there is a kernel for arrays of type `real` and this shape.
  bool has(Real real, const Shape &shape, const Params &params) const {
    const bool any = real == Real::bf16 ? bool(bf16) : real == Real::f16 && bool(f16);
    return any && (!takes || takes(shape, params));
  }
};

/// A form's backward pass: gradients with respect to every input, given the gradients of the outputs and of the final
/// state.
struct Vjp {
  std::function<void(const BackwardCall<float> &)> f32 = nullptr;
  std::function<void(const BackwardCall<double> &)> f64 = nullptr;
  Native16<BackwardCall> native = {};
  explicit operator bool() const { return bool(f64); }
};

/// One way to compute a variant. The form `recurrent` is the definition; every other form is compared with it in
/// float64.
struct Form {
  SPECIAL_MEMBERS(Form);
  Form(std::string called, std::function<void(const Call<float> &)> single,
       std::function<void(const Call<double> &)> real);
  std::string name; // recurrent | chunked | parallel | minibatch | ...
  std::function<void(const Call<float> &)> f32;
  std::function<void(const Call<double> &)> f64;
  bool exact = true;  // false: equals the recurrent form only approximately even in exact arithmetic
  bool stable = true; // false: on ill-conditioned keys it is less accurate than the recurrent form (see Traits::stable)
  bool causal = true; // false: an approximation that uses the whole sequence, later steps included
  /// True: the float32 kernels and the 16-bit kernels of `native` take packed texts, and fewer heads of q and k than of
  /// v (Packing). This holds at the shapes that native.takes accepts.
  bool packs = false;
  /// These three are set for the definition only. They run the definition on the CPU, on numbers that count operations,
  /// record operations, or have 113 bits.
  std::function<void(const Call<Counted> &)> counted = nullptr;
  std::function<void(const Call<Taped> &)> taped = nullptr;
  std::function<void(const Call<Quad> &)> quad = nullptr;
  Vjp vjp = {}; // empty: gradients come from the definition's `taped`
  Native16<Call> native = {};
  /// Time per token on one CPU thread, in units of the time that the definition takes per operation. At small widths
  /// this may exceed the definition's flops; then the definition is used as the fast form. 0: this form is always
  /// faster.
  Polynomial work = 0;
};

/// A tensor other than q, k and v. An input that is not required may be absent. Then its neutral value is used: the key
/// for w, 1 for the others.
struct Input {
  std::string name; // beta | alpha | lambda | w
  bool required = false;
  std::string meaning;
  std::string absent = "";                                // what replaces an absent input, if not the neutral value
  enum Range { any, not_negative, positive } range = any; // range of the values; decays also lie in [0,1]
  Tensor tensor() const { return tensor_named(name); }
  bool per_step() const { return facts_of(tensor()).width == TensorFacts::step; } // true: [B,H,T]; false: [B,H,T,Dk]
};

/// What a read at a unit key returns after v_1 ... v_t were written at that key, with beta = alpha = lambda = 1.
enum class Repeats { other, sum, mean, ridged_mean /* sum / (t + ridge) */, last };
const char *name_of(Repeats);

/// Properties of the map (q,k,v,...) -> (o, state). A test shows that each declared property holds and that each
/// undeclared one fails.
struct Traits {
  bool causal = true;           // o_t depends on steps <= t only
  bool linear_in_v = true;      // o is linear in v
  bool order_invariant = false; // the final read is unchanged when earlier (k, v) pairs are permuted
  // The error of float32 forms is within the bound of conditioning.hpp. At steps before Dk and with a small ridge, this
  // bound may exceed the outputs.
  bool stable = true;
  bool zero_step_keeps = false; // a write with beta = 0 does not change the state: beta is the step size
  bool zero_key_keeps = false;  // a write at a zero key, with w = k and gates of 1, does not change the state
  bool linear_memory = true;    // the layer stores O(T) numbers at most, not O(T^2)
  Repeats repeats = Repeats::other;
};

struct Conditioned {
  double number = 0; // condition number of a matrix that the layer solves with
  size_t head = 0;
  int step = 0;
};

struct Variant {
  SPECIAL_MEMBERS(Variant);
  std::string name;                 // the file's stem, set by the registry
  std::vector<std::string> aliases; // other names that users may give
  std::string family;               // additive | gated | delta rule | ...
  std::string update;    // the update rule; for many layers S_t = S_{t-1} A_t + b_t k_t^T, o_t = S_t phi(q_t)
  std::string objective; // the loss of which the update is a gradient step, "" if none is known
  std::string source;    // paper and equation
  Cost cost;             // per token and head
  std::string layout = "S [Dv,Dk]"; // layout of the state, from its first row down; "" without a finite state
  std::string symmetric;            // name of the symmetric [Dk,Dk] matrix after the state's first Dv rows; "" if none
  std::string differs;              // how the layer differs from its source
  std::vector<ParamSpec> params;
  std::vector<Input> inputs;             // besides q, k, v
  std::vector<std::string> needs_one_of; // at least one of these inputs must be given
  std::vector<Form> forms;               // forms[0] is recurrent
  Traits traits;
  /// Rows x columns of the per-head state. The default is Dv x Dk, the S of most layers. Returns {} if there is no
  /// finite state.
  std::function<StateShape(const Shape &, const Params &)> state_shape = [](const Shape &s, const Params &) {
    return StateShape{s.Dv, s.Dk};
  };
  /// One head's initial state, row-major; null means zeros.
  std::function<std::vector<double>(const Shape &, const Params &)> initial_state;
  /// For a layer that solves linear systems with matrices made from its inputs: how strongly the outputs respond if
  /// each element of these matrices changes separately. No change of the inputs does this, so input_condition() adds
  /// this response to the response to the inputs (conditioning.hpp). Null if the layer solves no system.
  std::function<double(const Sequence &, const Params &)> solved_condition;
  /// The largest condition number of the matrices that the layer solves with, at steps 0, 1, 3, 7 ... and the last; 0
  /// if it does not exceed `least`. The sequences have no initial state. Null if unknown.
  std::function<Conditioned(const Sequence &, const Params &, double least)> worst_condition;
  /// Whether the heads of a batch element are computed together: a head's outputs depend on other heads or on its place
  /// among them. Null: never.
  std::function<bool(const Params &)> joins_heads;
  /// Why the variant cannot take this shape with these parameters; "" if it can.
  std::function<std::string(const Shape &, const Params &)> unsuitable;

  /// Whether the layer takes this tensor; q, k and v always.
  bool takes(Tensor tensor) const;
  const Form *find_form(std::string_view form) const;
};

/// Converts a gradient of states, [B,H,rows,columns], to one convention for symmetric matrices (Variant::symmetric). In
/// a symmetric matrix P, P_ij and P_ji are stored twice but are one variable. The derivative with respect to this
/// variable is the sum of the gradient's two entries, and each entry is set to half of this sum. So the result does not
/// depend on how a gradient splits the sum. Other numbers are unchanged.
std::vector<double> symmetrised(const Variant &variant, const Shape &shape, std::vector<double> d_state);

} // namespace recollect
