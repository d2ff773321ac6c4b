// SPDX-License-Identifier: Apache-2.0
// The sum of outer products (000 Eq 1, 4, 32): what it stores, and what a read returns.
#include "theory/associative_memory/delta_rule/runs.hpp"

namespace recollect::theory {
namespace {
const std::vector<ParamSpec> sizes{integer_param("T", 20, 2, 128, "pairs stored"), key_width_param(8, 2, 64),
                                   value_width_param(4, 1, 64)};
struct Story {
  Dense keys, values;
};
Story draw(int T, int d, int dv, Seed seed) {
  return {normal_matrix(T, d, seed, "outer products/keys"), normal_matrix(T, dv, seed, "outer products/values")};
}
/// S_t for every t, each from a separate run of the layer. The keys are shifted `late` steps towards later steps.
Vector states_over_time(const Story &story, int late) {
  const int T = story.keys.rows, d = story.keys.columns;
  Vector keys(size_t(late) * d, 0.0), all;
  keys.insert(keys.end(), story.keys.data.begin(), story.keys.data.end() - size_t(late) * d);
  const Sequence s = stored({1, 1, T, d, story.values.columns}, keys, story.values.data);
  for (int t = 1; t <= T; ++t) {
    const Vector state = run("linear", slice_steps(s, 0, t)).state;
    all.insert(all.end(), state.begin(), state.end());
  }
  return all;
}
/// For every t, the sum of the first t - `missing` outer products.
Vector sums_over_time(const Story &story, int missing) {
  const int T = story.keys.rows, d = story.keys.columns, dv = story.values.columns;
  Vector all;
  for (int t = 1; t <= T; ++t) {
    Dense sum(dv, d);
    for (int s = 0; s < t - missing; ++s)
      for (int i = 0; i < dv; ++i)
        for (int j = 0; j < d; ++j) sum(i, j) += story.values(s, i) * story.keys(s, j);
    all.insert(all.end(), sum.data.begin(), sum.data.end());
  }
  return all;
}

Claim eq1_recurrent() {
  ClaimBuilder c("eq1-recurrent", "000 Eq 1, 32; 002 §2");
  c.says("The accumulated outer products obey $S_t = S_{t-1} + v_t k_t^T$.");
  c.exactly("An identity, with $S_0 = 0$.");
  c.runs({"linear"}), c.takes(sizes);
  return measure(c, [](Points &points, Seed seed, int T, int d, int dv) {
    const Story story = draw(T, d, dv, seed);
    const Vector sums = sums_over_time(story, 0);
    points.rounding(sum_units(T, story.keys, story.values));
    points
        .statement("$S_t$ at every t, against the sum of the first t outer products", states_over_time(story, 0), sums)
        .but_not("the last write left out", sums_over_time(story, 1));
    points.wrong_system("every value stored at the key of the step before", states_over_time(story, 1), sums);
  });
}

/// `own` v_i |k_i|^2 + `noise` sum_{j != i} v_j (k_j.k_i) for every i.
Vector split(const Story &story, double own, double noise) {
  Dense gram = story.keys * transpose(story.keys);
  for (int i = 0; i < gram.rows; ++i)
    for (int j = 0; j < gram.columns; ++j) gram(i, j) *= i == j ? own : noise;
  return (gram * story.values).data;
}

Claim eq4_split() {
  ClaimBuilder c("eq4-split", "000 Eq 4, 53; 002 §3");
  c.says("Reading the sum of outer products with a stored key $k_i$ gives its value $v_i$ times $|k_i|^2$, plus the "
         "cross-talk $sum_{j != i} v_j$ ($k_j.k_i$).");
  c.exactly("An identity for every stored key $k_i$.");
  c.runs({"linear", "delta_net"}), c.takes(sizes);
  return measure(c, [](Points &points, Seed seed, int T, int d, int dv) {
    const Story story = draw(T, d, dv, seed);
    const auto reads = [](const char *layer, const Story &x) {
      return reads_after(layer, x.keys, x.values, x.keys).data;
    };
    points.rounding(sum_units(T * d, story.keys, story.values));
    points
        .statement("$S k_i$ at every i, against the value plus the cross-talk", reads("linear", story),
                   split(story, 1, 1))
        .but_not("the cross-talk subtracted", split(story, 1, -1))
        .but_not("the own term counted twice", split(story, 2, 1))
        .but_not("no cross-talk", split(story, 1, 0));
    Story unit = story;
    normalise_rows(unit.keys.data, unit.keys.columns);
    points.wrong_system("the memory of the delta rule", reads("delta_net", unit), split(story, 1, 1));
    Dense noise = unit.keys * transpose(unit.keys); // the cross-talk's weights
    for (int i = 0; i < noise.rows; ++i) noise(i, i) = 0;
    points.obligation("unit keys: the read is the value plus the cross-talk", reads("linear", unit),
                      (story.values + noise * story.values).data);
  });
}
} // namespace

std::vector<Claim> eq_1_outer_products() { return {eq1_recurrent(), eq4_split()}; }
} // namespace recollect::theory
