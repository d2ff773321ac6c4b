// SPDX-License-Identifier: Apache-2.0
// Types that all parts of the harness share. Standard types only: no Kokkos, no HDF5.
#pragma once
#include "harness/core/params.hpp"
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace recollect {

/// Type of q, k, v, w, o and their gradients. With 16-bit arrays, sums, states and gates (beta, alpha, lambda) are
/// still float32, because in bfloat16 a decay of 0.999 would become 1.
enum class Real { f32, f64, bf16, f16 };
constexpr Real all_reals[] = {Real::f32, Real::f64, Real::bf16, Real::f16};
inline const char *name_of(Real real) {
  const char *const names[] = {"f32", "f64", "bf16", "f16"};
  return names[int(real)];
}
/// The type with this name; null if there is none.
inline const Real *real_named(std::string_view name) {
  for (const Real &real : all_reals)
    if (name == name_of(real)) return &real;
  return nullptr;
}
/// Bytes per stored number.
inline unsigned bytes_of(Real real) { return real == Real::f64 ? 8 : real == Real::f32 ? 4 : 2; }
/// The type of sums, states and gates.
inline Real wide_of(Real real) { return real == Real::f64 ? Real::f64 : Real::f32; }
/// Spacing of numbers at 1: 2^-23, 2^-52, 2^-7 or 2^-10.
inline double epsilon_of(Real real) {
  return real == Real::f32    ? std::numeric_limits<float>::epsilon()
         : real == Real::f64  ? std::numeric_limits<double>::epsilon()
         : real == Real::bf16 ? 1.0 / (1 << 7)
                              : 1.0 / (1 << 10);
}

/// How the operands of products of float32 arrays are rounded, if the device has units for such products: not at all,
/// to TF32 (10 stored bits of significand) or to bfloat16 (7 stored bits). Sums are always float32.
enum class Math { exact, tf32, bf16 };
inline const char *name_of(Math math) { return math == Math::exact ? "exact" : math == Math::tf32 ? "tf32" : "bf16"; }
/// The schedule of a chunked form (engine.hpp): automatic chooses by shape and backend; streaming runs one team per
/// head; three_phase runs all chunks in parallel.
enum class Schedule { automatic, streaming, three_phase };
inline const char *name_of(Schedule schedule) {
  return schedule == Schedule::automatic ? "auto" : schedule == Schedule::streaming ? "streaming" : "three_phase";
}

struct Shape {
  int B = 1, H = 1, T = 1, Dk = 1, Dv = 1;
  size_t heads() const { return size_t(B) * H; }
};

/// The tensors that a pass reads, in the order of every argument list.
enum class Tensor { q, k, v, beta, alpha, lambda, w };
constexpr Tensor all_tensors[] = {Tensor::q,     Tensor::k,      Tensor::v, Tensor::beta,
                                  Tensor::alpha, Tensor::lambda, Tensor::w};
constexpr int tensor_count = sizeof(all_tensors) / sizeof(Tensor);

/// Properties of each tensor: its shape, and the value that is used if it is optional and absent.
struct TensorFacts {
  const char *name;
  enum Width { step, key, value } width; // [B,H,T], [B,H,T,Dk], [B,H,T,Dv]
  enum Neutral { none, one, the_key } neutral;
  bool decay;                                          // whether the values are factors in [0,1]
  bool gate() const { return width == step || decay; } // beta, alpha, lambda: float32 also with 16-bit arrays
};
inline const TensorFacts &facts_of(Tensor tensor) {
  static constexpr TensorFacts table[tensor_count] = {
      {"q", TensorFacts::key, TensorFacts::none, false},    {"k", TensorFacts::key, TensorFacts::none, false},
      {"v", TensorFacts::value, TensorFacts::none, false},  {"beta", TensorFacts::step, TensorFacts::one, false},
      {"alpha", TensorFacts::step, TensorFacts::one, true}, {"lambda", TensorFacts::key, TensorFacts::one, true},
      {"w", TensorFacts::key, TensorFacts::the_key, false}};
  return table[int(tensor)];
}
inline const char *name_of(Tensor tensor) { return facts_of(tensor).name; }
/// How many numbers the tensor has per step and head.
inline int width_of(Tensor tensor, const Shape &s) {
  const TensorFacts::Width width = facts_of(tensor).width;
  return width == TensorFacts::step ? 1 : width == TensorFacts::key ? s.Dk : s.Dv;
}
/// The tensor with this name. The name must be known.
inline Tensor tensor_named(const std::string &name) {
  for (Tensor tensor : all_tensors)
    if (name == name_of(tensor)) return tensor;
  throw std::logic_error("no tensor is called " + name);
}

/// Host arrays, row-major. If an array is empty, its tensor is absent. Values are doubles, whatever the type of the
/// run.
struct Sequence {
  Shape shape;
  std::vector<double> q, k, lambda, w; // [B,H,T,Dk]
  std::vector<double> v;               // [B,H,T,Dv]
  std::vector<double> beta, alpha;     // [B,H,T]
  std::vector<double> state;           // [B,H,rows,columns] of the variant's state; empty: the variant's initial state

  std::vector<double> &operator[](Tensor tensor) {
    std::vector<double> *const all[tensor_count] = {&q, &k, &v, &beta, &alpha, &lambda, &w};
    return *all[int(tensor)];
  }
  const std::vector<double> &operator[](Tensor tensor) const { return const_cast<Sequence &>(*this)[tensor]; }
  /// The tensor if it is given, else its neutral value.
  std::vector<double> or_neutral(Tensor tensor) const {
    if (!(*this)[tensor].empty()) return (*this)[tensor];
    return facts_of(tensor).neutral == TensorFacts::the_key
               ? k
               : std::vector<double>(shape.heads() * shape.T * width_of(tensor, shape), 1.0);
  }
  std::vector<double> &input(const std::string &name) { return (*this)[tensor_named(name)]; }
  const std::vector<double> &input(const std::string &name) const { return (*this)[tensor_named(name)]; }
};

struct StateShape {
  int rows = 0, columns = 0; // of one head's state; 0 x 0: no finite state
  size_t size() const { return size_t(rows) * columns; }
};

struct Output {
  std::vector<double> o;     // [B,H,T,Dv]
  std::vector<double> state; // [B,H,rows,columns], the final state
  StateShape state_shape;
};

using Metrics = std::vector<std::pair<std::string, double>>;

/// A task's scores of one output: scalars, and curves over steps.
struct Score {
  Metrics metrics;
  std::map<std::string, std::vector<double>> series;
};

} // namespace recollect
