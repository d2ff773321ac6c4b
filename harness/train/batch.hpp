// SPDX-License-Identifier: Apache-2.0
// What a batch brings to the device and what it leaves to the host, each in one transfer.
#pragma once
#include "harness/device/each_index.hpp"
#include "harness/train/model.hpp"

namespace recollect::train {

/// Where each token stands: those of token i are places[begin[i]] ... places[begin[i + 1] - 1].
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

/// A batch on the device, sent at once.
struct Batch {
  Array<int> tokens, asked, labels; // asked: places of the answers
  Array<int> begin, places;         // of each token
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

/// Sums of squares of 256 numbers each.
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

/// What a batch leaves to the host, which reads it at once.
struct Left {
  size_t answers;
  Array<double> all, losses, right, squares; // [answers] twice, and [blocks] of the gradient's squares
  Left(Arena &arena, size_t count, size_t blocks)
      : answers(count), all(arena.take<double>(2 * count + blocks)), losses(all.data(), count),
        right(all.data() + count, count), squares(all.data() + 2 * count, blocks) {}
  Judged judged() const {
    const std::vector<double> found = download(all);
    Judged judged;
    judged.asked = int(answers);
    for (size_t i = 0; i < answers; ++i)
      judged.loss += found[i] / judged.asked, judged.right += int(found[answers + i]);
    for (size_t i = 2 * answers; i < found.size(); ++i) judged.gradient_square += found[i];
    return judged;
  }
};

} // namespace recollect::train
