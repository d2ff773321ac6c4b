// SPDX-License-Identifier: Apache-2.0
// The values that flow through the harness. Standard types only: no Kokkos, no HDF5.
#pragma once
#include "harness/core/params.hpp"
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace recollect {

enum class Real { f32, f64 };
inline const char *name_of(Real real) { return real == Real::f32 ? "f32" : "f64"; }
/// Unit round-off spacing of the type: 2^-23 or 2^-52.
inline double epsilon_of(Real real) {
  return real == Real::f32 ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
}

/// How matrix products round float32 operands: not at all, or to TF32 (10 bits) or bfloat16 (7 bits), where the device
/// has such units. Sums are float32 in each.
enum class Math { exact, tf32, bf16 };
/// How a chunked form goes through a sequence: by shape and backend, one team a head, or all chunks at once (engine.hpp).
enum class Schedule { automatic, streaming, three_phase };

struct Shape {
  int B = 1, H = 1, T = 1, Dk = 1, Dv = 1;
  size_t heads() const { return size_t(B) * H; }
};

/// Host arrays, row-major. Empty means absent. Values are held in double whatever the run's real type.
struct Sequence {
  Shape shape;
  std::vector<double> q, k, lambda, w; // [B,H,T,Dk]
  std::vector<double> v;               // [B,H,T,Dv]
  std::vector<double> beta, alpha;     // [B,H,T]
  std::vector<double> state;           // [B,H,rows,columns] of the variant's state; empty: its own initial state

  /// The optional input called beta, alpha, lambda or w.
  std::vector<double> &input(const std::string &name) {
    return name == "beta" ? beta : name == "alpha" ? alpha : name == "lambda" ? lambda : w;
  }
  const std::vector<double> &input(const std::string &name) const { return const_cast<Sequence *>(this)->input(name); }
};

struct StateShape {
  int rows = 0, columns = 0; // per head; 0 x 0: no finite state
  size_t size() const { return size_t(rows) * columns; }
};

struct Output {
  std::vector<double> o;     // [B,H,T,Dv]
  std::vector<double> state; // [B,H,rows,columns], final
  StateShape state_shape;
};

using Metrics = std::vector<std::pair<std::string, double>>;

/// A task's judgement of one output: scalars, and curves over steps.
struct Score {
  Metrics metrics;
  std::map<std::string, std::vector<double>> series;
};

} // namespace recollect
