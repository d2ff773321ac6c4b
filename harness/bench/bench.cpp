// SPDX-License-Identifier: Apache-2.0
#include "harness/bench/bench.hpp"
#include "harness/bench/peers.hpp"
#include "harness/call/along_ranks.hpp"
#include "harness/call/backward.hpp"
#include "harness/call/equivalence.hpp"
#include "harness/call/packed.hpp"
#include "harness/check/check.hpp"
#include "harness/check/users_check.hpp"
#include "harness/core/cost.hpp"
#include "harness/core/error.hpp"
#include "harness/core/text.hpp"
#include "harness/device/backend.hpp"
#include "harness/device/stopwatch.hpp"
#include "harness/numerics/contest.hpp"
#include "harness/numerics/inputs.hpp"
#include "harness/numerics/random.hpp"
#include "harness/numerics/statistics.hpp"
#include "harness/system/memory.hpp"
#include "harness/system/processors.hpp"
#include "harness/system/ranks.hpp"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <thread>
#include <utility>

namespace recollect {
namespace {

Run run_of(const BenchCase &c) { return run_of(c.form->name, c, c.params); }

/// The rounding error of products in this math relative to float32: float32 has 24 significant bits, TF32 11, bf16 8.
double coarseness(Math math) { return math == Math::tf32 ? 1 << 13 : math == Math::bf16 ? 1 << 16 : 1; }

Job along_job(const BenchCase &c, const Sequence &sequence) {
  return prepare_along_ranks(*c.variant, sequence, run_of(c), carry_along(*c.variant, sequence, run_of(c), c.along));
}
Job forward_job(const BenchCase &c, const LayerInputs &inputs) {
  return c.along.empty() ? prepare(*c.variant, inputs, run_of(c)) : along_job(c, inputs.all);
}

/// Compares the outputs of this rank's steps with the definition's outputs, in a sequence that all ranks share.
Equivalence own_equivalence(const BenchCase &c, const Sequence &whole, const Definition &definition) {
  const Steps own = steps_of_rank(whole.shape.T, c.chunk, ranks::rank(), ranks::size());
  const Job job = along_job(c, slice_steps(whole, own.begin, own.end));
  job.reset();
  job.launch();
  const Output found = job.fetch();
  Sequence outputs;
  outputs.shape = whole.shape, outputs.v = definition.output.o;
  const bool last = own.end == whole.shape.T; // other ranks have no final state to compare
  const Output wanted{slice_steps(outputs, own.begin, own.end).v, last ? definition.output.state : found.state, {}};
  const double own_deviation = deviation(found, wanted).largest();
  return {ranks::largest(own_deviation == own_deviation ? own_deviation : HUGE_VAL), // ranks::largest() may ignore NaN
          accumulated_terms(whole.shape, c.chunk) * epsilon_of(c.real) * definition.condition};
}

std::string too_far(double deviation, double allowed, const std::string &where) {
  if (deviation <= allowed) return ""; // false for NaN
  return where + " deviates by " + number(deviation) + " from its definition, rounding allows " + number(allowed);
}

/// Compares the layer's backward pass with the definition's gradient, at a shape so small that the latter is fast.
void hold_to_gradient(const BenchCase &c, BenchResult &result) {
  BenchCase small = c;
  small.shape = {1, std::min(c.shape.H, 2), std::min(c.shape.T, c.chunk + 17), std::min(c.shape.Dk, 24),
                 std::min(c.shape.Dv, 24)};
  const LayerInputs inputs = layer_inputs_of(small);
  const Reference reference({*c.variant, c.params, inputs.all, inputs.weights}, c.chunk);
  const Sequence found = backward(*c.variant, inputs.all, run_of(small), inputs.weights);
  for (const Judged &part :
       judge_all(reference, as_results(reference.problem(), {}, found), precision_of(c.real, c.math))) {
    result.error = std::max(result.error, part.worst);
    if (part.judgement == Judgement::wrong)
      result.reason = part.name + " deviates by " + number(part.row) + " (a row) and " + number(part.head) +
                      " (a head) times the rounding noise";
  }
}

/// Judges a pass over packed texts or grouped heads as `check` does, at a small shape.
void hold_to_check(const BenchCase &c, BenchResult &result) {
  BenchCase small = c;
  const int group = c.qk_heads ? c.shape.H / c.qk_heads : 1;
  Sharing sharing;
  small.shape.H = group * std::min(c.shape.H / group, 2);
  if (c.qk_heads) sharing.q_heads = sharing.k_heads = small.shape.H / group;
  small.shape.B = std::min(c.shape.B, 2), small.shape.T = c.chunk + 17, small.qk_heads = 0;
  if (!c.texts.empty()) {
    small.texts = std::to_string(c.chunk + 17) + ",0,1," + std::to_string(c.chunk / 2);
    sharing.cu_seqlens = starts_of_texts(small.texts, 3 * c.chunk + 18);
    small.shape.T = sharing.cu_seqlens.back();
  }
  if (c.backward) small.shape.Dk = std::min(c.shape.Dk, 24), small.shape.Dv = std::min(c.shape.Dv, 24);
  const LayerInputs repeated = layer_inputs_of(small); // q and k have as many heads as v
  const Precision precision = precision_of(c.real, c.math);
  const UsersCase problem =
      users_case({*c.variant, c.params, repeated.all, repeated.weights}, {}, sharing, precision, c.seed);
  const LayerInputs inputs = layer_inputs(problem);
  const Run run = run_of(small);
  const std::vector<TextResults> found = by_text(inputs, forward(*c.variant, inputs, run, [](const std::string &) {}),
                                                 c.backward ? gradient_by(*c.variant, inputs, run) : Sequence());
  const Checked checked = UsersReference(problem, inputs, c.chunk)
                              .check({to_user(problem.in_file, inputs, problem.convention, found), {}}, precision);
  for (const Judged &part : checked.parts) result.error = std::max(result.error, part.worst);
  if (checked.judgement == Judgement::wrong) result.reason = "`check` does not accept it: " + checked.where;
}

/// Compares the layer's outputs with its definition on a sequence so short that the definition is fast.
void hold_to_definition(const BenchCase &c, BenchResult &result) {
  if (c.packed()) return hold_to_check(c, result);
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
  result.reason = too_far(e.deviation, e.bound * coarseness(c.math), "it");
}

double bytes_moved(const BenchCase &c, const LayerInputs &inputs) {
  const Sequence &s = inputs.all;
  const size_t stored = bytes_of(c.real), wide = bytes_of(wide_of(c.real));
  const size_t states = (inputs.packed ? inputs.texts.size() : size_t(c.shape.B)) * size_t(c.shape.H);
  const size_t state = c.variant->state_shape(c.shape, c.params).size() * states * wide;
  const size_t o = s.v.size() * stored; // o has as many numbers as v
  size_t bytes = o + 2 * state;
  for (Tensor tensor : all_tensors) bytes += s[tensor].size() * (facts_of(tensor).gate() ? wide : stored);
  if (c.backward) bytes = 2 * bytes - o - state; // a backward pass does not read o and the final state
  return double(bytes) * c.shape.T / s.shape.T;  // `inputs` has only the steps of this rank
}

/// Says that 16-bit arrays are converted within the measured time, because the form has only a float32 kernel; else "".
std::string conversion_of(const BenchCase &c) {
  if (bytes_of(c.real) > 2) return "";
  const bool native =
      c.backward ? c.form->vjp.native.has(c.real, c.shape, c.params) : c.form->native.has(c.real, c.shape, c.params);
  return native ? "" : "arrays converted to float32 and back within the time";
}

/// Says how packed texts and grouped heads are run if the form does not take them as they are; else "".
std::string repeats_of(const BenchCase &c, const LayerInputs &inputs) {
  const auto takes = c.backward ? takes_packed_backward : takes_packed;
  if (!c.packed() || takes(*c.variant, inputs, run_of(c))) return "";
  return std::string(inputs.packed ? "one text after the other" : "") +
         (inputs.packed && inputs.grouped() ? ", " : "") + (inputs.grouped() ? "q and k repeated for every head" : "");
}

/// Says how long the exchange of a scan over the ranks takes, as measured separately; "" without a scan. All ranks must
/// call it.
std::string exchange_of(const BenchCase &c, const Sequence &own) {
  if (c.along.empty() || carry_along(*c.variant, own, run_of(c), c.along) == Carry::chain) return "";
  const double seconds = exchange_seconds(*c.variant, c.shape, c.params);
  return seconds == 0 ? "" : "the exchange of maps alone takes " + number(std::round(seconds * 1e6)) + " us";
}

/// The part of the case that this rank computes.
BenchCase own_part(const BenchCase &c) {
  BenchCase own = c;
  if (c.along.empty()) return own;
  const Steps steps = steps_of_rank(c.shape.T, c.chunk, ranks::rank(), ranks::size());
  own.shape.T = steps.count(), own.seed += std::uint64_t(ranks::rank());
  return own;
}

/// Steps [0, steps) of the first `heads` heads of the last batch entry. Later steps do not affect the outputs of these.
Sequence beginning(const Sequence &s, int heads, int steps) {
  Sequence part;
  part.shape = s.shape, part.shape.B = 1, part.shape.H = heads, part.shape.T = steps;
  const size_t first = size_t(s.shape.B - 1) * s.shape.H;
  for (Tensor tensor : all_tensors) {
    if (s[tensor].empty()) continue;
    const size_t width = width_of(tensor, s.shape), of_head = width * s.shape.T;
    for (size_t head = first; head < first + heads; ++head) {
      const auto begin = s[tensor].begin() + std::ptrdiff_t(head * of_head);
      part[tensor].insert(part[tensor].end(), begin, begin + std::ptrdiff_t(width * steps));
    }
  }
  return part;
}

/// Whether a longer sequence leaves the outputs of earlier steps unchanged; false where weights depend on T.
bool same_at_any_length(const BenchCase &c) {
  BenchCase tiny = c;
  tiny.along.clear(), tiny.shape = {1, 1, 12, c.shape.Dk, c.shape.Dv};
  const Sequence s = inputs_of(tiny);
  const Run run{"recurrent", Real::f64, 1, c.params};
  const Output all = forward(*c.variant, s, run), few = forward(*c.variant, beginning(s, 1, 5), run);
  return std::equal(few.o.begin(), few.o.end(), all.o.begin());
}

/// A part of the timed inputs, and the definition's outputs for this part.
struct Expected {
  Sequence inputs; // the first steps of some heads
  Definition definition;
};
std::optional<Expected> expected_of(const BenchCase &c, const LayerInputs &inputs) {
  if (c.backward || !c.along.empty() || !c.form->exact || inputs.texts[0].empty() || !same_at_any_length(c))
    return std::nullopt;
  Sequence cut;
  const Sequence &s = sequence_in(inputs, 0, cut);
  const Sequence part = beginning(s, std::min(c.shape.H, 2), std::min(s.shape.T, 2 * c.chunk + 17));
  return Expected{part, definition(*c.variant, part, c.params)};
}

/// Compares the outputs of the timed pass with the expected ones.
std::string after_timing(const BenchCase &c, const Output &found, const Expected &expected, double &error) {
  const Shape &part = expected.inputs.shape;
  Sequence outputs;
  outputs.shape = c.shape, outputs.v = found.o;
  const Output begun{beginning(outputs, part.H, part.T).v, expected.definition.output.state, {}};
  const double deviates = deviation(begun, expected.definition.output).largest();
  error = std::max(error, deviates);
  const double allowed =
      accumulated_terms(part, c.chunk) * epsilon_of(c.real) * expected.definition.condition * coarseness(c.math);
  return too_far(deviates, allowed, "after timing its output");
}

std::string unwritten(const std::string &name, const std::vector<double> &values) {
  const auto count = std::count_if(values.begin(), values.end(), [](double x) { return x != x; });
  if (!count) return "";
  return "the timed pass left " + std::to_string(count) + " of " + std::to_string(values.size()) + " numbers of " +
         name + " unwritten, or NaN";
}

/// The form of the case, prepared for timing.
struct Own {
  Pass pass;
  std::function<std::string()> complete; // says which outputs the last pass left unwritten; "" if none
  std::function<Output()> output;        // outputs of a pass from the initial state; forward pass only
};
Own own_of(const BenchCase &c, const LayerInputs &inputs) {
  if (c.backward) {
    const BackwardJob job = prepare_backward(*c.variant, inputs, run_of(c));
    const auto complete = [job] {
      const Sequence found = job.fetch();
      for (Tensor tensor : all_tensors)
        if (const std::string left = unwritten(std::string("d") + name_of(tensor), found[tensor]); !left.empty())
          return left;
      return std::string();
    };
    return {{job.reset, job.launch}, complete, {}};
  }
  const Job job = forward_job(c, inputs);
  return {{job.reset, job.launch},
          [job] { return unwritten("o", job.fetch().o); },
          [job] {
            job.reset();
            job.launch();
            return job.fetch();
          }};
}

/// The time of a pass that all ranks share: the time of the slowest rank, from the moment when all ranks are ready.
Sample shared_sample(const Pass &pass) {
  pass.reset();
  flush_caches();
  return {ranks::seconds_of_slowest(pass.launch), 1};
}

/// Takes samples. Sets `taken` of each sample to the wall time in seconds divided by the number of samples.
std::vector<Sample> with_time_taken(const std::function<std::vector<Sample>()> &take) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<Sample> samples = take();
  const double all = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (Sample &sample : samples) sample.taken = all / double(samples.size());
  return samples;
}

Contestant contestant_of(const std::function<Sample()> &sample) {
  return {[sample](size_t count) {
    return with_time_taken([&] {
      std::vector<Sample> taken;
      while (taken.size() < count) taken.push_back(sample());
      return taken;
    });
  }};
}

void keep_samples(BenchResult &result, const Sampling &sampling) {
  result.seconds = sampling.seconds(), result.discarded = sampling.discarded();
  result.clock = sampling.clock(), result.kept_slow = sampling.kept_slow(), result.stopped_by = sampling.stopped_by();
  if (!result.seconds.empty()) result.timing = summarise(result.seconds);
}

/// The factor by which other programs may have slowed this machine while its ceilings were measured.
double slowed_by_others() {
  double load = 0;
  if (default_clock() > 0 || getloadavg(&load, 1) != 1) return 1; // a GPU is not slowed by the load of its host
  return 1 + load / double(processors());
}

/// Sets the limit of the row. A time below the limit means that something was not computed, and the row becomes
/// "wrong". Before that, the ceilings are measured again, because they are too low if other programs were running.
void hold_to_limit(BenchResult &result, Ceilings &ceilings) {
  set_limit(result, ceilings);
  if (result.status != "ok" || result.timing.median >= result.limit) return;
  ceilings.improve(measure_ceilings());
  set_limit(result, ceilings);
  if (result.timing.median >= result.limit) return;
  if (result.timing.median * slowed_by_others() >= result.limit) {
    result.reason = "faster than the limit, whose ceilings were measured too low because other programs were running";
    return;
  }
  result.status = "wrong";
  result.reason = "takes " + number(result.timing.median) + " s, but its " + result.bound + " alone " +
                  number(result.limit) + " s at this machine's peak rates: it cannot have done all of its work";
}

/// Why the case is not timed; "" if it is.
std::string refused(const BenchCase &c, const BenchCase &own) {
  std::string reason;
  if (c.variant->unsuitable) reason = c.variant->unsuitable(c.shape, c.params);
  if (!c.along.empty() && reason.empty()) reason = not_along(*c.variant, *c.form, c.shape, c.params);
  if (c.backward && !c.form->vjp && reason.empty()) reason = "has no backward pass";
  return reason.empty() ? over_memory(*c.variant, own.shape, c.params, c.real) : reason;
}

void rest() { std::this_thread::sleep_for(std::chrono::milliseconds(200)); }

void measure(const BenchCase &c, const BenchSettings &settings, std::vector<BenchResult> &rows) {
  const std::string name = name_of(c);
  const auto mine = [&]() -> BenchResult & { return rows[0]; };
  const BenchCase own = own_part(c);
  mine().reason = refused(c, own);
  if (!mine().reason.empty()) {
    mine().status = "skipped";
    return;
  }
  settings.told(name + ": verifying");
  hold_to_definition(c, mine());
  if (!mine().reason.empty()) {
    mine().status = "wrong";
    return;
  }
  settings.told(name + ": making inputs");
  const LayerInputs inputs = layer_inputs_of(own);
  const std::optional<Expected> expected = expected_of(own, inputs);
  mine().bytes = bytes_moved(c, inputs);
  if (!c.backward) mine().flops = c.variant->cost.flops.at(c.shape, c.params) * double(c.shape.heads()) * c.shape.T;
  flush_caches(); // allocates its memory here, so that this memory does not count as memory of the form
  Own first;
  mine().peak_bytes = peak_bytes([&] {
    first = own_of(c, inputs);
    for (int i = 0; i < 2; ++i) first.pass.reset(), first.pass.launch();
  });

  settings.told(name + ": warming up");
  bool made = false;
  const auto make = [&] { return std::exchange(made, true) ? own_of(c, inputs).pass : first.pass; };
  std::unique_ptr<Stopwatch> watch;
  if (c.along.empty()) watch = std::make_unique<Stopwatch>(make, mine().bytes);
  std::vector<Contestant> contestants{
      watch ? contestant_of([&] { return watch->sample(); })
            : Contestant{[&](size_t count) { // shared_sample() is the same on all ranks, so that all stop together
                std::vector<Sample> taken;
                while (taken.size() < count) taken.push_back(shared_sample(first.pass));
                return taken;
              }}};
  mine().method = watch ? watch->method() : "host clock of the slowest rank, caches flushed";
  if (settings.peers) {
    PeerCase asked{&c, &inputs.all, {}, 0};
    if (expected) {
      const Shape &part = expected->inputs.shape;
      asked.expected_steps = part.T; // steps of the first head
      const auto &o = expected->definition.output.o;
      asked.expected.assign(o.begin(), o.begin() + std::ptrdiff_t(part.T) * part.Dv);
    }
    for (BenchResult &peer : settings.peers->enter(asked, settings.told)) {
      peer.bytes = mine().bytes, peer.flops = mine().flops;
      rows.push_back(std::move(peer));
    }
  }
  std::vector<size_t> row_of{0}; // row of each contestant
  for (size_t i = 1; i < rows.size(); ++i)
    if (rows[i].status == "ok") {
      row_of.push_back(i);
      contestants.push_back({[&, i](size_t count) {
        return with_time_taken([&] { return settings.peers->take(i - 1, count, rows[i]); });
      }});
    }
  settings.told(name + ": timing");
  const std::vector<Sampling> found = contest(contestants, settings.rule, rest);
  for (size_t i = 0; i < found.size(); ++i) keep_samples(rows[row_of[i]], found[i]);
  if (watch) {
    watch->sample();
    mine().method = watch->method();
  }
  mine().reason = first.complete();
  if (mine().reason.empty() && expected) mine().reason = after_timing(own, first.output(), *expected, mine().error);
  if (!mine().reason.empty()) mine().status = "wrong", mine().seconds.clear(), mine().timing = {};
  for (size_t i = 1; i < rows.size(); ++i)
    if (rows[i].status == "ok") settings.peers->finish(i - 1, rows[i]);
  if (settings.ceilings && c.along.empty()) // one rank's ceilings do not limit several ranks that share a sequence
    for (BenchResult &row : rows) hold_to_limit(row, *settings.ceilings);
  for (const std::string &remark : {conversion_of(c), repeats_of(c, inputs), exchange_of(c, inputs.all)})
    if (mine().status == "ok" && !remark.empty())
      mine().reason = mine().reason.empty() ? remark : mine().reason + "; " + remark;
}

} // namespace

