// SPDX-License-Identifier: Apache-2.0
// How a user's arrays are named, laid out and parametrised. The layer's own convention: [B,H,T,D], decay factors, the
// state [rows,columns], no scale. Sources of the presets: the operators' docstrings in fla-org/flash-linear-attention,
// vllm-project/vllm, flashinfer-ai/flashinfer and state-spaces/mamba.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace recollect {

/// Order of the dimensions of arrays over steps. thd: [T,H,D], a batch of one.
enum class Layout { bhtd, bthd, thd };

/// What a gate array holds, as the logarithm g of the decay factor. a is the array, A_log and dt_bias are parameters of a
/// head (dt_bias of a head's channel where the decay has channels).
enum class Gate {
  factor, // g = log a
  log,    // g = a
  log2,   // g = a log 2
  gdn,    // g = -exp(A_log) softplus(a + dt_bias), a decay a head
  kda,    // the same, a decay a channel
  kda_lb, // g = -5 sigmoid(exp(A_log) (a + dt_bias))
  rwkv,   // g = -exp(a)
  mamba   // g = A dt, and the write strength is dt: the array, with dt_bias softplus(array + dt_bias)
};

/// What the array of the write strength holds.
enum class Strength {
  factor,        // beta
  sigmoid,       // beta = sigmoid(b)
  doubled,       // beta = 2 b
  sigmoid_double // beta = 2 sigmoid(b)
};

struct Scale { // on q
  enum Kind { none, rsqrt /* 1/sqrt(Dk) */, number } kind = none;
  double value = 1;
  double of(int Dk) const;
};

struct Convention {
  std::string names; // the preset whose names the arrays have; "": the layer's
  Layout layout = Layout::bhtd;
  bool state_kv = false; // states are [columns,rows], that is [Dk,Dv]
  Gate gate = Gate::factor;
  Strength strength = Strength::factor;
  Scale scale;
  std::optional<double> l2norm; // EPS: q and k are divided by sqrt(sum x^2 + EPS)
  // What kernels do by mistake: never asked for, and tried where a kernel is wrong.
  bool heads_interleaved = false; // of grouped heads, h reads h % n and not h / n
  bool texts_joined = false;      // a packed text starts from the state of the one before
  bool skip_ignored = false;      // o without D v
  bool gate_ignored = false;      // o without the output gate silu(z)

  bool log_gates() const { return gate != Gate::factor; } // gradients are those in g
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

/// The names that an array may have in files, the one that is written first. `array` is the layer's name for it: q, beta,
/// alpha, state (initial), final_state, o; dq ... are gradients, do and dfinal_state those that a backward pass is given.
std::vector<std::string> names_in_files(const std::string &array, const Convention &convention);

/// Arrays, by the layer's names, that the libraries of a preset hold in float32 beside 16-bit queries, keys and values.
std::vector<std::string> wide_arrays(const Convention &convention);

} // namespace recollect
