// SPDX-License-Identifier: Apache-2.0
// DeltaNet's error after T steps from S_0 = 0, measured over many runs against its exact law (delta_paths.hpp).
#pragma once
#include "theory/associative_memory/delta_paths.hpp"
#include "theory/support/claims.hpp"

namespace recollect::theory {

inline Params place(const DeltaPaths &law, int T, const std::string &quantity) {
  return labels({{"keys", txt(name_of(law.keys))},
                 {"d", num(law.d)},
                 {"dv", num(law.dv)},
                 {"beta", num(law.beta)},
                 {"noise", num(law.noise)},
                 {"T", num(T)},
                 {"quantity", txt(quantity)}});
}

inline Dense random_target(const DeltaPaths &law, std::uint64_t seed) {
  return Dense(law.dv, law.d, Stream(seed, 145).normals(law.dv * law.d));
}

/// Mean of |S_T - S*|^2, S_0 = 0, against its law.
inline Point square_point(const DeltaPaths &law, int runs, int T, std::uint64_t seed, const std::string &tier,
                          double resolution = 0.3) {
  const Dense target = random_target(law, seed);
  const double start = std::pow(frobenius_norm(target), 2), expected = law.square_after(T, start);
  const Mean mean = mean_of(squared_errors(final_states(draw_paths(law, runs, T, target, seed)), target));
  return at(sampled_point(mean.mean, expected, mean.standard_error, resolution * expected), tier,
            place(law, T, "mean of |S - S*|^2"));
}

/// Every run ends at S*: by Markov's inequality |S_T - S*|^2 > 1e10 f^T |S*|^2 has probability below 1e-10 a run.
inline Point arrival_point(const DeltaPaths &law, int runs, int T, std::uint64_t seed) {
  const Dense target = random_target(law, seed);
  const double bound = std::sqrt(1e10 * runs * std::pow(law.factor(), T)), start = frobenius_norm(target);
  const double worst =
      std::sqrt(max_abs(squared_errors(final_states(draw_paths(law, runs, T, target, seed)), target))) / start;
  return at(bounded_point(worst, Point::at_most, bound, 0, 1e-3), "exact",
            place(law, T, "largest |S - S*| / |S*| of all runs"));
}

} // namespace recollect::theory
