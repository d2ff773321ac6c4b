// SPDX-License-Identifier: Apache-2.0
// What delta_former must keep of its past steps (000 E.2): keys and u, for any number of grouped lookups.
#include "theory/associative_memory/deltaformer/delta_former_writes.hpp"

namespace recollect::theory {
namespace {
/// What delta_former must keep of its past for later steps, tested by a second run. The second run writes the pairs
/// (k_i, u_i) of the past in steps with beta = 0 and v = u_i. If the two runs then have the same reads, later reads do
/// not need the past w.
struct HandOver {
  int T, d, dv, cut, groups;
  Dense k, w, v, q;
  HandOver(int T, int d, int dv, int groups, std::uint64_t seed)
      : T(T), d(d), dv(dv), cut(T / 2), groups(groups), k(normal_matrix(T, d, seed, "cache/keys")),
        w(normal_matrix(T, d, seed, "cache/lookups")), v(normal_matrix(T, dv, seed, "cache/values")),
        q(normal_matrix(T, d, seed, "cache/queries")) {
    for (Dense *rows : {&k, &w, &q}) normalise_rows(rows->data, d);
    w = 0.25 * w; // the four groups look up at j w, and j |w| <= 1
  }
  Assignments settings(int G) const {
    return {{"kappa1", "exp"}, {"kappa2", "softmax"}, {"groups", std::to_string(G)}};
  }
  Vector later_reads(const Dense &keys, const Dense &values, const Dense &lookups, bool past_written) const {
    Sequence s = of_shape({1, 1, T, d, dv});
    s.k = keys.data, s.q = q.data, s.v = values.data, s.w = lookups.data;
    s.alpha.assign(T, 1.0), s.beta.assign(T, 1.0);
    for (int t = 0; t < cut && past_written; ++t) s.beta[t] = 0;
    const Vector o = run("delta_former", s, settings(groups)).o;
    return {o.begin() + size_t(cut) * dv, o.end()};
  }
  Vector whole_run() const { return later_reads(k, v, w, false); }
  /// The cache: k_i and u_i of the past steps, where u is computed with G groups. It does not hold the past w.
  struct Cache {
    Dense k, u;
  };
  Cache cache(int G) const {
    DeltaFormerRun run{"exp"};
    run.more = {{"groups", std::to_string(G)}};
    return {k, written(k, w, v, run)};
  }
  Vector from(const Cache &held) const {
    Dense keys = held.k, values = v, lookups = w;
    for (int t = 0; t < cut; ++t) {
      for (int c = 0; c < dv; ++c) values(t, c) = held.u(t, c);
      for (int c = 0; c < d; ++c) lookups(t, c) = 0;
    }
    return later_reads(keys, values, lookups, true);
  }
  /// The number of values in the cache on which later reads depend. Each value is changed alone; it counts if a later
  /// read changes.
  int numbers_in_use() const {
    const Cache held = cache(groups);
    const Vector reads = from(held);
    int used = 0;
    for (Dense Cache::*part : {&Cache::k, &Cache::u})
      for (int i = 0; i < cut * (held.*part).columns; ++i) {
        Cache other = held;
        (other.*part).data[i] += 0.5;
        used += from(other) != reads;
      }
    return used;
  }
};

Claim same_cache() {
  ClaimBuilder c("gqa-same-cache", "000 E.2");
  c.says("Grouped lookups $w^1 ... w^G$ can improve performance without enlarging the cache of keys and $u$.");
  c.exactly("Later reads depend on $t (d_k + d_v)$ numbers from $t$ past steps, namely $k_i$ and $u_i$, whatever $G$ "
            "is. They do not depend on any past $w_i$.");
  c.runs({"delta_former"});
  c.takes({integer_param("T", 16, 4, 64, "steps; half of them are in the past"), key_width_param(6, 2, 64),
           value_width_param(3, 1, 64)});
  return measure(c, [](Points &points, Seed seed, int T, int d, int dv) {
    for (int groups : {1, 4}) {
      const HandOver run(T, d, dv, groups, seed);
      const Vector whole = run.whole_run();
      const double past = run.cut;
      points.at({{"T", T}, {"d", d}, {"dv", dv}, {"G", groups}}).rounding(0);
      auto numbers = points
                         .statement("numbers of the past on which later reads depend: $t (d_k + d_v)$",
                                    run.numbers_in_use(), past * (d + dv))
                         .but_not("$t (2 d_k + d_v)$, as if w were cached too", past * (2 * d + dv));
      if (groups > 1)
        numbers.but_not("$t (G d_k + d_v)$, as if there were a key for each group", past * (groups * d + dv));
      points.rounding(1e4 * T * max_abs(whole)); // with G = 4, a sum has weights of up to 60
      points.obligation("later reads from the cache alone, against those of the whole run", run.from(run.cache(groups)),
                        whole);
      HandOver::Cache other = run.cache(groups);
      other.u = run.v; // as if nothing had been erased
      points.wrong_system("v cached in place of u", run.from(other), whole);
    }
  });
}
} // namespace

std::vector<Claim> lookup_cache() { return {same_cache()}; }
} // namespace recollect::theory
