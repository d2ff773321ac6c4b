// SPDX-License-Identifier: Apache-2.0
// Readings of 003 Fig 2. The paper leaves open some choices on which its curves depend: the off-diagonals of Sigma, the
// first key, whether keys and queries are normalised, the scale of softmax, the normalisation of linear attention's
// output, and what replaces the inverse in the first quarter, where Gram matrices are singular. A reading is a layer
// together with all these choices. There are six settings of Sigma and the first key, which the sequences take in turn.
// Dk = 64 and T = 256 are the paper's values. The losses of a sequence are averaged over each of the paper's three
// segments (t < T/4, T/4 to T/2, the rest). Two layers are compared on the same sequences by the logarithm of the ratio
// of their losses, because losses of different sequences differ by large factors: the noise has a common direction,
// which is stronger in some sequences.
#pragma once
#include "harness/call/forward.hpp"
#include "harness/core/registry.hpp"
#include "theory/support/measure.hpp"
#include <algorithm>
#include <array>
#include <mutex>

namespace recollect::theory::readings {

enum Stretch { before, after, late };
constexpr std::array<Stretch, 3> stretches{before, after, late};
inline const char *name_of(Stretch s) {
  return s == before ? "first quarter" : s == after ? "second quarter" : "second half";
}

struct Reading {
  std::string name, variant; // empty: the forecast is the value of `lag` steps ago
  Assignments task, layer;   // settings of the task and of the layer
  bool costly = false;       // measured on fewer sequences
  int lag = 0;
  bool peeks = false; // the layer stores the value that it must forecast
};

const Reading naive{"naive forecast", "", {}, {}}, older{"forecast one step too old", "", {}, {}, false, 1};
const Reading linear_unit{"linear, output of norm 1", "linear", {{"output", "unit"}}, {}};
const Reading linear_rms{"linear, output of RMS 1", "linear", {{"output", "rms"}}, {}};
const Reading rls{"RLS, ridge 1e-3", "rls", {}, {{"ridge", "1e-3"}}};
const Reading softmax{"softmax as in Eq 1", "softmax", {}, {}};
const Reading softmax_unit{"softmax on unit keys", "softmax_qknorm", {}, {}};
const Reading average{"mean of the values so far", "softmax", {}, {{"scale", "0"}}};
const Reading bandwidth_2{"softmax on unit keys, bandwidth 2", "softmax_qknorm", {}, {{"scale", "1"}}};
const Reading sharp{"softmax on unit keys, bandwidth 0.1", "softmax_qknorm", {}, {{"scale", "20"}}};
/// Locally linear regression (p = 1) on unit keys, with a ridge on the slopes.
inline Reading local(const std::string &bandwidth, const std::string &ridge) {
  return {"$p = 1$, bandwidth " + bandwidth + ", ridge " + ridge,
          "local_linear",
          {{"keys", "unit"}},
          {{"bandwidth", bandwidth}, {"ridge", ridge}},
          true};
}
const Reading local_sharp = local("0.1", "0.01"), local_printed = local("16", "0.01");
const Reading local_no_ridge = local("0.1", "1e-12");
/// RLS with forgetting. Its ridge does not decay.
inline Reading forgetting(const std::string &alpha) {
  return {"RLS, forgetting " + alpha, "mesa", {{"alpha", alpha}}, {{"ridge", "1e-3"}}};
}
inline Reading gated(const std::string &alpha) {
  return {"linear, forgetting " + alpha, "gated_linear", {{"output", "unit"}, {"alpha", alpha}}, {}};
}

/// The parameters that --point accepts: one Sigma and one way to draw the first key.
const std::vector<ParamSpec> setting{
    choice_param("noise", {"equicorrelated", "chain", "factors"},
                 "off-diagonal elements of $Sigma$: c, $c^|i-j|$, or those of a matrix of rank 8"),
    real_param("correlation", 0.5, 0.05, 0.95, "c of $Sigma$"),
    choice_param("start", {"stationary", "zero"},
                 "first key: drawn from the stationary distribution of the early process, or one draw of the noise")};

/// An output of norm sqrt(64) has a loss of at least (8 - 1)^2 = 49 against a target of norm 1. A layer counts as the
/// worst if its loss is at least 40 times the loss of every other layer.
const double worst_by = std::log(40);

/// Equicorrelated noise has the share c + (1 - c) / Dk along one direction. If this share is large, keys are nearly
/// one-dimensional. Then sharper weights help as much as slopes do, and the margins of the claims are not reached.
inline void refuse_one_direction(const Protocol &p, double most = 0.5) {
  if (p.point && p.point->text("noise") == "equicorrelated" && p.point->real("correlation") > most)
    usage_error("equicorrelated noise needs a correlation of at most " + number(most) +
                ": at a larger one a single direction carries most of the noise");
}

struct Losses {
  std::array<Vector, 3> of;    // [stretch][sequence]
  std::vector<Vector> by_step; // [sequence][t]
};

class Bench {
public:
  explicit Bench(const Protocol &p) : seed_(p.seed), full_(p.full()) {
    for (const auto &[noise, correlation] :
         {std::pair{"equicorrelated", "0.5"}, {"equicorrelated", "0.1"}, {"factors", "0"}})
      for (const char *start : {"stationary", "zero"})
        settings_.push_back({{"noise", noise}, {"correlation", correlation}, {"start", start}});
    if (p.point)
      settings_ = {{{"noise", p.point->text("noise")},
                    {"correlation", number(p.point->real("correlation"))},
                    {"start", p.point->text("start")}}};
  }

