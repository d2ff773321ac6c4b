// SPDX-License-Identifier: Apache-2.0
// The command `check`: compares results with the float64 definition. The results are one file of a user's kernel, those
// of a battery, or with --self those of our own forms.
#include "harness/check/plant.hpp"
#include "harness/check/self.hpp"
#include "harness/check/users_check.hpp"
#include "harness/command_line/flags.hpp"
#include "harness/command_line/plant_table.hpp"
#include "harness/command_line/print_check.hpp"
#include "harness/command_line/print_mistakes.hpp"
#include "harness/command_line/progress.hpp"
#include "harness/command_line/subcommands.hpp"
#include "harness/command_line/table.hpp"
#include "harness/core/lookup.hpp"
#include "harness/core/recent.hpp"
#include "harness/core/registry.hpp"
#include "harness/device/backend.hpp"
#include "harness/system/files.hpp"
#include "harness/system/memory.hpp"
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <set>
#include <sstream>

namespace recollect {
namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

struct CheckFlags {
  std::string variant, input, candidate, battery, json, junit, record, plant;
  std::vector<std::string> settings, maths{"exact"};
  int chunk = 64;
  bool self = false, quick = false, gradient = false, list_mistakes = false;
  TypeFlags types;
  ConventionFlags convention;
  CLI::Option *dtype_given = nullptr;
};

std::string quoted(const std::string &word) {
  const bool plain =
      word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%") ==
      std::string::npos;
  if (plain && !word.empty()) return word;
  std::string text = "'";
  for (char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

/// The command line that repeats the check of one file.
std::string command_for(const CheckFlags &f, const std::string &input, const std::string &candidate) {
  std::string command = "recollect check " + f.variant + " --input " + quoted(input) + " --candidate " +
                        quoted(candidate) + " --dtype " + f.types.dtype;
  if (!f.types.of.empty()) command += " --dtype-of " + quoted(f.types.of);
  if (f.gradient) command += " --grad";
  if (f.chunk != CheckFlags().chunk) command += " --chunk " + std::to_string(f.chunk);
  command += f.convention.text();
  for (const std::string &setting : f.settings) command += " --set " + quoted(setting);
  return command;
}

/// The judgement of one candidate file, with its reference.
struct Done {
  std::shared_ptr<const UsersReference> reference;
  Checked checked;
  std::string seed, command;
  CheckReport report(Precision precision) const {
    return {reference->problem().variant.name,
            reference->inputs().all.shape,
            reference->results(),
            checked,
            precision,
            seed,
            command,
            reference->inputs().packed ? reference->inputs().texts : std::vector<Text>{},
            typed_inputs(reference->problem(), precision)};
  }
};

/// The reference for the inputs of a file. It is cached, because `recollect serve` checks several candidates and types
/// against the same inputs.
std::shared_ptr<const UsersReference> reference_of(CheckFlags flags, const std::string &input, UsersCase problem,
                                                   LayerInputs inputs) {
  static Recent<std::shared_ptr<const UsersReference>> references(64 << 20); // bytes of inputs
  flags.types.dtype.clear(); // the definition is float64 whatever the type
  return *references.get(command_for(flags, "", "") + read_regular_file(input), [&] {
    return std::make_shared<const UsersReference>(std::move(problem), std::move(inputs), flags.chunk);
  });
}

Done check_files(const CheckFlags &flags, const Variant &variant, const Params &params, const std::string &input,
                 const std::string &candidate) {
  const Convention convention = flags.convention.get(flags.settings);
  LayerInputs inputs;
  UsersCase problem =
      read_case(input, variant, params, convention, flags.gradient, flags.types.stated(convention), &inputs);
  const Candidate given = read_candidate(candidate, problem, inputs);
  Done done;
  done.reference = in_file(input, [&] { return reference_of(flags, input, std::move(problem), std::move(inputs)); });
  done.checked = done.reference->check(given, flags.types.precision());
  for (const auto &[name, value] : read_meta(input))
    if (name == "seed") done.seed = value;
  done.command = command_for(flags, input, candidate);
  return done;
}

int check_one(const CheckFlags &flags) {
  refuse_overlap({flags.json, flags.junit}, {flags.input, flags.candidate});
  const Variant &variant = find_variant(flags.variant);
  const Params params = variant_params(variant, assignments(flags.settings));
  const Precision precision = flags.types.precision();
  const Backend backend;
  const Done done = check_files(flags, variant, params, flags.input, flags.candidate);
  print_checked(std::cout, done.report(precision));
  if (!flags.json.empty()) write_file(flags.json, checked_json(done.report(precision)).dump(2) + "\n");
  if (!flags.junit.empty()) {
    JUnit suite("recollect check", "kernels");
    add_case(suite, flags.variant, 0, done.checked, done.command);
    write_file(flags.junit, suite.text());
  }
  return done.checked.right() ? exit_ok : exit_failed;
}

std::set<std::string> cases_in(const std::string &folder) {
  if (!fs::is_directory(folder)) input_error(folder + " is not a folder");
  std::set<std::string> names;
  for (const auto &entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".npz") names.insert(entry.path().filename().string());
  return names;
}

std::vector<std::string> only_in(const std::set<std::string> &some, const std::set<std::string> &others) {
  std::vector<std::string> names;
  std::set_difference(some.begin(), some.end(), others.begin(), others.end(), std::back_inserter(names));
  return names;
}

/// Verdicts of many cases.
struct Tally {
  int passed = 0, failed = 0, undecided = 0;
  void add(Judgement judgement) {
    (judgement == Judgement::right ? passed : judgement == Judgement::wrong ? failed : undecided) += 1;
  }
  std::string text() const {
    std::string all = std::to_string(passed) + " passed, " + std::to_string(failed) + " failed";
    return undecided ? all + ", " + std::to_string(undecided) + " could not be decided" : all;
  }
};

int check_battery(const CheckFlags &flags) {
  refuse_overlap({flags.json, flags.junit}, {flags.battery, flags.candidate});
  const Variant &variant = find_variant(flags.variant);
  const Params params = variant_params(variant, assignments(flags.settings));
  const Precision precision = flags.types.precision();
  const std::set<std::string> given = cases_in(flags.battery), computed = cases_in(flags.candidate);
  if (given.empty()) input_error(flags.battery + " holds no .npz file; `recollect sample --battery` writes them");
  const std::vector<std::string> missing = only_in(given, computed), extra = only_in(computed, given);
  const Backend backend;
  JUnit suite("recollect check", variant.name);
  json cases = json::array();
  Tally tally;
  for (const std::string &file : given) {
    const std::string name = fs::path(file).stem().string(), input = (fs::path(flags.battery) / file).string(),
                      candidate = (fs::path(flags.candidate) / file).string();
    if (!computed.count(file)) {
      tally.failed += 1;
      suite.failed(name, 0, "missing", flags.candidate + " has no " + file);
      continue;
    }
    const Done done = check_files(flags, variant, params, input, candidate);
    tally.add(done.checked.judgement);
    add_case(suite, name, 0, done.checked, done.command);
    json one{{"case", name}};
    one.update(checked_json(done.report(precision)));
    cases.push_back(one);
    std::cout << folded(name + ": " + alarmed(verdict_of(done.checked.judgement)) + ", " + ratios_of(done.checked))
              << '\n';
    if (!done.checked.right()) std::cout << folded("  " + in_short(done.checked)) << "\n  " << done.command << '\n';
    std::cout.flush();
  }
  for (const std::string &file : extra) {
    tally.failed += 1;
    suite.failed(fs::path(file).stem().string(), 0, "not of the battery", flags.battery + " has no " + file);
  }
  if (!missing.empty()) std::cout << folded("missing in " + flags.candidate + ": " + join(missing, ", ")) << '\n';
  if (!extra.empty()) std::cout << folded("not in " + flags.battery + ": " + join(extra, ", ")) << '\n';
  if (!flags.json.empty()) {
    const json all{{"variant", variant.name},
                   {"dtype", flags.types.dtype},
                   {"passed", tally.passed},
                   {"failed", tally.failed},
                   {"undecided", tally.undecided},
                   {"missing", missing},
                   {"extra", extra},
                   {"cases", cases}};
    write_file(flags.json, all.dump(2) + "\n");
  }
  if (!flags.junit.empty()) write_file(flags.junit, suite.text());
  std::cout << tally.text() << '\n';
  return tally.passed && !tally.failed && !tally.undecided ? exit_ok : exit_failed;
}

/// One line of CSV per judged part (--record), from which the limits are calibrated.
std::string record_lines(const SelfCase &one) {
  const Limits limits = limits_of(precision_of(one.real, one.math));
  std::string lines;
  for (const Judged &part : one.checked.parts) {
    const size_t heads = size_t(one.shape.B) * size_t(one.shape.H), rows = part.ratios.size() / heads;
    lines += join({one.layer, one.form, name_of(one.real), name_of(one.math), one.name, part.name, number(part.row),
                   number(part.head), number(limits.row), number(limits.head_of(rows)), verdict_of(part.judgement)},
                  ",") +
             "\n";
  }
  return lines;
}

Real real_of_self(const std::string &name) {
  if (const Real *real = real_named(name)) return *real;
  usage_error("--self stores arrays in f32, f64, f16 or bf16, got --dtype " + name +
              (name == "tf32" ? ": --math tf32 rounds products of float32 arrays" : ""));
}

int check_self(const CheckFlags &flags) {
  const auto variants = select_variants({flags.variant.empty() ? "all" : flags.variant});
  SelfOptions options;
  options.quick = flags.quick;
  if (flags.dtype_given->count()) options.reals = {real_of_self(flags.types.dtype)};
  options.maths.clear();
  for (const std::string &math : flags.maths) {
    EngineFlags one;
    one.math = math;
    options.maths.push_back(one.get_math());
    if (options.reals.size() == 1) refuse_math(options.reals[0], one.get_math());
  }
  const Backend backend;
  JUnit suite("recollect check --self", "forms");
  std::string record = "layer,form,type,math,case,part,row,head,row_limit,head_limit,verdict\n";
  Tally tally;
  Progress progress(variants.size());
  for (const Variant *variant : variants) {
    progress.next(variant->name);
    const std::string command =
        "recollect check --self " + variant->name + (flags.dtype_given->count() ? " --dtype " + flags.types.dtype : "");
    check_forms(*variant, options, [&](const SelfCase &one) {
      progress.next(one.title(), 0);
      if (!one.skipped.empty()) return suite.skipped(one.title(), one.skipped);
      tally.add(one.checked.judgement);
      add_case(suite, one.title(), one.seconds, one.checked, command);
      record += record_lines(one);
      if (one.checked.right()) return;
      progress.done();
      std::cout << folded(one.title() + ": " + ratios_of(one.checked) + "; " + in_short(one.checked)) << std::endl;
    });
  }
  progress.done();
  if (!flags.record.empty()) write_file(flags.record, record);
  if (!flags.junit.empty()) write_file(flags.junit, suite.text());
  std::cout << tally.text() << '\n';
  return tally.passed && !tally.failed ? exit_ok : exit_failed;
}

/// Lists all mistakes, one per line. With a name, describes this mistake.
int list_mistakes(const std::string &name) {
  if (name.empty())
    print_mistakes(std::cout);
  else if (const ConventionMistake *mistake = lookup::named(convention_mistakes(), name))
    describe(std::cout, *mistake);
  else
    describe(std::cout, find_mistake(name));
  return exit_ok;
}

int plant(const CheckFlags &flags) {
  PlantOptions options;
  options.layers = select_variants(flags.variant.empty() ? planted_layers() : Words{flags.variant});
  for (Precision precision : all_precisions)
    if (precision != Precision::f64) options.precisions.push_back(precision);
  const Backend backend;
  std::ostringstream csv;
  const bool as_stated = plant_table(options, csv, std::cout);
  write_file(flags.plant, csv.str());
  return as_stated ? exit_ok : exit_failed;
}

} // namespace

Action add_check(CLI::App &app) {
  const auto flags = std::make_shared<CheckFlags>();
  CLI::App &c = *app.add_subcommand("check", "compare a kernel's outputs and gradients with the float64 reference");
  c.add_option("variant", flags->variant, "see `recollect list variants`");
  CLI::Option *input = c.add_option("-i,--input", flags->input, "the kernel's inputs: HDF5, .npz or .safetensors");
  c.add_option("-c,--candidate", flags->candidate,
               "the kernel's results (any of o, state and gradients): a file in HDF5, .npz, .safetensors or .npy; with "
               "--battery a folder of .npz");
  CLI::Option *battery =
      c.add_option("--battery", flags->battery,
                   "the folder that `sample --battery` wrote; the folder of --candidate has files of the same names")
          ->excludes(input);
  c.add_flag(
      "--grad", flags->gradient,
      "check gradients too: the input must hold the output gradient `do` and may hold dstate, the gradient of the "
      "final state; the candidate may hold dq, dk, dv, the gradients of the gates and of w, and dstate, the gradient "
      "of the initial state");
  flags->dtype_given = flags->types.add(c, "f32",
                                        "the kernel's type: f64, f32, tf32, f16 or bf16; with --self the storage type, "
                                        "by default f32 and f64");
  c.add_option("--set", flags->settings, "name=value of the variant's parameters (repeatable)")
      ->expected(1)
      ->take_all();
  c.add_option("--chunk", flags->chunk,
               "the kernel's chunk length, at most T: the number of steps from one rounding of the state to the next")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  flags->convention.add(c);
  CLI::Option *self = c.add_flag("--self", flags->self,
                                 "check every form of every layer (or of the layer named) on the layer's battery, with "
                                 "gradients")
                          ->excludes(input)
                          ->excludes(battery);
  c.add_flag("--quick", flags->quick, "with --self: a few cases per layer")->needs(self);
  c.add_option(
       "--math", flags->maths,
       "with --self: precision to which float32 products round their operands: exact, tf32 or bf16 (repeatable)")
      ->check(CLI::IsMember({"exact", "tf32", "bf16"}))
      ->expected(1)
      ->take_all()
      ->needs(self);
  c.add_option("--record", flags->record, "with --self: write every judged number as CSV")->needs(self);
  c.add_flag(
       "--list-mistakes", flags->list_mistakes,
       "list the mistakes that a diagnosis can name; with the name of a mistake in place of the variant, describe it")
      ->excludes(input)
      ->excludes(battery)
      ->excludes(self);
  c.add_option(
       "--plant", flags->plant,
       "make every known mistake on purpose in eleven layers (or in the layer named), and write to this CSV file "
       "how often `check` and the criteria of other projects reject it")
      ->excludes(input)
      ->excludes(battery)
      ->excludes(self);
  c.add_option("--json", flags->json, "write the finding as JSON");
  c.add_option("--junit", flags->junit, "write the finding as JUnit XML");
  example(c, "recollect check delta_net -i in.npz -c out.npz --dtype bf16");
  return [flags](const Words &) {
    keep_freed_memory(); // the noise of a long text takes thousands of passes, which reuse this memory
    if (flags->self) return check_self(*flags);
    if (flags->list_mistakes) return list_mistakes(flags->variant);
    if (!flags->plant.empty()) return plant(*flags);
    if (flags->variant.empty() || flags->candidate.empty() || (flags->input.empty() && flags->battery.empty()))
      usage_error("check needs a variant, --candidate and --input or --battery; or --self");
    return flags->battery.empty() ? check_one(*flags) : check_battery(*flags);
  };
}

} // namespace recollect
