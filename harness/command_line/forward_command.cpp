// SPDX-License-Identifier: Apache-2.0
#include "harness/call/along_ranks.hpp"
#include "harness/call/divergence.hpp"
#include "harness/call/packed.hpp"
#include "harness/check/users_case.hpp"
#include "harness/command_line/flags.hpp"
#include "harness/command_line/heartbeat.hpp"
#include "harness/command_line/subcommands.hpp"
#include "harness/core/registry.hpp"
#include "harness/device/backend.hpp"
#include "harness/numerics/inputs.hpp"
#include "harness/run/provenance.hpp"
#include "harness/system/files.hpp"
#include "harness/system/ranks.hpp"
#include <iostream>

namespace recollect {
namespace {

struct ForwardFlags {
  std::string variant, input, output;
  bool gradient = false;
  FormFlags form;
  ConventionFlags convention;
  EngineFlags engine;
  AlongFlags along;
};

/// Runs one pass over all ranks. Returns the whole output on rank 0 and nothing elsewhere. If the output diverges, no
/// other form replaces it.
Output run_along_ranks(const Variant &variant, const Sequence &whole, const Run &run, const std::string &asked) {
  const Steps own = steps_of_rank(whole.shape.T, run.chunk, ranks::rank(), ranks::size());
  const Carry carry = carry_along(variant, whole, run, asked);
  const Job job = prepare_along_ranks(variant, slice_steps(whole, own.begin, own.end), run, carry);
  job.reset();
  job.launch();
  return joined(job.fetch(), whole.shape);
}

/// Reads the input file. Inputs that only other layers take are ignored.
UsersCase read_for_forward(const ForwardFlags &flags, const Variant &variant, const Params &params,
                           LayerInputs &inputs) {
  const Convention convention = flags.convention.get(flags.form.settings);
  std::vector<std::string> known = input_names(variant, convention);
  for (Tensor tensor : all_tensors) known.push_back(name_of(tensor));
  refuse_unknown(flags.input, all_names_in_files(known, convention), "an input of a layer");
  return read_inputs(flags.input, variant, params, convention, flags.gradient, {}, &inputs);
}

void note(const std::string &text) {
  if (!text.empty()) std::cerr << "note: " << text << '\n';
}

/// Results of each text; empty on ranks other than 0.
std::vector<TextResults> results_of(const ForwardFlags &flags, const Variant &variant, const LayerInputs &inputs,
                                    const Run &run) {
  Output output;
  Sequence gradient;
  if (flags.along.asked()) {
    Sequence repeated;
    output = run_along_ranks(variant, sequence_in(inputs, 0, repeated), run, flags.along.carry);
    if (ranks::rank() != 0) return {};
    note(diverged(output, inputs.all.shape, run.real));
  } else {
    output = forward(variant, inputs, run, note);
  }
  if (flags.gradient) {
    gradient = in_file(flags.input, [&] { return gradient_by(variant, inputs, run); });
    if (flags.convention.get(flags.form.settings).log_gates()) in_logarithms(gradient, inputs.all);
  }
  return by_text(inputs, std::move(output), std::move(gradient));
}

int run_forward(const ForwardFlags &flags, const Words &command_line) {
  refuse_overlap({flags.output}, {flags.input});
  const bool along = flags.along.asked();
  if (along) ranks::join();
  if (along && ranks::rank() != 0) stop_heartbeat();
  const Variant &variant = find_variant(flags.variant);
  find_form(variant, flags.form.form); // usage error for an unknown form
  const Params params = variant_params(variant, assignments(flags.form.settings));
  { const OutputFile tried(flags.output); } // an output that cannot be written fails before the input is read
  LayerInputs inputs;
  UsersCase problem = read_for_forward(flags, variant, params, inputs);
  const Convention &convention = problem.convention;
  if (along && inputs.packed) usage_error("--ranks-along T is for one sequence, but " + flags.input + " packs texts");
  const Backend backend;
  const Run run = run_of(flags.form.form, flags.engine.get(flags.form.real(), flags.form.chunk), inputs.params);
  const std::vector<TextResults> results = results_of(flags, variant, inputs, run);
  if (along && ranks::rank() != 0) return exit_ok;
  const UsersArrays user = in_layer_order(std::move(problem.in_file), convention);
  write_users(flags.output, in_file_order(to_user(user, inputs, convention, results), convention), convention,
              flags.form.real(), provenance(command_line, 0));
  return exit_ok;
}

} // namespace

Action add_forward(CLI::App &app) {
  const auto flags = std::make_shared<ForwardFlags>();
  CLI::App &c = *app.add_subcommand("forward", "run one variant on your own tensors (HDF5, .npz, .safetensors)");
  c.add_option("variant", flags->variant, "see `recollect list variants`")->required();
  c.add_option("-i,--input", flags->input, "q, k, v and, if the layer takes them, beta, alpha, lambda, w, state")
      ->required();
  c.add_option("-o,--output", flags->output, "o and, if the layer has one, the final state")->required();
  c.add_flag("--gradient", flags->gradient,
             "compute gradients; the input also holds do and optionally dstate (of the final state). Writes dq, dk, dv "
             "and, where they exist, dbeta, dalpha, dlambda, dw, dstate. Uses the form's backward pass if it has one "
             "(`recollect list variants NAME`), else the definition in float64");
  flags->form.add(c);
  flags->convention.add(c);
  flags->engine.add(c);
  flags->along.add(c);
  add_memory_flag(c);
  example(c, "recollect forward delta_net -i in.h5 -o out.h5 --form chunked --chunk 64");
  return [flags](const Words &command_line) { return run_forward(*flags, command_line); };
}

} // namespace recollect
