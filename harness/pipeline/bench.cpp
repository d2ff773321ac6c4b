// SPDX-License-Identifier: Apache-2.0
#include "harness/pipeline/bench.hpp"
#include "harness/check/check.hpp"
#include "harness/core/cost.hpp"
#include "harness/core/error.hpp"
#include "harness/core/memory.hpp"
#include "harness/core/ranks.hpp"
#include "harness/core/sweep.hpp"
#include "harness/core/text.hpp"
#include "harness/device/backend.hpp"
#include "harness/numerics/inputs.hpp"
#include "harness/numerics/random.hpp"
#include "harness/numerics/statistics.hpp"
#include "harness/pipeline/along_ranks.hpp"
#include "harness/pipeline/backward.hpp"
#include "harness/pipeline/equivalence.hpp"
#include "harness/pipeline/plan.hpp"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <new>

namespace recollect {
namespace {

constexpr const char *dimensions[] = {"B", "H", "T", "Dk", "Dv"};
int &dimension(Shape &s, size_t i) {
  int *const members[] = {&s.B, &s.H, &s.T, &s.Dk, &s.Dv};
  return *members[i];
}

int parse_size(const std::string &text, const std::string &what) {
  const double value = parse_number(text, what);
  if (!(value >= 1 && value <= 1 << 30) || value != std::floor(value))
    usage_error(what + " needs whole numbers from 1 to 2^30, got '" + text + "'");
  return int(value);
}

Run run_of(const BenchCase &c) {
  Run run{c.form->name, c.real, c.chunk, c.params};
  run.schedule = c.schedule, run.math = c.math;
  return run;
}

/// How much coarser than float32's the arithmetic rounds: 11 or 8 bits in place of 24.
double coarseness(Math math) { return math == Math::tf32 ? 1 << 13 : math == Math::bf16 ? 1 << 16 : 1; }

/// A pass that ranks share takes what the slowest of them takes, from when all are ready.
struct Timed {
  std::function<void()> reset, launch;
  bool shared = false;
  double seconds() const {
    reset();
    flush_caches();
    if (shared) ranks::largest(0);
    const auto start = std::chrono::steady_clock::now();
    launch();
    const double own = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return shared ? ranks::largest(own) : own;
  }
};

Job forward_job(const BenchCase &c, const Sequence &sequence) {
  if (c.along.empty()) return prepare(*c.variant, sequence, run_of(c));
  return prepare_along_ranks(*c.variant, sequence, run_of(c), carry_along(*c.variant, sequence, run_of(c), c.along));
}

OutputWeights weights_of(const BenchCase &c, const Shape &s) {
  const size_t state = c.variant->state_shape(s, c.params).size();
  return {Stream(c.seed, "bench/do").normals(s.heads() * size_t(s.T) * size_t(s.Dv)),
          Stream(c.seed, "bench/dstate").normals(s.heads() * state)};
}

Timed timed(const BenchCase &c, const Sequence &sequence) {
  if (c.backward) {
    const BackwardJob job = prepare_backward(*c.variant, sequence, run_of(c), weights_of(c, sequence.shape));
    return {job.reset, job.launch};
  }
  const Job job = forward_job(c, sequence);
  return {job.reset, job.launch, !c.along.empty()};
}

/// Its own steps of a sequence that the ranks share, against the definition's.
Equivalence own_equivalence(const BenchCase &c, const Sequence &whole, const Definition &definition) {
  const Steps own = steps_of_rank(whole.shape.T, c.chunk, ranks::rank(), ranks::size());
  const Job job = forward_job(c, slice_steps(whole, own.begin, own.end));
  job.reset();
  job.launch();
  const Output found = job.fetch();
  Sequence outputs;
  outputs.shape = whole.shape, outputs.v = definition.output.o;
  const bool last = own.end == whole.shape.T; // elsewhere there is no state to hold it to
  const Output wanted{slice_steps(outputs, own.begin, own.end).v, last ? definition.output.state : found.state, {}};
  const double own_deviation = deviation(found, wanted).largest();
  return {ranks::largest(own_deviation == own_deviation ? own_deviation : HUGE_VAL), // NaN is no maximum
          accumulated_terms(whole.shape, c.chunk) * epsilon_of(c.real) * definition.condition};
}

/// Holds the same layer's backward pass, where the definition's gradient is quick, to that gradient.
void hold_to_gradient(const BenchCase &c, BenchResult &result) {
  BenchCase small = c;
  small.shape = {1, std::min(c.shape.H, 2), std::min(c.shape.T, c.chunk + 17), std::min(c.shape.Dk, 24),
                 std::min(c.shape.Dv, 24)};
  const Sequence s = inputs_of(small);
  const OutputWeights weights = weights_of(small, s.shape);
  const Reference reference({*c.variant, c.params, s, weights}, c.chunk);
  const Sequence found = backward(*c.variant, s, run_of(small), weights);
  for (const Judged &part :
       judge_all(reference, as_results(reference.problem(), {}, &found), precision_of(c.real, c.math))) {
    result.error = std::max(result.error, part.worst);
    if (part.judgement == Judgement::wrong)
      result.reason = part.name + " deviates by " + number(part.row) + " (a row) and " + number(part.head) +
                      " (a head) times what rounding makes";
  }
}

/// Holds the same layer on a short sequence, where its definition is quick, to that definition.
void hold_to_definition(const BenchCase &c, BenchResult &result) {
  if (c.backward) return hold_to_gradient(c, result);
  const bool along = !c.along.empty();
  if (!along && (!c.form->exact || c.form->name == "recurrent")) return;
  const int least = along ? ranks::size() : 1;
  BenchCase small = c;
  small.along.clear();
  small.shape.B = 1, small.shape.H = std::min(c.shape.H, 2),
  small.shape.T = std::min(c.shape.T, 2 * least * c.chunk + 17);
  const Sequence s = inputs_of(small);
  const Definition wanted = definition(*c.variant, s, c.params);
  const Equivalence e = along ? own_equivalence(c, s, wanted) : equivalence(*c.variant, s, run_of(c), wanted);
  result.error = e.deviation;
  const double allowed = e.bound * coarseness(c.math);
  if (!(e.deviation <= allowed)) // nor NaN
    result.reason = "deviates by " + number(e.deviation) + " from its definition, rounding allows " + number(allowed);
}

double bytes_moved(const BenchCase &c, const Sequence &s) {
  const size_t state = c.variant->state_shape(c.shape, c.params).size() * c.shape.heads();
  size_t numbers = s.q.size() + s.k.size() + 2 * s.v.size() + 2 * state; // o is as large as v
  for (const auto *input : {&s.beta, &s.alpha, &s.lambda, &s.w}) numbers += input->size();
  if (c.backward) numbers = 2 * numbers - s.v.size() - state; // as many gradients, and o and the final state unread
  return double(numbers) * c.shape.T / s.shape.T * (c.real == Real::f32 ? 4 : 8); // a rank has its own steps only
}

/// Launches until two in a row take the same time to 5%.
void warm_up(const Timed &job) {
  double last = job.seconds();
  for (int i = 0; i < 10; ++i) {
    const double now = job.seconds();
    if (std::fabs(now - last) < 0.05 * last) return;
    last = now;
  }
}

/// What of the case lies on this rank.
BenchCase own_part(const BenchCase &c) {
  BenchCase own = c;
  if (c.along.empty()) return own;
  const Steps steps = steps_of_rank(c.shape.T, c.chunk, ranks::rank(), ranks::size());
  own.shape.T = steps.count(), own.seed += std::uint64_t(ranks::rank());
  return own;
}

void measure(const BenchCase &c, double min_seconds, BenchResult &result) {
  if (c.variant->unsuitable) result.reason = c.variant->unsuitable(c.shape, c.params);
  if (!c.along.empty() && result.reason.empty()) result.reason = not_along(*c.variant, *c.form, c.shape, c.params);
  if (c.backward && !c.form->vjp && result.reason.empty()) result.reason = "has no backward pass";
  const BenchCase own = own_part(c);
  if (result.reason.empty()) result.reason = over_memory(*c.variant, own.shape, c.params, c.real);
  if (!result.reason.empty()) {
    result.status = "skipped";
    return;
  }
  hold_to_definition(c, result);
  if (!result.reason.empty()) {
    result.status = "wrong";
    return;
  }
  const Sequence sequence = inputs_of(own);
  result.bytes = bytes_moved(c, sequence);
  if (!c.backward) result.flops = c.variant->cost.flops.at(c.shape, c.params) * double(c.shape.heads()) * c.shape.T;
  flush_caches(); // takes its own memory now, where it does not count as the form's
  result.peak_bytes = peak_bytes([&] {
    const Timed job = timed(c, sequence);
    warm_up(job);
    constexpr size_t fewest = 5, most = 1000;
    double total = 0;
    while (result.seconds.size() < fewest || (total < min_seconds && result.seconds.size() < most)) {
      result.seconds.push_back(job.seconds());
      total += result.seconds.back();
    }
  });
  result.timing = summarise(result.seconds);
}

} // namespace

Sequence inputs_of(const BenchCase &c) {
  const auto wanted = [&](Tensor tensor) {
    const auto takes = [&](const Input &input) { return input.tensor() == tensor; };
    return std::any_of(c.variant->inputs.begin(), c.variant->inputs.end(), takes) &&
           std::find(c.without.begin(), c.without.end(), name_of(tensor)) == c.without.end();
  };
  return random_sequence(c.shape, c.seed, Keys::unit, wanted);
}

std::string name_of(const BenchCase &c) {
  Shape s = c.shape;
  std::string name = c.variant->name + "/" + c.form->name;
  for (size_t i = 0; i < 5; ++i) name += std::string("/") + dimensions[i] + ":" + std::to_string(dimension(s, i));
  name += std::string("/") + name_of(c.real);
  if (c.backward) name += "/backward";
  if (c.math != Math::exact) name += c.math == Math::bf16 ? "/bf16" : "/tf32";
  if (c.schedule != Schedule::automatic) name += c.schedule == Schedule::streaming ? "/streaming" : "/three_phase";
  for (const std::string &input : c.without) name += "/without:" + input;
  if (!c.along.empty()) name += "/ranks_along_T:" + std::to_string(ranks::size());
  return name;
}

Shape parse_shape(const std::string &text) {
  const std::vector<std::string> parts = split(text, ',');
  if (parts.size() != 5) usage_error("--shape is B,H,T,Dk,Dv, got '" + text + "'");
  Shape s;
  for (size_t i = 0; i < 5; ++i) dimension(s, i) = parse_size(parts[i], "--shape");
  return s;
}

std::vector<Shape> swept(const std::vector<Shape> &shapes, const std::string &sweep) {
  const size_t equals = sweep.find('=');
  const std::string name = sweep.substr(0, equals);
  const size_t which = size_t(std::find(std::begin(dimensions), std::end(dimensions), name) - std::begin(dimensions));
  if (equals == std::string::npos || (which == 5 && name != "D"))
    usage_error("--sweep is DIMENSION=values with one of B, H, T, Dk, Dv or D (both widths), got '" + sweep + "'");
  std::vector<Shape> all;
  for (const Shape &shape : shapes)
    for (const std::string &value : expand_values(sweep.substr(equals + 1), "--sweep " + name)) {
      all.push_back(shape);
      const int size = parse_size(value, "--sweep " + name);
      if (which < 5)
        dimension(all.back(), which) = size;
      else
        all.back().Dk = all.back().Dv = size;
    }
  return all;
}

std::vector<BenchCase> bench_plan(const BenchRequest &request) {
  std::vector<BenchCase> plan;
  const std::vector<const Variant *> variants = select_variants(request.variants);
  refuse_unused(request.settings, variants, {});
  for (const Variant *variant : variants)
    for (const std::string &wanted : request.forms)
      for (const Form &form : variant->forms) {
        const Params params = resolve(variant->params, settings_for(*variant, request.settings), variant->name);
        for (const Shape &shape : request.shapes) {
          const std::string name = wanted == "all" ? form.name : wanted;
          const Form &chosen = request.backward ? find_form(*variant, name) : find_form(*variant, name, shape, params);
          if (&chosen == &form)
            plan.push_back({int(plan.size()), variant, &form, params, shape, request.real,
                            std::min(request.chunk, shape.T), request.seed, request.schedule, request.math,
                            request.without, request.along, request.backward});
        }
      }
  return plan;
}

BenchResult bench(const BenchCase &c, double min_seconds) {
  BenchResult result;
  result.bench_case = &c;
  try {
    measure(c, min_seconds, result);
  } catch (const std::bad_alloc &) {
    throw;
  } catch (const OverMemory &refused) {
    if (!c.along.empty()) throw; // it may be this rank's alone
    result.status = "skipped", result.reason = refused.what();
  } catch (const std::exception &failure) {
    if (!c.along.empty()) throw; // it may be this rank's alone
    result.status = "failed", result.reason = failure.what();
  }
  return result;
}

std::vector<Growth> growth(const std::vector<BenchResult> &results) {
  struct Curve {
    std::vector<double> log_T, log_seconds;
  };
  std::map<std::string, Curve> curves;
  for (const BenchResult &r : results) {
    if (r.status != "ok") continue;
    std::string name = r.source + "/" + name_of(*r.bench_case);
    const std::string length = "/T:" + std::to_string(r.bench_case->shape.T);
    name.erase(name.find(length), length.size());
    curves[name].log_T.push_back(std::log(double(r.bench_case->shape.T)));
    curves[name].log_seconds.push_back(std::log(r.timing.median));
  }
  std::vector<Growth> fits;
  for (const auto &[name, curve] : curves) {
    if (curve.log_T.size() < 3) continue;
    const Mean slope = fitted_slope(curve.log_T, curve.log_seconds);
    fits.push_back({name, slope.mean, slope.standard_error, int(curve.log_T.size())});
  }
  return fits;
}

} // namespace recollect