void set_limit(BenchResult &result, const Ceilings &ceilings) {
  const BenchCase &c = *result.bench_case;
  const bool halved =
      result.storage == "bf16" && c.real == Real::f32; // the row is a peer that stores q, k, v and o in 16 bits
  const Math math = halved ? Math::bf16 : c.math;
  const auto seconds = [](double work, double rate) { return rate > 0 ? work / rate : 0; };
  const double bytes = seconds(halved ? result.bytes / 2 : result.bytes, ceilings.bytes_per_second()),
               flops = seconds(result.flops, ceilings.flops_per_second(c.real, math));
  result.limit = std::max(bytes, flops), result.bound = bytes >= flops ? "bytes" : "flops";
}

std::vector<BenchResult> bench(const BenchCase &c, const BenchSettings &settings) {
  std::vector<BenchResult> rows(1);
  rows[0].bench_case = &c, rows[0].storage = name_of(c.real);
  try {
    measure(c, settings, rows);
  } catch (const std::bad_alloc &) {
    throw;
  } catch (const OverMemory &refused) {
    if (!c.along.empty()) throw; // other ranks may not have failed, and would wait for this one
    rows[0].status = "skipped", rows[0].reason = refused.what();
  } catch (const std::exception &failure) {
    if (!c.along.empty()) throw; // other ranks may not have failed, and would wait for this one
    rows[0].status = "failed", rows[0].reason = failure.what();
  }
  return rows;
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
