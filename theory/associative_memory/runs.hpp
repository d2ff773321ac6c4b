// SPDX-License-Identifier: Apache-2.0
// Many independent runs of a layer on random keys and values, one a head, and what their last states have in common.
#pragma once
#include "harness/core/registry.hpp"
#include "harness/numerics/inputs.hpp"
#include "harness/numerics/keys.hpp"
#include "harness/numerics/linalg.hpp"
#include "harness/numerics/random.hpp"
#include "harness/pipeline/forward.hpp"
#include "theory/support/sampling.hpp"

namespace recollect::theory {

enum class KeyLaw { unit, gaussian }; // uniform on the unit sphere; N(0, I)
inline const char *name_of(KeyLaw keys) { return keys == KeyLaw::unit ? "unit" : "gaussian"; }

/// A stretch of independent runs: `first` counts those before it, so that any division into stretches gives the same
/// numbers.
struct Stretch {
  std::uint64_t seed;
  std::string stream; // of the random numbers
  size_t first, runs;
  std::vector<double> normals(const std::string &of, size_t per_run) const {
    return Stream(seed, stream + "/" + of).normals(runs * per_run, first * per_run);
  }
};

/// Keys of the law, and standard normal values; queries are the keys.
inline Sequence random_runs(KeyLaw law, int T, int d, int dv, const Stretch &stretch) {
  Sequence s;
  s.shape = {int(stretch.runs), 1, T, d, dv};
  s.k = stretch.normals("keys", size_t(T) * d);
  if (law == KeyLaw::unit) normalise_rows(s.k, d);
  s.q = s.k, s.v = stretch.normals("values", size_t(T) * dv);
  return s;
}

/// f(state) of every run, from a pointer to its state.
template <class F> std::vector<double> each_state(const Output &out, const F &f) {
  std::vector<double> values;
  for (size_t at = 0; at < out.state.size(); at += out.state_shape.size()) values.push_back(f(&out.state[at]));
  return values;
}
inline std::vector<double> state_squares(const Output &out) {
  const int size = int(out.state_shape.size());
  return each_state(out, [size](const double *S) { return inner(S, S, size); });
}

/// Runs that fill a block of 2^16 numbers, T steps of so many each: larger blocks cost page faults.
inline size_t block_of(int T, int numbers_a_step) { return 1 + (size_t(1) << 16) / (size_t(T) * numbers_a_step); }

/// The relative error that a wrong system, which is off by much more, is measured to.
constexpr double rough = 0.1;

/// The mean of draw(stretch), one number a run, over as many runs as notice a relative error of `wanted`, at most `most`.
template <class Draw>
Mean mean_over_runs(std::uint64_t seed, const std::string &stream, double wanted, size_t block, size_t most,
                    const Draw &draw) {
  return sample_mean(wanted, std::min<size_t>(most, 1000), most, in_blocks(block, [&](size_t first, size_t runs) {
                       return draw(Stretch{seed, stream, first, runs});
                     }));
}

} // namespace recollect::theory
