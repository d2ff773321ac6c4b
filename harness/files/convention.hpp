// SPDX-License-Identifier: Apache-2.0
// How a user's arrays are named, laid out and parametrised. The layer's own convention is [B,H,T,D], decay factors, the
// state [rows,columns], no scale. Sources of the presets: the operators' docstrings in fla-org/flash-linear-attention,
// vllm-project/vllm, flashinfer-ai/flashinfer and state-spaces/mamba.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace recollect {

/// Order of the dimensions of arrays over steps. thd: [T,H,D], without a batch dimension.
enum class Layout { bhtd, bthd, thd };

/// How a gate array gives the logarithm g of the decay factor. a is the array; A_log and dt_bias are parameters, one
/// per head (dt_bias: per channel, if the decay has channels).
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

/// The parametrisation of the array of write strengths.
enum class Strength {
  factor,        // beta
  sigmoid,       // beta = sigmoid(b)
  doubled,       // beta = 2 b
  sigmoid_double // beta = 2 sigmoid(b)
};

struct Scale { // the layer's parameter `scale` or, without one, a factor on q. none: the parameter's default, or 1
  enum Kind { none, rsqrt /* 1/sqrt(Dk) */, number } kind = none;
  double value = 1;
  double of(int Dk) const;
};

struct Convention {
  std::string names; // the preset whose names the arrays have; "": the layer's names
  Layout layout = Layout::bhtd;
  bool state_kv = false; // states are [columns,rows], that is [Dk,Dv]
  Gate gate = Gate::factor;
  Strength strength = Strength::factor;
  Scale scale;
  std::optional<double> l2norm; // EPS: q and k are divided by sqrt(sum x^2 + EPS)
  // Mistakes that kernels make. Users cannot choose them; `check` tries them if a kernel is wrong.
  bool heads_interleaved = false; // grouped heads: head h reads h % n instead of h / n
  bool texts_joined = false;      // a packed text starts from the final state of the previous one
  bool skip_ignored = false;      // o without D v
  bool gate_ignored = false;      // o without the output gate silu(z)

  bool log_gates() const { return gate != Gate::factor; } // gradients are with respect to g
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

/// The names that an array may have in files; the first is the one written. `array` is the layer's name: q, beta,
/// alpha, state (initial), final_state, o. dq ... are gradients; do and dfinal_state are inputs of a backward pass.
std::vector<std::string> names_in_files(const std::string &array, const Convention &convention);

/// Arrays, by the layer's names, that a preset's library holds in float32 even if queries, keys and values have 16
/// bits.
std::vector<std::string> wide_arrays(const Convention &convention);

} // namespace recollect
