// SPDX-License-Identifier: Apache-2.0
#include "harness/run/run.hpp"
#include "harness/call/conditioning.hpp"
#include "harness/call/divergence.hpp"
#include "harness/call/forward.hpp"
#include "harness/core/text.hpp"
#include "harness/device/backend.hpp"
#include "harness/system/memory.hpp"
#include <chrono>
#include <cmath>
#include <new>

namespace recollect {
namespace {

void execute(const Case &c, int warmup, int repetitions, Record &record) {
  record.shape = c.task->shape(c.task_params);
  if (c.variant->unsuitable) record.reason = c.variant->unsuitable(record.shape, c.variant_params);
  if (!record.reason.empty()) {
    record.status = "meaningless";
    return;
  }
  record.state_bytes = state_bytes(*c.variant, record.shape, c.variant_params, c.real);
  if (c.state_limit > 0 && record.state_bytes > c.state_limit) {
    record.status = "meaningless";
    record.reason = "even at the smallest widths the state of a head has " + number(record.state_bytes) + " bytes";
    return;
  }
  record.flops = c.variant->cost.flops.at(record.shape, c.variant_params);
  const std::string too_large = over_memory(*c.variant, record.shape, c.variant_params, c.real);
  if (!too_large.empty()) throw OverMemory(exit_input, too_large);
  Problem problem = c.task->generate(c.task_params, c.seed);
  problem.sequence.w = problem.sequence.or_neutral(Tensor::w); // w is the key, also for layers that require w
  const Run run = run_of(c.form->name, c, c.variant_params);
  const Job job = prepare(*c.variant, problem.sequence, run);
  for (int i = 0; i < warmup; ++i) job.reset(), job.launch();
  for (int i = 0; i < repetitions; ++i) {
    job.reset();
    const auto start = std::chrono::steady_clock::now();
    job.launch();
    record.seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  Output output = job.fetch();
  record.reason = settle(*c.variant, problem.sequence, run, output);
  record.score = c.task->score(c.task_params, problem, output);
  if (c.setting == Setting::trial) record.score.series.clear(); // only the headline of a trial is used
  // an approximate form also reports its difference from the definition
  if (!c.form->exact)
    record.score.metrics.emplace_back(
        "deviation",
        deviation(output, forward(*c.variant, problem.sequence, {"recurrent", Real::f64, 1, c.variant_params}))
            .outputs);
  record.status = "ok";
}

} // namespace

double state_bytes(const Variant &variant, const Shape &shape, const Params &params, Real real) {
  const size_t state = variant.state_shape(shape, params).size();
  if (state) return double(state) * bytes_of(wide_of(real));
  return double(shape.T) * (shape.Dk + shape.Dv) * bytes_of(real); // keys and values
}

const double *headline(const Case &c, const Record &record) {
  for (const auto &[name, value] : record.score.metrics)
    if (name == c.task->metrics.at(0).name) return &value;
  return nullptr;
}

Record run_case(const Case &c, int warmup, int repetitions) {
  Record record;
  record.case_index = c.index;
  record.status = "failed";
  try {
    if (c.task->meaningless) record.reason = c.task->meaningless(*c.variant, c.task_params);
    if (record.reason.empty())
      execute(c, warmup, repetitions, record);
    else
      record.status = "meaningless";
  } catch (const std::bad_alloc &) {
    throw; // not the fault of this case: the process has no memory left
  } catch (const OverMemory &refused) {
    record.status = "skipped", record.reason = refused.what();
  } catch (const std::exception &failure) {
    record.reason = failure.what();
    // Kokkos's message contains these words if an allocation on the device fails.
    if (record.reason.find("insufficient memory") == std::string::npos) return record;
    if (!device_memory_free()) throw std::bad_alloc();
    record.status = "skipped"; // the workspace of the form did not fit into the device's memory
  }
  return record;
}

} // namespace recollect
