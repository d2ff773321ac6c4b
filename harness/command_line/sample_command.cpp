// SPDX-License-Identifier: Apache-2.0
// The command `sample`: writes inputs for a user's kernel, as one file of one kind or as a folder with the battery.
#include "harness/bench/bench.hpp"
#include "harness/check/battery.hpp"
#include "harness/check/samples.hpp"
#include "harness/check/users_case.hpp"
#include "harness/command_line/flags.hpp"
#include "harness/command_line/progress.hpp"
#include "harness/command_line/subcommands.hpp"
#include "harness/command_line/table.hpp"
#include "harness/core/registry.hpp"
#include "harness/device/backend.hpp"
#include "harness/numerics/random.hpp"
#include "harness/run/plan.hpp"
#include "harness/run/provenance.hpp"
#include <filesystem>
#include <iostream>

namespace recollect {
namespace {

struct SampleFlags {
  std::string variant, shape, kind = "random", output, battery, texts, with;
  std::vector<std::string> settings, without;
  std::uint64_t seed = 1;
  int qk_heads = 0, kv_heads = 0;
  bool gradient = false, no_state = false;
  TypeFlags types;
  ConventionFlags convention;
};

/// The optional inputs that --without names.
std::vector<Tensor> tensors_left_out(const Variant &variant, const Words &names) {
  refuse_left_out(names, {&variant});
  std::vector<Tensor> all;
  for (const std::string &name : names) all.push_back(tensor_named(name));
  return all;
}

Sharing sharing_of(const SampleFlags &flags, const Shape &n, const Convention &convention) {
  Sharing sharing;
  for (int heads : {flags.qk_heads, flags.kv_heads}) refuse_shared_heads(heads, n.H);
  if (flags.qk_heads) sharing.q_heads = sharing.k_heads = flags.qk_heads;
  if (flags.kv_heads) sharing.k_heads = sharing.v_heads = flags.kv_heads;
  sharing.cu_seqlens = starts_of_texts(flags.texts, n.T);
  for (const std::string &name : flags.with.empty() ? Words{} : split(flags.with, ',')) {
    if (name != "D" && name != "z") usage_error("--with takes D and z, got '" + name + "'");
    if (convention.gate != Gate::mamba)
      usage_error("--with " + flags.with + " is for kernels of Mamba: --convention mamba or --gate mamba");
    (name == "D" ? sharing.skip : sharing.gate) = true;
  }
  const bool packed = !sharing.cu_seqlens.empty();
  if (n.B != 1 && packed) usage_error("--texts packs the texts into a batch of 1, but B is " + std::to_string(n.B));
  return sharing;
}

int write_one(const SampleFlags &flags, const Words &command_line) {
  const Variant &variant = find_variant(flags.variant);
  const Params params = variant_params(variant, assignments(flags.settings));
  const Precision precision = storage_of(flags.types.precision()); // inputs of a tf32 kernel are float32
  const Convention convention = flags.convention.get(flags.settings);
  const StatedTypes stated = flags.types.stated(convention);
  const Backend backend;
  CheckCase problem{
      variant,
      params,
      sample(variant, parse_shape(flags.shape), flags.kind, flags.seed, tensors_left_out(variant, flags.without)),
      {}};
  Sequence &s = problem.given;
  const Sharing sharing = sharing_of(flags, s.shape, convention);
  Shape of_states = s.shape;
  if (!sharing.cu_seqlens.empty()) of_states.B = int(sharing.cu_seqlens.size()) - 1;
  if (!flags.no_state) s.state = plausible_state(variant, of_states, params, flags.seed);
  if (flags.gradient)
    problem.weights = {
        Stream(flags.seed, "sample/do").normals(s.v.size()),
        Stream(flags.seed, "sample/dstate").normals(of_states.heads() * variant.state_shape(s.shape, params).size())};
  UsersCase users = users_case(problem, convention, sharing, precision, flags.seed, stated);
  write_case(flags.output, std::move(users), precision, provenance(command_line, flags.seed));
  return exit_ok;
}

/// Makes the folder. Input error if it contains other cases, because `check --battery` would count them too.
void make_folder(const std::string &folder, const std::vector<BatteryCase> &cases) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (!std::filesystem::is_directory(folder)) input_error("cannot make the folder " + folder);
  for (const auto &entry : std::filesystem::directory_iterator(folder)) {
    const bool known = std::any_of(cases.begin(), cases.end(),
                                   [&](const BatteryCase &one) { return entry.path().stem() == one.name; });
    if (!known && entry.path().extension() == ".npz")
      input_error(entry.path().string() + " does not belong to this battery; give an empty folder");
  }
}

int write_battery(const SampleFlags &flags, const Words &command_line) {
  const Variant &variant = find_variant(flags.variant);
  const Params params = variant_params(variant, assignments(flags.settings));
  const Precision precision = storage_of(flags.types.precision());
  const Convention convention = flags.convention.get(flags.settings);
  const StatedTypes stated = flags.types.stated(convention);
  const Backend backend;
  std::vector<BatteryCase> cases = battery(variant, params, precision, flags.gradient, flags.seed,
                                           std::numeric_limits<int>::max(), tensors_left_out(variant, flags.without));
  make_folder(flags.battery, cases);
  Rows table{{"case", "B,H,T,Dk,Dv", "purpose"}};
  for (BatteryCase &one : cases) {
    const Shape n = one.problem.given.shape;
    table.push_back({one.name,
                     join({std::to_string(n.B), std::to_string(n.H), std::to_string(n.T), std::to_string(n.Dk),
                           std::to_string(n.Dv)},
                          ","),
                     one.why});
    const UsersCase users =
        users_case(one.problem, convention, sharing_of(flags, n, convention), precision, flags.seed, stated);
    write_case((std::filesystem::path(flags.battery) / (one.name + ".npz")).string(), users, precision,
               provenance(command_line, flags.seed));
  }
  print_table(std::cout, table);
  return exit_ok;
}

std::string kinds_help() {
  std::string help;
  for (const SampleKind &kind : sample_kinds()) help += (help.empty() ? "" : "; ") + kind.name + ": " + kind.meaning;
  return help;
}

} // namespace