  /// The statement: mean ln(loss of `large` / loss of `small`) >= margin.
  Point above(const Reading &large, const Reading &small, Stretch s, double margin) const {
    return at_least_point(mean_log_ratio(large, small, s), margin);
  }
  Point below(const Reading &small, const Reading &large, Stretch s, double margin) const {
    return at_most_point(mean_log_ratio(small, large, s), margin);
  }
  Mean mean_log_ratio(const Reading &a, const Reading &b, Stretch s) const {
    const Losses &first = losses(a), &second = losses(b);
    Vector logs;
    for (size_t i = 0; i < std::min(first.of[s].size(), second.of[s].size()); ++i)
      logs.push_back(std::log(first.of[s][i] / second.of[s][i]));
    return stratified_mean(logs);
  }

  /// The mean of samples, stratified by setting, because settings differ by more than sequences do. Sample i has
  /// setting i modulo the number of settings.
  Mean stratified_mean(const Vector &samples) const {
    Mean all;
    const size_t n = settings_.size();
    for (size_t j = 0; j < n; ++j) {
      Vector own;
      for (size_t i = j; i < samples.size(); i += n) own.push_back(samples[i]);
      const Mean mean = mean_of(own);
      all.mean += mean.mean / n, all.standard_error = std::hypot(all.standard_error, mean.standard_error / n);
    }
    return all;
  }

