// SPDX-License-Identifier: Apache-2.0
#include "harness/check/samples.hpp"
#include "harness/core/error.hpp"
#include "harness/core/text.hpp"
#include "harness/numerics/inputs.hpp"
#include "harness/numerics/random.hpp"
#include <algorithm>
#include <cmath>

namespace recollect {
namespace {

void make_tiny(std::vector<double> &gates, size_t width, const Stream &draw) {
  for (size_t i = 0; i < gates.size(); ++i)
    if (i / width % 4 == 0) gates[i] = std::pow(10, -6 * draw.uniform(i));
}

} // namespace

const std::vector<std::string> &sample_kinds() {
  static const std::vector<std::string> kinds{"random", "ragged", "tiny-gates", "repeated-keys", "long", "large-norm"};
  return kinds;
}

Sequence sample(const Variant &variant, Shape shape, const std::string &kind, std::uint64_t seed) {
  if (std::find(sample_kinds().begin(), sample_kinds().end(), kind) == sample_kinds().end())
    usage_error("unknown kind of sample '" + kind + "'" + suggestion(kind, sample_kinds()));
  if (kind == "ragged" && shape.T % 8 == 0) --shape.T;
  if (kind == "long") shape.T *= 16;
  Sequence s = random_sequence(shape, seed, kind == "repeated-keys" ? Keys::repeated : Keys::unit);
  if (kind == "tiny-gates") {
    make_tiny(s.alpha, 1, Stream(seed, "sample/alpha"));
    make_tiny(s.lambda, size_t(shape.Dk), Stream(seed, "sample/lambda"));
  }
  if (kind == "large-norm")
    for (auto *array : {&s.q, &s.k})
      for (double &x : *array) x *= std::sqrt(double(shape.Dk));
  for (const char *name : {"beta", "alpha", "lambda", "w"}) {
    const auto called = [&](const Input &input) { return input.name == name; };
    if (std::none_of(variant.inputs.begin(), variant.inputs.end(), called)) s.input(name).clear();
  }
  return s;
}

} // namespace recollect
