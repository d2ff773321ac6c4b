// SPDX-License-Identifier: Apache-2.0
// How a user's arrays are named, laid out and parametrised. By default, that is in the layer's own convention, arrays
// are [B,H,T,D], gates are decay factors, states are [rows,columns] = [Dv,Dk], and nothing is scaled. Sources of the
// presets: the operators' docstrings in fla-org/flash-linear-attention, vllm-project/vllm, flashinfer-ai/flashinfer and
// state-spaces/mamba.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace recollect {

/// Order of the dimensions of arrays that have one entry per step. thd: [T,H,D], without a batch dimension.
enum class Layout { bhtd, bthd, thd };

/// The formula for the logarithm g of the decay factor from an element a of the gate array. A, A_log and dt_bias are
/// parameters with one value per head; dt_bias has one value per channel if the decay has channels.
enum class Gate {
  factor, // g = log a
  log,    // g = a
  log2,   // g = a log 2
  gdn,    // g = -exp(A_log) softplus(a + dt_bias), one decay per head
  kda,    // as gdn, one decay per channel
  kda_lb, // g = -5 sigmoid(exp(A_log) (a + dt_bias))
  rwkv,   // g = -exp(a)
  mamba   // g = A dt, where dt is a or, with dt_bias, softplus(a + dt_bias); dt is also the write strength
};

/// The formula for the write strength beta from an element b of the array of write strengths.
enum class Strength {
  factor,        // beta = b
  sigmoid,       // beta = sigmoid(b)
  doubled,       // beta = 2 b
  sigmoid_double // beta = 2 sigmoid(b)
};

/// The value of the layer's parameter `scale`. If the layer has no such parameter, it is a factor on q. Kind `none`
/// means the default of the parameter, or the factor 1.
struct Scale {
  enum Kind { none, rsqrt /* 1/sqrt(Dk) */, number } kind = none;
  double value = 1;
  double of(int Dk) const;
};

struct Convention {
  std::string names; // the preset whose names the arrays have; "": the arrays have the layer's names
  Layout layout = Layout::bhtd;
  bool state_kv = false; // states are [columns,rows], that is [Dk,Dv]
  Gate gate = Gate::factor;
  Strength strength = Strength::factor;
  Scale scale;
  std::optional<double> l2norm; // the eps with which q and k are divided by sqrt(sum x^2 + eps); none: not divided
  // Mistakes that kernels make. Users cannot choose them. If a kernel is wrong, `check` tries whether one of them
  // explains its results.
  bool heads_interleaved = false; // head h of H uses the shared head h % n, not h / (H / n); n: number of shared heads
  bool texts_joined = false;      // a packed text starts from the final state of the previous text
  bool skip_ignored = false;      // o lacks the skip term D v
  bool gate_ignored = false;      // o lacks the output gate silu(z)

  bool log_gates() const { return gate != Gate::factor; } // whether gate gradients are with respect to g
};

/// The values of --convention, --layout, --state, --gate, --beta, --scale and --l2norm.
const std::vector<std::string> &preset_names();
Convention preset(const std::string &name);
const std::vector<std::string> &layout_names(), &gate_names(), &strength_names();
Layout parse_layout(const std::string &name);
Gate parse_gate(const std::string &name);
Strength parse_strength(const std::string &name);
Scale parse_scale(const std::string &text);
const char *name_of(Layout layout);
const char *name_of(Gate gate);
const char *name_of(Strength strength);
std::string text_of(const Scale &scale);

/// The names that an array may have in files; files are written with the first. `array` is the layer's name of the
/// array: q, beta, alpha, state (the initial state), final_state, o, or a gradient dq, ... The gradients do and
/// dfinal_state are inputs of a backward pass.
std::vector<std::string> names_in_files(const std::string &array, const Convention &convention);

/// The arrays that the preset's library holds in float32 even if queries, keys and values have 16 bits. The names are
/// the layer's.
std::vector<std::string> wide_arrays(const Convention &convention);

} // namespace recollect
