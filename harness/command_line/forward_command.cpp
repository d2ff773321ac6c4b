// SPDX-License-Identifier: Apache-2.0
#include "harness/command_line/flags.hpp"
#include "harness/command_line/subcommands.hpp"
#include "harness/core/files.hpp"
#include "harness/core/ranks.hpp"
#include "harness/core/registry.hpp"
#include "harness/device/backend.hpp"
#include "harness/numerics/inputs.hpp"
#include "harness/pipeline/along_ranks.hpp"
#include "harness/pipeline/backward.hpp"
#include "harness/pipeline/divergence.hpp"
#include "harness/pipeline/provenance.hpp"
#include "harness/pipeline/tensors.hpp"
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

/// Of <do, o> + <dstate, final state>, as the input file has do and dstate.
Sequence read_and_differentiate(const ForwardFlags &flags, const Variant &variant, const Sequence &sequence,
                                const Run &run) {
  const Convention convention = flags.convention.get();
  const Output weights =
      read_output(flags.input, sequence.shape, variant.state_shape(sequence.shape, run.params), convention, "d");
  Sequence found = in_file(flags.input, [&] {
    return gradient_by(variant, sequence, run, {weights.o, weights.state});
  });
  if (convention.log_gates) in_logarithms(found, sequence);
  return found;
}

/// On rank 0 the whole of it; a pass that leaves its type's range has no other form to fall back to.
Output run_along_ranks(const Variant &variant, const Sequence &whole, const Run &run, const std::string &asked) {
  const Steps own = steps_of_rank(whole.shape.T, run.chunk, ranks::rank(), ranks::size());
  const Carry carry = carry_along(variant, whole, run, asked);
  const Job job = prepare_along_ranks(variant, slice_steps(whole, own.begin, own.end), run, carry);
  job.reset();
  job.launch();
  return joined(job.fetch(), whole.shape);
}

int run_forward(const ForwardFlags &flags, const Words &command_line) {
  refuse_overlap({flags.output}, {flags.input});
  const bool along = flags.along.asked();
  if (along) ranks::join();
  const Variant &variant = find_variant(flags.variant);
  find_form(variant, flags.form.form); // or a usage error
  const Params params = variant_params(variant, assignments(flags.form.settings));
  { const OutputFile tried(flags.output); } // refused, if it is to be, before anything is read
  const Sequence sequence = read_sequence(flags.input, variant.inputs, flags.convention.get());
  in_file(flags.input, [&] { check_inputs(variant, sequence, params); });
  const Backend backend;
  Run run{flags.form.form, flags.form.real(), flags.form.chunk, params};
  run.schedule = flags.engine.get_schedule(), run.math = flags.engine.get_math();
  Output output = along ? run_along_ranks(variant, sequence, run, flags.along.carry) : forward(variant, sequence, run);
  if (along && ranks::rank() != 0) return exit_ok;
  const std::string note = along ? diverged(output, sequence.shape, run.real) : settle(variant, sequence, run, output);
  if (!note.empty()) std::cerr << "note: " << note << '\n';
  const Sequence derivatives = flags.gradient ? read_and_differentiate(flags, variant, sequence, run) : Sequence{};
  write_output(flags.output, sequence, output, derivatives, flags.convention.get(), flags.form.real(),
               provenance(command_line, 0));
  return exit_ok;
}

} // namespace

Action add_forward(CLI::App &app) {
  const auto flags = std::make_shared<ForwardFlags>();
  CLI::App &c = *app.add_subcommand("forward", "run one variant on your own tensors (HDF5, .npz, .safetensors)");
  c.add_option("variant", flags->variant, "see `recollect list variants`")->required();
  c.add_option("-i,--input", flags->input, "q, k, v and where needed beta, alpha, lambda, w, state")->required();
  c.add_option("-o,--output", flags->output, "o and, where one exists, state")->required();
  c.add_flag(
      "--gradient", flags->gradient,
      "the input also holds do and, where wanted, dstate (of the final state): "
      "writes dq, dk, dv and what there is of dbeta, dalpha, dlambda, dw, dstate, by the form's backward pass where "
      "it has one (`recollect list variants NAME`), by the definition in float64 elsewhere");
  flags->form.add(c);
  flags->convention.add(c);
  flags->engine.add(c);
  flags->along.add(c);
  add_memory_flag(c);
  example(c, "recollect forward delta_net -i in.h5 -o out.h5 --form chunked --chunk 64");
  return [flags](const Words &command_line) { return run_forward(*flags, command_line); };
}

} // namespace recollect