  /// The losses of a reading. In every reading, sequence i has setting i modulo the number of settings. Eight claims
  /// use these losses, so they are measured once per seed and number of sequences, then kept.
  const Losses &losses(const Reading &r) const {
    static std::mutex mutex;
    static std::map<std::string, Losses> known;
    std::string key = r.name + "|" + std::to_string(seed_) + "|" + std::to_string(sequences(r));
    for (const Assignments &setting : settings_)
      for (const auto &[name, value] : setting) key += "|" + value;
    const std::lock_guard<std::mutex> lock(mutex);
    const auto [entry, is_new] = known.try_emplace(key);
    if (is_new) entry->second = measured(r, sequences(r));
    return entry->second;
  }
  /// Whether every setting has noise with 8 factors.
  bool low_rank() const {
    return std::all_of(settings_.begin(), settings_.end(), [](const auto &s) { return s.at("noise") == "factors"; });
  }
  Params at(const Reading &r) const {
    const double n = settings_.size(), all = sequences(r);
    return labels({{"Dk", num(64)}, {"T", num(256)}, {"settings", num(n)}, {"sequences", num(all)}});
  }

private:
  Losses measured(const Reading &r, int sequences) const {
    const Task &task = find_task("online_regression");
    std::vector<Problem> problems;
    std::vector<Params> params;
    Sequence all; // one head per sequence
    for (int i = 0; i < sequences; ++i) {
      Assignments set = settings_[i % settings_.size()];
      set.insert({{"sequences", "1"}, {"keys", "raw"}, {"d", "64"}, {"T", "256"}});
      for (const auto &[name, value] : r.task) set[name] = value;
      params.push_back(resolve(task.params, set, "task online_regression"));
      problems.push_back(task.generate(params.back(), seed_ * 1000003 + i));
      Sequence &one = problems.back().sequence;
      if (r.peeks) one.v = problems.back().target;
      all.shape = one.shape, all.shape.B = sequences;
      for (auto part : {&Sequence::q, &Sequence::k, &Sequence::v, &Sequence::alpha})
        (all.*part).insert((all.*part).end(), (one.*part).begin(), (one.*part).end());
    }
    const Vector reads = r.variant.empty() ? delayed(all, r.lag) : read_by(r, all);
    const size_t size = reads.size() / sequences;
    Losses losses;
    for (int i = 0; i < sequences; ++i) {
      const Output own{{reads.begin() + i * size, reads.begin() + (i + 1) * size}, {}, {}};
      const Score score = task.score(params[i], problems[i], own);
      for (const auto &[metric, value] : score.metrics)
        for (Stretch s : stretches)
          if (metric == std::array{"loss_before_switch", "loss_after_switch", "loss_late"}[s])
            losses.of[s].push_back(value);
      losses.by_step.push_back(score.series.at("loss_by_step"));
    }
    return losses;
  }
  static Vector read_by(const Reading &r, const Sequence &s) {
    const Variant &variant = find_variant(r.variant);
    const std::string form =
        r.variant == "mesa" ? "recurrent" : "fast"; // with a decay, mesa's other forms work in blocks of one step
    return forward(variant, s, {find_form(variant, form).name, Real::f64, 64, variant_params(variant, r.layer)}).o;
  }
  /// v_{t-lag}, or the first value at the first `lag` steps.
  static Vector delayed(const Sequence &s, int lag) {
    Vector reads = s.v;
    const int T = s.shape.T, width = s.shape.Dv;
    for (size_t step = 0; step < s.shape.heads() * T; ++step)
      std::copy_n(&s.v[(step - std::min<size_t>(lag, step % T)) * width], width, &reads[step * width]);
    return reads;
  }
  int sequences(const Reading &r) const { return r.costly ? (full_ ? 60 : 18) : full_ ? 240 : 60; }

  std::uint64_t seed_;
  bool full_;
  std::vector<Assignments> settings_;
};

const std::string source = "003 §5, Eq 55, Fig 2";

inline std::string over(const Reading &large, const Reading &small, Stretch s) {
  return "ln(loss of " + large.name + " / loss of " + small.name + "), " + name_of(s);
}
/// Adds the condition that the loss of `large` exceeds the loss of `small` by the margin, and a rival: the same
/// statement about wrong_large and wrong_small, which must be refuted.
inline void condition(Points &points, const Bench &b, const Reading &large, const Reading &small, Stretch s,
                      double margin, const Reading &wrong_large, const Reading &wrong_small) {
  points.at(b.at(small)).condition(over(large, small, s), b.above(large, small, s, margin));
  points.wrong_system(over(wrong_large, wrong_small, s), b.above(wrong_large, wrong_small, s, margin));
}
} // namespace recollect::theory::readings
