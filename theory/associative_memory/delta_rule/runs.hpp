// SPDX-License-Identifier: Apache-2.0
// Many independent runs of a layer on random keys and values, one run per head, and statistics of their last states.
#pragma once
#include "harness/numerics/keys.hpp"
#include "theory/support/measure.hpp"
#include "theory/support/sampling.hpp"
#include "theory/support/stored.hpp"

namespace recollect::theory {
enum class KeyLaw { unit, gaussian }; // unit: uniform on the unit sphere; gaussian: N(0, I)
inline const char *name_of(KeyLaw keys) { return keys == KeyLaw::unit ? "unit" : "gaussian"; }

/// A block of independent runs. `first` is the number of runs in earlier blocks: the random numbers of a run depend on
/// its own index only, however the runs are divided into blocks.
struct Stretch {
  std::uint64_t seed;
  std::string stream; // name of the stream of random numbers
  size_t first, runs;
  Vector normals(const std::string &of, size_t per_run) const {
    return Stream(seed, stream + "/" + of).normals(runs * per_run, first * per_run);
  }
};

/// Random keys [runs,T,d] that follow `law`.
inline Vector random_keys(KeyLaw law, int T, int d, const Stretch &stretch) {
  Vector keys = stretch.normals("keys", size_t(T) * d);
  if (law == KeyLaw::unit) normalise_rows(keys, d);
  return keys;
}
/// Keys that follow `law`, and standard normal values; the queries are equal to the keys.
inline Sequence random_runs(KeyLaw law, int T, int d, int dv, const Stretch &stretch) {
  Sequence s = of_shape({int(stretch.runs), 1, T, d, dv});
  s.k = random_keys(law, T, d, stretch), s.q = s.k;
  s.v = stretch.normals("values", size_t(T) * dv);
  return s;
}
/// Runs of T steps on these keys and values with one write strength; the queries are equal to the keys.
inline Sequence runs_on(const Stretch &stretch, int T, const Vector &keys, const Vector &values, double beta) {
  const size_t rows = stretch.runs * T;
  return stored({int(stretch.runs), 1, T, int(keys.size() / rows), int(values.size() / rows)}, keys, values, beta);
}
/// M k for every key k of `keys` [..,d].
inline Vector mapped(const Dense &M, const Vector &keys) {
  return (Dense(int(keys.size()) / M.columns, M.columns, keys) * transpose(M)).data;
}

/// f(state) of every run; f takes a pointer to the first number of the state.
template <class F> Vector each_state(const Output &out, const F &f) {
  Vector values;
  for (size_t at = 0; at < out.state.size(); at += out.state_shape.size()) values.push_back(f(&out.state[at]));
  return values;
}
/// |S|_F^2 of every run, over `divisor`.
inline Vector state_squares(const Output &out, double divisor = 1) {
  const int size = int(out.state_shape.size());
  return each_state(out, [=](const double *S) { return inner(S, S, size) / divisor; });
}
/// |S - target|_F^2 of every run.
inline Vector squared_errors(const Output &out, const Dense &target) {
  return each_state(out, [&](const double *S) {
    double square = 0;
    for (size_t e = 0; e < target.data.size(); ++e) square += (S[e] - target.data[e]) * (S[e] - target.data[e]);
    return square;
  });
}
/// <S, direction> of every run: the mean over runs measures the mean state along that direction.
inline Vector projections(const Output &out, const Dense &direction) {
  return each_state(out, [&](const double *S) { return inner(S, direction.data.data(), int(direction.data.size())); });
}

/// The mean of draw(stretch), one number per run of T steps, over as many runs as `wanted` needs. With `width` numbers
/// per step, all runs together have at most 1e8 numbers, and a block of runs has about 2^16, because larger blocks are
/// slower (page faults). If draw() also keeps other results, the blocks are drawn one after another.
template <class Draw>
Mean mean_over_runs(Seed seed, const std::string &stream, double wanted, int T, int width, const Draw &draw,
                    bool keeps_others = false) {
  const size_t numbers = size_t(T) * width, most = size_t(1e8) / numbers, block = 1 + (size_t(1) << 16) / numbers;
  const auto runs_of = [&](size_t first, size_t runs) { return draw(Stretch{seed, stream, first, runs}); };
  return sample_mean(wanted, std::min<size_t>(most, 1000), most, Blocks{block, runs_of, keeps_others});
}

/// Stores the pairs and then reads the memory at `queries`: [queries,dv].
inline Dense reads_after(const std::string &variant, const Dense &keys, const Dense &values, const Dense &queries,
                         const Assignments &set = {}) {
  const int T = keys.rows + queries.rows;
  Sequence s = stored({1, 1, T, keys.columns, values.columns}, keys.data, values.data);
  s.q.assign(keys.data.size(), 0.0), s.q.insert(s.q.end(), queries.data.begin(), queries.data.end());
  s.k.resize(s.q.size(), 0.0), s.v.resize(size_t(T) * values.columns, 0.0);
  const Vector o = run(variant, s, set).o;
  return {queries.rows, values.columns, {o.begin() + values.data.size(), o.end()}};
}

/// Bound on the rounding error of a sum of n terms, in units of eps. A term is an element of a value times one or two
/// elements of keys.
inline double sum_units(int n, const Dense &keys, const Dense &values) {
  return 4.0 * n * std::max(1.0, max_abs(keys.data)) * max_abs(keys.data) * max_abs(values.data);
}
} // namespace recollect::theory
