// SPDX-License-Identifier: Apache-2.0
// sample and check: inputs for a kernel of the user's, and what it made of them.
#include "harness/command_line/flags.hpp"
#include "harness/command_line/junit.hpp"
#include "harness/command_line/progress.hpp"
#include "harness/command_line/subcommands.hpp"
#include "harness/command_line/table.hpp"
#include "harness/core/files.hpp"
#include "harness/core/registry.hpp"
#include "harness/device/backend.hpp"
#include "harness/numerics/random.hpp"
#include "harness/pipeline/bench.hpp"
#include "harness/check/check_gradient.hpp"
#include "harness/pipeline/equivalence.hpp"
#include "harness/pipeline/provenance.hpp"
#include "harness/check/samples.hpp"
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace recollect {
namespace {

using json = nlohmann::ordered_json;

struct SampleFlags {
  std::string variant, shape, kind = "random", dtype = "f64", output;
  std::uint64_t seed = 1;
  bool gradient = false;
  ConventionFlags convention;
};

int write_sample(const SampleFlags &flags, const Words &command_line) {
  const Variant &variant = find_variant(flags.variant);
  const Sequence s = sample(variant, parse_shape(flags.shape), flags.kind, flags.seed);
  const StateShape state = variant.state_shape(s.shape, variant_params(variant));
  Output weights;
  if (flags.gradient) {
    weights.o = Stream(flags.seed, "sample/do").normals(s.v.size());
    weights.state = Stream(flags.seed, "sample/dstate").normals(s.shape.heads() * state.size());
  }
  const Backend backend;
  write_sequence(flags.output, s, flags.convention.get(), flags.dtype == "f32" ? Real::f32 : Real::f64, state,
                 provenance(command_line, flags.seed), weights);
  return exit_ok;
}

struct CheckFlags {
  std::string variant, input, candidate, dtype = "f32", json, junit;
  std::vector<std::string> settings;
  int chunk = 64;
  bool self = false, gradient = false;
  ConventionFlags convention;
};

struct Found {
  Checked outputs;
  CheckedGradient gradient; // without --grad: of nothing
  bool right() const { return outputs.right() && gradient.right(); }
  /// What is known to be wrong, "" if nothing is.
  std::string diagnosis() const {
    std::vector<std::string> all;
    if (!outputs.diagnosis.empty()) all.push_back(outputs.diagnosis);
    for (const CheckedGradient::Part &part : gradient.parts)
      if (!part.diagnosis.empty()) all.push_back(part.name + ": " + part.diagnosis);
    return join(all, "; ");
  }
};

json errors_json(const Errors &e) {
  return {{"worst", std::isfinite(e.worst) ? json(e.worst) : json("inf")},
          {"rms", std::isfinite(e.rms) ? json(e.rms) : json("inf")},
          {"first_bad", e.first_bad.empty() ? json(nullptr) : json(e.first_bad)}};
}

json gradient_json(const CheckedGradient &gradient) {
  json all = json::object();
  for (const CheckedGradient::Part &part : gradient.parts) {
    json one = errors_json(part.errors);
    one["bound"] = part.bound, one["condition"] = part.condition, one["diagnosis"] = part.diagnosis;
    all[part.name] = one;
  }
  return all;
}

json checked_json(const CheckFlags &flags, const Found &found, const std::string &command) {
  const Checked &c = found.outputs;
  json curve = json::array();
  for (const auto &[first, last, worst] : c.by_step)
    curve.push_back({{"from", first}, {"to", last}, {"worst", std::isfinite(worst) ? json(worst) : json("inf")}});
  json all{{"variant", flags.variant}, {"dtype", flags.dtype},     {"right", found.right()},
           {"bound", c.bound},         {"condition", c.condition}, {"outputs", errors_json(c.outputs)},
           {"by_step", curve},         {"diagnosis", c.diagnosis}, {"command", command}};
  if (c.has_state) all["state"] = errors_json(c.state);
  if (flags.gradient) all["gradient"] = gradient_json(found.gradient);
  return all;
}

std::string place(const std::vector<long> &index) {
  std::vector<std::string> parts;
  for (long i : index) parts.push_back(std::to_string(i));
  return "[" + join(parts, ",") + "]";
}

void print_errors(const std::string &what, const Errors &e, double bound) {
  std::ostringstream line;
  line << what << ": worst " << e.worst << ", RMS " << e.rms << ", allowed " << bound;
  if (!e.first_bad.empty()) line << "; first wrong at " << place(e.first_bad);
  std::cout << folded(line.str()) << '\n';
}

std::string one_line_command(const CheckFlags &f) {
  std::string command =
      "recollect check " + f.variant + " --input " + f.input + " --candidate " + f.candidate + " --dtype " + f.dtype;
  if (f.gradient) command += " --grad";
  if (f.convention.layout != "bhtd") command += " --layout " + f.convention.layout;
  if (f.convention.log_gates) command += " --log-gates";
  for (const std::string &setting : f.settings) command += " --set " + setting;
  return command;
}

int check_candidate(const CheckFlags &flags) {
  refuse_overlap({flags.json, flags.junit}, {flags.input, flags.candidate});
  const Variant &variant = find_variant(flags.variant);
  const Params params = variant_params(variant, assignments(flags.settings));
  const Precision precision = parse_precision(flags.dtype);
  const Sequence s = read_sequence(flags.input, variant.inputs, flags.convention.get());
  in_file(flags.input, [&] { check_inputs(variant, s, params); });
  const Convention convention = flags.convention.get();
  const StateShape state = variant.state_shape(s.shape, params);
  const Output candidate = read_output(flags.candidate, s.shape, state, convention);
  Output weights;
  Sequence derivatives;
  if (flags.gradient) {
    weights = read_output(flags.input, s.shape, state, convention, "d");
    derivatives = read_gradient(flags.candidate, s, state, convention);
  }
  const Backend backend;
  Found found{check(variant, s, params, candidate, precision, flags.chunk), {}};
  if (flags.gradient)
    found.gradient = in_file(flags.input, [&] {
      return check_gradient(variant, s, params, {weights.o, weights.state}, derivatives, precision, flags.chunk,
                            convention.log_gates);
    });
  const Checked &c = found.outputs;
  const std::string command = one_line_command(flags), diagnosis = found.diagnosis();
  std::cout << flags.variant << alarmed(found.right() ? ": right" : ": WRONG") << '\n';
  print_errors("o, [b,h,t,channel]", c.outputs, c.bound);
  if (c.has_state) print_errors("state, [b,h,row,column]", c.state, c.bound);
  for (const auto &[first, last, worst] : c.by_step)
    std::cout << "  steps " << first << " to " << last - 1 << ": worst " << worst << '\n';
  for (const CheckedGradient::Part &part : found.gradient.parts)
    print_errors(part.name + (part.name == "dstate" ? ", [b,h,row,column]" : ", [b,h,t,channel]"), part.errors,
                 part.bound);
  if (!diagnosis.empty()) std::cout << folded("diagnosis: " + diagnosis) << '\n';
  if (!found.right() && diagnosis.empty()) std::cout << "diagnosis: none of the known mistakes gives these numbers\n";
  std::cout << command << '\n'; // in one line, however long: it is there to be copied
  if (!flags.json.empty()) write_file(flags.json, checked_json(flags, found, command).dump(2) + "\n");
  if (!flags.junit.empty()) {
    JUnit suite("recollect check", "kernels");
    if (found.right())
      suite.passed(flags.variant, 0);
    else
      suite.failed(flags.variant, 0, diagnosis.empty() ? "differs from its definition" : diagnosis, command);
    write_file(flags.junit, suite.text());
  }
  return found.right() ? exit_ok : exit_failed;
}

/// Every form of every layer against its definition, over the kinds of sample.
int check_self(const CheckFlags &flags) {
  const Backend backend;
  JUnit suite("recollect check --self", "forms");
  int passed = 0, failed = 0;
  const auto variants = select_variants({flags.variant.empty() ? "all" : flags.variant});
  Progress progress(variants.size());
  for (const Variant *v : variants) {
    progress.next(v->name);
    const Params params = variant_params(*v);
    for (const std::string &kind : sample_kinds())
      for (const Shape &shape : {Shape{1, 2, 24, 10, 6}, Shape{2, 2, 80, 8, 8}}) {
        const Sequence s = sample(*v, shape, kind, 1);
        if (v->unsuitable && !v->unsuitable(s.shape, params).empty()) continue;
        const Definition truth = definition(*v, s, params);
        for (const Form &form : v->forms) {
          if (form.name == "recurrent" || !form.exact) continue;
          for (Real real : {Real::f32, Real::f64}) {
            const std::string name = v->name + "/" + form.name + "/" + kind + "/T:" + std::to_string(s.shape.T) +
                                     "/Dk:" + std::to_string(s.shape.Dk) + "/" + name_of(real);
            if ((!form.stable || !v->traits.stable) && kind != "random" && kind != "ragged") {
              suite.skipped(name, "declared unstable on ill-conditioned inputs");
              continue;
            }
            const Equivalence e = equivalence(*v, s, {form.name, real, 16, params}, truth);
            (e.holds() ? passed : failed) += 1;
            if (e.holds()) {
              suite.passed(name, 0);
              continue;
            }
            const std::string said =
                "deviates by " + number(e.deviation) + " from its definition, rounding allows " + number(e.bound);
            progress.done();
            std::cout << folded(name + ": " + said) << '\n';
            suite.failed(name, 0, said, "recollect check --self " + v->name);
          }
        }
      }
  }
  progress.done();
  if (!flags.junit.empty()) write_file(flags.junit, suite.text());
  std::cout << passed << " passed, " << failed << " failed\n";
  return passed && !failed ? exit_ok : exit_failed;
}

} // namespace

Action add_sample(CLI::App &app) {
  const auto flags = std::make_shared<SampleFlags>();
  CLI::App &c = *app.add_subcommand("sample", "write inputs for a kernel of your own");
  c.add_option("variant", flags->variant, "see `recollect list variants`")->required();
  c.add_option("--shape", flags->shape, "B,H,T,Dk,Dv")->required();
  c.add_flag("--grad", flags->gradient, "do and, where there is a final state, dstate as well, for `check --grad`");
  c.add_option("--kind", flags->kind, join(sample_kinds(), ", "))->capture_default_str();
  c.add_option("--dtype", flags->dtype, "f32 or f64")->check(CLI::IsMember({"f32", "f64"}))->capture_default_str();
  c.add_option("--seed", flags->seed, "seed of every number")->capture_default_str();
  c.add_option("-o,--output", flags->output, "HDF5, or .npz")->required();
  flags->convention.add(c);
  example(c, "recollect sample delta_net --shape 1,2,512,64,64 -o in.npz");
  return [flags](const Words &command_line) { return write_sample(*flags, command_line); };
}

Action add_check(CLI::App &app) {
  const auto flags = std::make_shared<CheckFlags>();
  CLI::App &c = *app.add_subcommand("check", "is a kernel right? its outputs against the float64 definition");
  c.add_option("variant", flags->variant, "see `recollect list variants`");
  c.add_option("-i,--input", flags->input, "what the kernel was given: HDF5 or .npz");
  c.add_option("-c,--candidate", flags->candidate,
               "what it computed: o and, where it has one, state; HDF5, .npz or .npy");
  c.add_flag("--grad", flags->gradient,
             "its gradients too: the input also holds do and, where wanted, dstate (of the final state), the candidate "
             "dq, dk, dv, those of the gates and of w that the input gives, and, where it has one, dstate");
  c.add_option("--dtype", flags->dtype, "what it computed in: f32, tf32, f16 or bf16")->capture_default_str();
  c.add_option("--set", flags->settings, "name=value of the variant's parameters (repeatable)")
      ->expected(1)
      ->take_all();
  c.add_option("--chunk", flags->chunk, "chunk length that it used")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  flags->convention.add(c);
  c.add_flag("--self", flags->self, "check every form of every layer (or of the one named) against its definition");
  c.add_option("--json", flags->json, "write the finding as JSON");
  c.add_option("--junit", flags->junit, "write the finding as JUnit XML");
  example(c, "recollect check delta_net -i in.npz -c out.npz --dtype bf16");
  return [flags](const Words &) {
    if (flags->self) return check_self(*flags);
    if (flags->variant.empty() || flags->input.empty() || flags->candidate.empty())
      usage_error("check needs a variant, --input and --candidate, or --self");
    return check_candidate(*flags);
  };
}

} // namespace recollect
