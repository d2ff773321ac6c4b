// SPDX-License-Identifier: Apache-2.0
#include "harness/train/trainer.hpp"
#include "harness/core/error.hpp"
#include <cmath>
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

Trainer::Trainer(const Setup &setup, std::uint64_t seed)
    : settings_(setup.settings), model_(setup), seed_(seed), steps_(settings_.integer("steps")),
      decays_(model_.weights().size()) {
  state_.parameters = model_.weights().start(seed);
  state_.first.assign(state_.parameters.size(), 0.0), state_.second = state_.first;
  for (const auto &[name, part] : model_.weights().parts())
    std::fill_n(decays_.begin() + std::ptrdiff_t(part.offset), part.size, char(part.decays));
}

void Trainer::restore(TrainingState state) {
  const size_t size = state_.parameters.size();
  if (state.parameters.size() != size || state.first.size() != size || state.second.size() != size ||
      state.running.size() != 2 || state.step < 0 || state.step > steps_)
    input_error("what was kept of the training is of another model: start it anew, without --resume");
  state_ = std::move(state);
}

int Trainer::pairs() const {
  const int all = settings_.integer("pairs");
  const double wanted = settings_.real("curriculum");
  if (wanted == 0) return all;
  int pairs = std::min(all, settings_.integer("start"));
  for (const CurvePoint &point : state_.curve)
    if (point.accuracy >= wanted) pairs = std::min(all, 2 * pairs);
  return pairs;
}

void Trainer::step() {
  Params now = settings_;
  now.set("pairs", pairs());
  Numbers gradient;
  Judged judged;
  try {
    judged = model_.run(state_.parameters, make_texts(now, seed_, "train", std::uint64_t(state_.step)), &gradient);
  } catch (const Error &) { // the mixer refuses numbers that are not finite
    judged.loss = std::nan("");
  }
  double square = 0;
  for (double g : gradient) square += g * g;
  if (!std::isfinite(judged.loss) || !std::isfinite(square)) {
    state_.diverged = true;
    return;
  }
  const double norm = std::sqrt(square), clip = settings_.real("clip");
  if (clip > 0 && norm > clip)
    for (double &g : gradient) g *= clip / norm;
  update(gradient);
  state_.running[0] += judged.loss, state_.running[1] += judged.accuracy();
  const int every = settings_.integer("every"), last = state_.curve.empty() ? 0 : state_.curve.back().step;
  if (++state_.step % every == 0 || state_.step == steps_) {
    const double made = state_.step - last;
    state_.curve.push_back({state_.step, state_.running[0] / made, state_.running[1] / made});
    state_.running = {0, 0};
  }
}

void Trainer::update(Numbers &gradient) {
  constexpr double beta1 = 0.9, beta2 = 0.999, small = 1e-8;
  const double rate = settings_.real("lr") * schedule(state_.step, steps_, settings_.real("warmup")),
               decay = rate * settings_.real("decay"), count = state_.step + 1.0;
  const double whole1 = 1 - std::pow(beta1, count), whole2 = 1 - std::pow(beta2, count);
  for (size_t i = 0; i < gradient.size(); ++i) {
    double &m = state_.first[i], &v = state_.second[i], &w = state_.parameters[i];
    m = beta1 * m + (1 - beta1) * gradient[i], v = beta2 * v + (1 - beta2) * gradient[i] * gradient[i];
    if (decays_[i]) w -= decay * w;
    w -= rate * (m / whole1) / (std::sqrt(v / whole2) + small);
  }
}

std::vector<Judged> Trainer::evaluate_batches() const {
  std::vector<Judged> all;
  for (int i = 0; i < settings_.integer("evaluate") && !state_.diverged; ++i)
    all.push_back(model_.run(state_.parameters, make_texts(settings_, seed_, "evaluate", std::uint64_t(i))));
  return all;
}

Judged Trainer::evaluate() const {
  const std::vector<Judged> batches = evaluate_batches();
  Judged all;
  for (const Judged &one : batches)
    all.loss += one.loss / double(batches.size()), all.right += one.right, all.asked += one.asked;
  return all;
}

} // namespace recollect::train
