// SPDX-License-Identifier: Apache-2.0
#include "harness/train/trainer.hpp"
#include "harness/system/memory.hpp"
#include <cmath>

namespace recollect::train {

double schedule(int step, int steps, double warmup) {
  const double rising = warmup * steps, passed = step + 1;
  if (passed < rising) return passed / rising;
  return steps > rising ? (1 + std::cos(M_PI * (step - rising) / (steps - rising))) / 2 : 1;
}

bool room_for_another(size_t models, std::optional<std::uint64_t> free_at_first,
                      std::optional<std::uint64_t> free_now) {
  if (models == 0 || !free_at_first || !free_now || *free_now >= *free_at_first) return true;
  return double(*free_now) > 2 * double(*free_at_first - *free_now) / double(models);
}

int solved_length(const Numbers &answers, int letters) {
  if (answers.empty()) return 0; // the model diverged
  // For each position in a word, the number of words for which the answer at this position is right.
  Numbers right(static_cast<size_t>(letters), 0.0);
  for (size_t i = 0; i < answers.size(); ++i) right[i % right.size()] += answers[i];
  const double enough = 0.9 * double(answers.size()) / letters;
  return int(std::find_if(right.begin(), right.end(), [&](double count) { return count < enough; }) - right.begin());
}

Trainer::Trainer(const Setup &setup, std::uint64_t seed)
    : settings_(setup.settings), corpus_(setup.corpus), model_(setup), seed_(seed), steps_(settings_.integer("steps")) {
  const Numbers none(model_.weights().size(), 0.0);
  model_.set({model_.weights().start(seed), none, none});
}

void Trainer::restore(TrainingState state) {
  if (state.parameters.size() != model_.weights().size() || state.first.size() != state.parameters.size() ||
      state.second.size() != state.parameters.size() || state.running.size() != 2 || state.step < 0 ||
      state.step > steps_)
    input_error("the saved state of the training belongs to another model: start it again without --resume");
  model_.set(state);
  at_ = std::move(state);
}

int Trainer::pairs() const {
  const int all = settings_.integer("pairs");
  const double wanted = settings_.real("curriculum");
  if (wanted == 0) return all;
  int pairs = std::min(all, settings_.integer("start"));
  for (const CurvePoint &point : at_.curve)
    if (point.accuracy >= wanted) pairs = std::min(all, 2 * pairs);
  return pairs;
}

Texts Trainer::texts(int step) const {
  Params now = settings_;
  now.set("pairs", pairs());
  const int batches = settings_.integer("batches");
  return make_texts(now, seed_, "train", std::uint64_t(batches ? step % batches : step), corpus_.get());
}

Update Trainer::update(int step) const {
  return {step + 1, settings_.real("lr") * schedule(step, steps_, settings_.real("warmup")), settings_.real("decay"),
          settings_.real("clip")};
}

int Trainer::to_point() const {
  const int every = settings_.integer("every");
  return std::min(steps_ - at_.step, every - at_.step % every);
}

void Trainer::step(int steps) {
  for (const int last = at_.step + steps; at_.step < last && !done(); end())
    begin(std::min({last - at_.step, int(Model::most_begun), to_point()}));
}

void Trainer::begin(int steps) {
  for (const int end = begun_ + steps; begun_ < end && !refused_; ++begun_) {
    try {
      model_.step(texts(at_.step + begun_), update(at_.step + begun_));
    } catch (const OverMemory &) {
      throw;
    } catch (const Error &) { // the mixer throws if numbers are not finite
      refused_ = true;
    }
  }
}

void Trainer::end() {
  for (const Judged &judged : model_.judged())
    if (!at_.diverged) note(judged);
  at_.diverged = at_.diverged || refused_;
  begun_ = 0, refused_ = false;
}

void Trainer::note(const Judged &judged) {
  at_.diverged = !std::isfinite(judged.loss) || !std::isfinite(judged.gradient_square);
  if (at_.diverged) return; // the step did not change the model
  at_.running[0] += judged.loss, at_.running[1] += judged.accuracy();
  const int every = settings_.integer("every"), last = at_.curve.empty() ? 0 : at_.curve.back().step;
  if (++at_.step % every == 0 || at_.step == steps_) {
    const double made = at_.step - last;
    at_.curve.push_back({at_.step, at_.running[0] / made, at_.running[1] / made});
    at_.running = {0, 0};
  }
}

std::vector<Judged> Trainer::evaluate_batches() {
  std::vector<Judged> all;
  for (int i = 0; i < settings_.integer("evaluate") && !at_.diverged; ++i)
    all.push_back(model_.judge(make_texts(settings_, seed_, "evaluate", std::uint64_t(i), corpus_.get())));
  return all;
}

Judged Trainer::evaluate() {
  const std::vector<Judged> batches = evaluate_batches();
  Judged all;
  for (const Judged &one : batches) {
    all.loss += one.loss / double(batches.size()), all.right += one.right, all.asked += one.asked;
    all.answers.insert(all.answers.end(), one.answers.begin(), one.answers.end());
  }
  return all;
}

} // namespace recollect::train
