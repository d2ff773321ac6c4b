// SPDX-License-Identifier: Apache-2.0
// Flags that several subcommands share.
#pragma once
#include "harness/check/array_types.hpp"
#include "harness/core/error.hpp"
#include "harness/core/execution_options.hpp"
#include "harness/core/params.hpp"
#include "harness/core/text.hpp"
#include "harness/core/types.hpp"
#include "harness/files/tensors.hpp"
#include "harness/system/memory.hpp"
#include <CLI/CLI.hpp>
#include <algorithm>

namespace recollect {

/// Parses name=value texts. Usage error if a name is given twice.
inline Assignments assignments(const std::vector<std::string> &texts) {
  Assignments all;
  for (const std::string &text : texts) {
    Assignments one;
    parse_assignment(text, one);
    if (!all.insert(*one.begin()).second) usage_error("'" + one.begin()->first + "' is set twice");
  }
  return all;
}

/// Schedule of chunked forms, and precision of their matrix products.
struct EngineFlags {
  std::string schedule = "auto", math = "exact";
  void add(CLI::App &c) {
    c.add_option("--schedule", schedule, "auto, streaming (one team per head) or three_phase (all chunks at once)")
        ->check(CLI::IsMember({"auto", "streaming", "three_phase"}))
        ->capture_default_str();
    c.add_option("--math", math,
                 "exact, tf32 or bf16: precision to which matrix products round their float32 operands, if the device "
                 "supports it")
        ->check(CLI::IsMember({"exact", "tf32", "bf16"}))
        ->capture_default_str();
  }
  ExecutionOptions get(Real real, int chunk) const {
    return {real, chunk,
            schedule == "auto"        ? Schedule::automatic
            : schedule == "streaming" ? Schedule::streaming
                                      : Schedule::three_phase,
            get_math()};
  }
  Math get_math() const { return math == "exact" ? Math::exact : math == "tf32" ? Math::tf32 : Math::bf16; }
};

/// Flags for a sequence that is cut along T among the ranks of mpirun.
struct AlongFlags {
  std::string dimension, carry = "auto";
  void add(CLI::App &c) {
    CLI::Option *along =
        c.add_option("--ranks-along", dimension, "T: cut one sequence into a segment for each rank of mpirun")
            ->check(CLI::IsMember({"T"}));
    c.add_option("--carry", carry,
                 "how the ranks pass the state on: auto, scan (in parallel) or chain (one rank after the other)")
        ->check(CLI::IsMember({"auto", "scan", "chain"}))
        ->needs(along)
        ->capture_default_str();
  }
  bool asked() const { return !dimension.empty(); }
};

/// Type of q, k, v, w, o and their gradients.
struct TypeFlag {
  std::string name;
  void add(CLI::App &c) {
    c.add_option("--dtype", name,
                 "f32, f64, bf16 or f16: type of stored arrays; with bf16 and f16, sums, states and gates stay float32")
        ->check(CLI::IsMember({"f32", "f64", "bf16", "f16"}))
        ->capture_default_str();
  }
  Real real() const { return *real_named(name); }
};

/// Form, type, chunk length and parameters of a layer.
struct FormFlags {
  std::string form = "fast";
  TypeFlag dtype{"f64"};
  int chunk = 64;
  std::vector<std::string> settings;

  void add(CLI::App &c) {
    c.add_option("--form", form, "recurrent, fast (the fastest exact form at this shape), or the name of a form")
        ->capture_default_str();
    c.add_option("--chunk", chunk, "chunk length C")->check(CLI::Range(1, 1 << 30))->capture_default_str();
    dtype.add(c);
    c.add_option("--set", settings, "name=value of the layer's parameters (repeatable)")->expected(1)->take_all();
  }
  Real real() const { return dtype.real(); }
};

/// Names, layout and parametrisation of the user's arrays.
struct ConventionFlags {
  std::string names, layout, state, gate, beta, scale, l2norm;

