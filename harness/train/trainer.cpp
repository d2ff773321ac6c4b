// SPDX-License-Identifier: Apache-2.0
#include "harness/train/trainer.hpp"
#include "harness/core/memory.hpp"
#include <cmath>
#include <map>
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace recollect::train {

void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 32 << 20), mallopt(M_TRIM_THRESHOLD, 1 << 30), mallopt(M_TOP_PAD, 64 << 20);
#endif
}

double schedule(int step, int steps, double warmup) {
  const double rising = warmup * steps, passed = step + 1;
  if (passed < rising) return passed / rising;
  return steps > rising ? (1 + std::cos(M_PI * (step - rising) / (steps - rising))) / 2 : 1;
}

Trainer::Trainer(const Setup &setup, const std::vector<std::uint64_t> &seeds)
    : settings_(setup.settings), corpus_(setup.corpus), model_(setup, int(seeds.size())),
      steps_(settings_.integer("steps")), most_(int(seeds.size())) {
  const Numbers none(model_.weights().size(), 0.0);
  for (std::uint64_t seed : seeds) {
    model_.set({model_.weights().start(seed), none, none}, runs());
    runs_.push_back({seed, {}});
  }
}

void Trainer::restore(TrainingState state, int run) {
  if (state.parameters.size() != model_.weights().size() || state.first.size() != state.parameters.size() ||
      state.second.size() != state.parameters.size() || state.running.size() != 2 || state.step < 0 ||
      state.step > steps_)
    input_error("what was kept of the training is of another model: start it anew, without --resume");
  model_.set(state, run);
  runs_[size_t(run)].at = std::move(state);
}

int Trainer::pairs(int run) const {
  const int all = settings_.integer("pairs");
  const double wanted = settings_.real("curriculum");
  if (wanted == 0) return all;
  int pairs = std::min(all, settings_.integer("start"));
  for (const CurvePoint &point : progressed(run).curve)
    if (point.accuracy >= wanted) pairs = std::min(all, 2 * pairs);
  return pairs;
}

bool Trainer::done(int run) const { return progressed(run).diverged || progressed(run).step >= steps_; }
bool Trainer::done() const {
  for (int run = 0; run < runs(); ++run)
    if (!done(run)) return false;
  return true;
}

void Trainer::step() {
  std::map<int, std::vector<int>> alike; // by their texts' length
  for (int run = 0; run < runs(); ++run)
    if (!done(run)) alike[pairs(run)].push_back(run);
  for (const auto &[pairs, all] : alike)
    for (size_t first = 0; first < all.size();) {
      const auto from = all.begin() + std::ptrdiff_t(first);
      const std::vector<int> some(from, from + std::min(std::ptrdiff_t(most_), all.end() - from));
      try {
        step(some, pairs);
        first += some.size();
      } catch (const OverMemory &) {
        if (some.size() == 1) throw;
        most_ = int(some.size() + 1) / 2;
      }
    }
}

void Trainer::step(const std::vector<int> &runs, int pairs) {
  Params now = settings_;
  now.set("pairs", pairs);
  const int batches = settings_.integer("batches");
  std::vector<Texts> texts;
  for (int run : runs) {
    const int step = progressed(run).step, batch = batches ? step % batches : step;
    texts.push_back(make_texts(now, runs_[size_t(run)].seed, "train", std::uint64_t(batch), corpus_.get()));
  }
  const std::vector<Judged> judged = model_.differentiate(runs, texts);
  std::vector<Update> updates;
  for (size_t i = 0; i < runs.size(); ++i)
    if (std::isfinite(judged[i].loss) && std::isfinite(model_.gradient_square(runs[i])))
      updates.push_back(made(runs[i], judged[i]));
    else
      runs_[size_t(runs[i])].at.diverged = true;
  model_.update(updates);
}

/// A step is counted, and what the model is to be changed by.
Update Trainer::made(int run, const Judged &judged) {
  Progressed &at = runs_[size_t(run)].at;
  const double norm = std::sqrt(model_.gradient_square(run)), clip = settings_.real("clip");
  const Update update{run, at.step + 1, settings_.real("lr") * schedule(at.step, steps_, settings_.real("warmup")),
                      settings_.real("decay"), clip > 0 && norm > clip ? clip / norm : 1};
  at.running[0] += judged.loss, at.running[1] += judged.accuracy();
  const int every = settings_.integer("every"), last = at.curve.empty() ? 0 : at.curve.back().step;
  if (++at.step % every == 0 || at.step == steps_) {
    const double made = at.step - last;
    at.curve.push_back({at.step, at.running[0] / made, at.running[1] / made});
    at.running = {0, 0};
  }
  return update;
}

std::vector<Judged> Trainer::evaluate_batches(int run) {
  std::vector<Judged> all;
  for (int i = 0; i < settings_.integer("evaluate") && !progressed(run).diverged; ++i)
    all.push_back(
        model_.judge(make_texts(settings_, runs_[size_t(run)].seed, "evaluate", std::uint64_t(i), corpus_.get()), run));
  return all;
}

Judged Trainer::evaluate(int run) {
  const std::vector<Judged> batches = evaluate_batches(run);
  Judged all;
  for (const Judged &one : batches)
    all.loss += one.loss / double(batches.size()), all.right += one.right, all.asked += one.asked;
  return all;
}

} // namespace recollect::train
