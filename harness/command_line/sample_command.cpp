// SPDX-License-Identifier: Apache-2.0
// sample: inputs for a kernel of the user's, one file of one kind or a folder of the battery.
#include "harness/check/battery.hpp"
#include "harness/check/case_files.hpp"
#include "harness/check/samples.hpp"
#include "harness/command_line/flags.hpp"
#include "harness/command_line/progress.hpp"
#include "harness/command_line/subcommands.hpp"
#include "harness/command_line/table.hpp"
#include "harness/core/registry.hpp"
#include "harness/device/backend.hpp"
#include "harness/numerics/random.hpp"
#include "harness/pipeline/bench.hpp"
#include "harness/pipeline/provenance.hpp"
#include <filesystem>
#include <iostream>

namespace recollect {
namespace {

struct SampleFlags {
  std::string variant, shape, kind = "random", dtype = "f64", output, battery;
  std::vector<std::string> settings;
  std::uint64_t seed = 1;
  bool gradient = false, no_state = false;
  ConventionFlags convention;
};

Precision precision_of_files(const std::string &name) {
  const Precision precision = parse_precision(name);
  return storage_of(precision); // inputs of a tf32 kernel are float32
}

int write_one(const SampleFlags &flags, const Words &command_line) {
  const Variant &variant = find_variant(flags.variant);
  const Params params = variant_params(variant, assignments(flags.settings));
  const Precision precision = precision_of_files(flags.dtype);
  const Backend backend;
  CheckCase problem{variant, params, sample(variant, parse_shape(flags.shape), flags.kind, flags.seed), {}};
  Sequence &s = problem.given;
  if (!flags.no_state) s.state = plausible_state(variant, s.shape, params, flags.seed);
  if (flags.gradient)
    problem.weights = {
        Stream(flags.seed, "sample/do").normals(s.v.size()),
        Stream(flags.seed, "sample/dstate").normals(s.shape.heads() * variant.state_shape(s.shape, params).size())};
  round_case(problem, precision, flags.convention.get());
  write_case(flags.output, problem, flags.convention.get(), precision, provenance(command_line, flags.seed));
  return exit_ok;
}

/// Refuses a folder that holds other cases: they would count as the battery's.
void make_folder(const std::string &folder, const std::vector<BatteryCase> &cases) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (!std::filesystem::is_directory(folder)) input_error("cannot make the folder " + folder);
  for (const auto &entry : std::filesystem::directory_iterator(folder)) {
    const bool known = std::any_of(cases.begin(), cases.end(),
                                   [&](const BatteryCase &one) { return entry.path().stem() == one.name; });
    if (!known && entry.path().extension() == ".npz")
      input_error(entry.path().string() + " is not of this battery; give an empty folder");
  }
}

int write_battery(const SampleFlags &flags, const Words &command_line) {
  const Variant &variant = find_variant(flags.variant);
  const Params params = variant_params(variant, assignments(flags.settings));
  const Precision precision = precision_of_files(flags.dtype);
  const Backend backend;
  std::vector<BatteryCase> cases = battery(variant, params, precision, flags.gradient, flags.seed);
  make_folder(flags.battery, cases);
  Rows table{{"case", "B,H,T,Dk,Dv", "what it is there for"}};
  for (BatteryCase &one : cases) {
    const Shape n = one.problem.given.shape;
    table.push_back({one.name,
                     join({std::to_string(n.B), std::to_string(n.H), std::to_string(n.T), std::to_string(n.Dk),
                           std::to_string(n.Dv)},
                          ","),
                     one.why});
    if (flags.convention.log_gates) round_case(one.problem, precision, flags.convention.get());
    write_case((std::filesystem::path(flags.battery) / (one.name + ".npz")).string(), one.problem,
               flags.convention.get(), precision, provenance(command_line, flags.seed));
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
  CLI::Option *no_state = c.add_flag("--no-state", flags->no_state, "no initial state, where the layer has one");
  c.add_option("--battery", flags->battery,
               "write about 24 cases that kernels trip over into this folder, a .npz each, for `check --battery`")
      ->excludes(shape)
      ->excludes(kind)
      ->excludes(output)
      ->excludes(no_state);
  c.add_flag("--grad", flags->gradient, "do and, where there is a final state, dstate as well, for `check --grad`");
  c.add_option("--dtype", flags->dtype,
               "f64, f32, f16 or bf16: every number is one of this type's; files hold float64 for f64, else float32")
      ->capture_default_str();
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