  void add(CLI::App &c) {
    c.add_option("--convention", names,
                 "fla, mamba, vllm or flashinfer: the library whose array names, layout, gates, scale and state layout "
                 "the files follow; each flag below overrides one of these")
        ->check(CLI::IsMember(preset_names()));
    c.add_option("--layout", layout, "bhtd (default), bthd or thd: the order of the files' dimensions")
        ->check(CLI::IsMember(layout_names()));
    c.add_option("--state", state, "vk (default): states are [Dv,Dk]; kv: [Dk,Dv]")->check(CLI::IsMember({"vk", "kv"}));
    c.add_option(
         "--gate", gate,
         "what alpha and lambda hold: the factor (default), its log or log2, or the raw gate of gdn, kda, kda-lb "
         "(with A_log and dt_bias), rwkv or mamba (dt, with A)")
        ->check(CLI::IsMember(gate_names()));
    c.add_option("--beta", beta,
                 "write strength from an array x of the file: factor (default): x; sigmoid: sigmoid(x); double: 2 x; "
                 "sigmoid-double: 2 sigmoid(x)")
        ->check(CLI::IsMember(strength_names()));
    c.add_option(
        "--scale", scale,
        "factor by which q is multiplied: a number, or rsqrt for 1/sqrt(Dk). Default: the default of the layer's "
        "parameter `scale` (for softmax 1/sqrt(Dk)), or 1 if the layer has no such parameter");
    c.add_option("--l2norm", l2norm,
                 "EPS: rows of q and k are divided by sqrt(sum of squares + EPS); none: they are not");
  }
  /// The convention that the flags describe. `settings` are the layer's parameters; if they set `scale`, the convention
  /// has no scale.
  Convention get(const std::vector<std::string> &settings) const {
    Convention c = names.empty() ? Convention() : preset(names);
    const bool layers_scale = std::any_of(settings.begin(), settings.end(),
                                          [](const std::string &text) { return text.rfind("scale=", 0) == 0; });
    if (layers_scale && !scale.empty()) usage_error("the scale is given twice: --scale and --set scale");
    if (layers_scale) c.scale = {};
    if (!layout.empty()) c.layout = parse_layout(layout);
    if (!state.empty()) c.state_kv = state == "kv";
    if (!gate.empty()) c.gate = parse_gate(gate);
    if (!beta.empty()) c.strength = parse_strength(beta);
    if (!scale.empty()) c.scale = parse_scale(scale);
    if (l2norm == "none") c.l2norm.reset();
    if (!l2norm.empty() && l2norm != "none") {
      c.l2norm = parse_number(l2norm, "--l2norm");
      if (!(*c.l2norm >= 0 && *c.l2norm < 1)) usage_error("--l2norm is a number from 0 to 1, or none, got " + l2norm);
    }
    return c;
  }
  /// The flags as given on the command line, each preceded by a space.
  std::string text() const {
    std::string words;
    const std::pair<const char *, const std::string &> all[] = {
        {"--convention", names}, {"--layout", layout}, {"--state", state},  {"--gate", gate},
        {"--beta", beta},        {"--scale", scale},   {"--l2norm", l2norm}};
    for (const auto &[flag, value] : all)
      if (!value.empty()) words += std::string(" ") + flag + " " + value;
    return words;
  }
};

/// Type of the computation, and types of those arrays whose type differs from it.
struct TypeFlags {
  std::string dtype, of;
  CLI::Option *add(CLI::App &c, const std::string &usual, const std::string &meaning) {
    dtype = usual;
    CLI::Option *const option = c.add_option("--dtype", dtype, meaning)->capture_default_str();
    c.add_option(
        "--dtype-of", of,
        "types of individual arrays, such as state=f32,g=f32; default: those of --convention, those in the file "
        "if it has 16-bit arrays, or --dtype");
    return option;
  }
  Precision precision() const { return parse_precision(dtype); }
  StatedTypes stated(const Convention &convention) const { return parse_types(of, convention); }
};

/// Runs `work` on values that were read from the file `path`. Messages of its errors begin with the name of the file.
template <class Work> auto in_file(const std::string &path, const Work &work) {
  try {
    return work();
  } catch (const Error &failure) {
    throw Error(failure.code, path + ": " + failure.what());
  }
}

inline void add_memory_flag(CLI::App &c) {
  c.add_option_function<std::string>(
      "--memory", [](const std::string &text) { set_memory_limit(parse_bytes(text, "--memory")); },
      "memory limit of a case or a file, such as 8G; default: the machine's memory, on a GPU its free memory");
}

/// Suppresses progress and individual results; the last line and failures are still printed.
struct QuietFlag {
  bool quiet = false;
  void add(CLI::App &c) { c.add_flag("--quiet", quiet, "print only failures and the last line"); }
};

/// Adds a line "Example: ..." to the end of a subcommand's help.
inline void example(CLI::App &c, const std::string &command) { c.footer("Example: " + command); }

/// Flags for a results file that is written while the command works.
struct OutputFlags {
  std::string path;
  bool resume = false;
  void add(CLI::App &c) {
    c.add_option("-o,--output", path, "results file (HDF5)");
    c.add_flag("--resume", resume, "complete what an interrupted run left in OUTPUT.partial");
  }
  void check() const {
    if (resume && path.empty()) usage_error("--resume needs the file to complete: -o FILE");
  }
};

/// The flag --shard i/n: work on part i of n only, counted from 1.
struct Shard {
  std::string text;
  size_t part = 1, parts = 1;
  void add(CLI::App &c) {
    c.add_option("--shard", text, "i/n: work on part i of n parts only; `recollect merge` joins the results");
  }
  void parse() {
    if (text.empty()) return;
    const std::vector<std::string> words = split(text, '/');
    if (words.size() != 2) usage_error("--shard is i/n, got '" + text + "'");
    const double i = parse_number(words[0], "--shard"), n = parse_number(words[1], "--shard");
    if (!(i >= 1 && i <= n && n <= 1e6) || i != double(size_t(i)) || n != double(size_t(n)))
      usage_error("--shard is i/n with 1 <= i <= n, got '" + text + "'");
    part = size_t(i), parts = size_t(n);
  }
  bool has(size_t index) const { return index % parts == part - 1; }
};

} // namespace recollect
