// SPDX-License-Identifier: Apache-2.0
// The data of a batch, which are sent to the device in one transfer, and its results, which stay on the device.
#pragma once
#include "harness/device/each_index.hpp"
#include "harness/train/network/model.hpp"

namespace recollect::train {

/// The positions in a batch at which each token of the vocabulary occurs. For token i these are places[begin[i]] ...
/// places[begin[i + 1] - 1].
struct Places {
  std::vector<int> begin, places;
  Places(const std::vector<int> &tokens, int vocabulary)
      : begin(static_cast<size_t>(vocabulary) + 1), places(tokens.size()) {
    for (int token : tokens) ++begin[size_t(token) + 1];
    for (size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
    std::vector<int> next = begin;
    for (size_t i = 0; i < tokens.size(); ++i) places[size_t(next[size_t(tokens[i])]++)] = int(i);
  }
};

/// A batch on the device.
struct Batch {
  Array<int> tokens, asked, labels; // asked: positions at which an answer is asked; labels: the right answer at each
  Array<int> begin, places;         // as in Places
  Batch(Arena &arena, const Texts &texts, int vocabulary) {
    std::vector<int> all = texts.tokens, answers;
    for (size_t i = 0; i < texts.labels.size(); ++i)
      if (texts.labels[i] >= 0) all.push_back(int(i)), answers.push_back(texts.labels[i]);
    const Places found(texts.tokens, vocabulary);
    const auto add = [&all](const std::vector<int> &more) { all.insert(all.end(), more.begin(), more.end()); };
    add(answers), add(found.begin), add(found.places);
    const Array<int> sent = arena.take<int>(all.size());
    copy(sent, Kokkos::View<const int *, Kokkos::HostSpace>(all.data(), all.size()));
    size_t used = 0;
    const auto next = [&](size_t count) { return Array<int>(sent.data() + (used += count) - count, count); };
    tokens = next(texts.tokens.size()), asked = next(answers.size()), labels = next(answers.size());
    begin = next(found.begin.size()), places = next(found.places.size());
  }
};

/// Computes sums[b], the sum of the squares of numbers[256 b] ... numbers[256 b + 255].
template <class Real> struct Squares {
  static constexpr int block = 256;
  static size_t blocks(size_t numbers) { return (numbers + block - 1) / block; }
  Array<Real> numbers;
  Array<double> sums;
  KOKKOS_FUNCTION void operator()(int b, int first, int side) const {
    double sum = 0;
    for (size_t i = size_t(b) * block + size_t(first), end = size_t(b + 1) * block; i < end; i += size_t(side))
      if (i < numbers.extent(0)) sum += double(numbers[i]) * double(numbers[i]);
    sum = across_row(sum, [](double x, double y) { return x + y; });
    if (first == 0) sums[size_t(b)] = sum;
  }
};

/// Results of a batch, which stay on the device until the next batch.
struct Left {
  int answers;
  // losses: cross-entropy of each answer; right: 1 for a right answer, 0 for a wrong one; squares: Squares::sums of the
  // gradient
  Array<double> losses, right, squares;
  Left(Arena &arena, size_t count, size_t blocks)
      : answers(int(count)), losses(arena.take<double>(count)), right(arena.take<double>(count)),
        squares(arena.take<double>(blocks)) {}
};

/// Computes `sums` [3] of the batch: mean loss, number of right answers, squared norm of the gradient.
struct SumUp {
  using Real = double;
  Left left;
  Array<double> sums;
  KOKKOS_FUNCTION void operator()(const Team &team, size_t, double *) const {
    const auto plus = [](double a, double b) { return a + b; };
    const Left all = left;
    double *const to = sums.data();
    const double loss = reduce(
                     team, all.answers, 0.0, [=](int i) { return all.losses[size_t(i)] / all.answers; }, plus),
                 right = reduce(
                     team, all.answers, 0.0, [=](int i) { return all.right[size_t(i)]; }, plus),
                 square = reduce(
                     team, int(all.squares.extent(0)), 0.0, [=](int i) { return all.squares[size_t(i)]; }, plus);
    once(team, [=] { to[0] = loss, to[1] = right, to[2] = square; });
  }
};
/// The results of a batch with `answers` answers. `sums` [3] are those of SumUp, copied to the host.
inline Judged judged(const double *sums, int answers) { return {sums[0], int(sums[1]), answers, sums[2], {}}; }

} // namespace recollect::train