Action add_sample(CLI::App &app) {
  const auto flags = std::make_shared<SampleFlags>();
  CLI::App &c = *app.add_subcommand("sample", "write inputs for a kernel of your own");
  c.add_option("variant", flags->variant, "see `recollect list variants`")->required();
  CLI::Option *shape = c.add_option("--shape", flags->shape, "B,H,T,Dk,Dv");
  CLI::Option *kind = c.add_option("--kind", flags->kind, kinds_help())->capture_default_str();
  CLI::Option *output = c.add_option("-o,--output", flags->output, "HDF5, .npz or .safetensors");
  CLI::Option *no_state = c.add_flag("--no-state", flags->no_state, "write no initial state");
  CLI::Option *texts =
      c.add_option("--texts", flags->texts,
                   "lengths of packed texts, such as 30,0,69: B must be 1; the file then has cu_seqlens, and a state "
                   "for each text");
  CLI::Option *qk =
      c.add_option("--qk-heads", flags->qk_heads, "number of heads of q and k, each shared by several heads of v");
  CLI::Option *kv =
      c.add_option("--kv-heads", flags->kv_heads, "number of heads of k and v, each shared by several heads of q")
          ->excludes(qk);
  c.add_option("--battery", flags->battery,
               "write about 24 hard cases into this folder, one .npz per case, for `check --battery`")
      ->excludes(shape)
      ->excludes(kind)
      ->excludes(output)
      ->excludes(no_state)
      ->excludes(texts)
      ->excludes(qk)
      ->excludes(kv);
  c.add_option(
      "--with", flags->with,
      "arrays that Mamba kernels take in addition to the layer's inputs: D (skip term), z (output gate), or D,z");
  c.add_option("--without", flags->without, "optional inputs to leave out, comma-separated")->delimiter(',');
  c.add_flag("--grad", flags->gradient,
             "also write the output gradient `do` and, if there is a final state, its gradient `dstate`: inputs for "
             "`check --grad`");
  flags->types.add(c, "f64",
                   "f64, f32, f16 or bf16: numbers are rounded to this type; files hold float64 for f64, else float32");
  c.add_option("--set", flags->settings, "name=value of the variant's parameters (repeatable)")
      ->expected(1)
      ->take_all();
  c.add_option("--seed", flags->seed, "seed of every number")->capture_default_str();
  flags->convention.add(c);
  example(c, "recollect sample delta_net --shape 1,2,512,64,64 -o in.npz");
  return [flags](const Words &command_line) {
    if (!flags->battery.empty()) return write_battery(*flags, command_line);
    if (flags->shape.empty() || flags->output.empty())
      usage_error("sample needs --shape and --output, or --battery FOLDER");
    return write_one(*flags, command_line);
  };
}

} // namespace recollect
