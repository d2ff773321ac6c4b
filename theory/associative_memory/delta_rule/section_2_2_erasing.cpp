// SPDX-License-Identifier: Apache-2.0
// 000 §2.2 second bullet and Appendix D.1: what DeltaNet's decay I - k k^T erases before a write.
#include "theory/associative_memory/delta_rule/runs.hpp"

namespace recollect::theory {
namespace {
const ParamSpec key_width = key_width_param(8, 2, 64), value_width = value_width_param(4, 1, 64);

Claim similar_keys() {
  ClaimBuilder c("delta-attenuates-similar", "000 §2.2, DeltaNet");
  c.says("The decay $I - k k^T$ retrieves and attenuates the historical values of similar keys before the write.");
  c.exactly("For a unit key $k$ the read at a unit key k' becomes $S k' - cos(k, k') S k$: zero at $k' = k$, and "
            "unchanged if k' is orthogonal to k.");
  c.runs({"delta_net"}),
      c.takes({real_param("cosine", 0.4, 0.05, 0.95, "cosine of the angle between k and k'"), key_width, value_width});
  return measure(c, [](Points &points, Seed seed, double cosine, int d, int dv) {
    const Dense S = normal_matrix(dv, d, seed, "attenuation/S");
    const Vector pair = make_keys({"orthonormal", 2, d}, 1, seed), k(pair.begin(), pair.begin() + d);
    const auto similar_to = [&](double cosine) {
      Vector similar;
      for (int c = 0; c < d; ++c) similar.push_back(cosine * pair[c] + std::sqrt(1 - cosine * cosine) * pair[d + c]);
      return similar;
    };
    const auto read_after = [&](double cosine, double length, double beta) {
      Sequence s = stored({1, 1, 1, d, dv}, (length * Dense(1, d, k)).data, Vector(dv, 0.0), beta);
      s.q = similar_to(cosine), s.state = S.data;
      return run("delta_net", s).o;
    };
    const auto less = [&](double cosine, double share) { // S k' - share S k
      return (Dense(dv, 1, times(S, similar_to(cosine))) - share * Dense(dv, 1, times(S, k))).data;
    };
    const Vector law = less(cosine, cosine);
    points.rounding(16.0 * d * frobenius_norm(S));
    points.statement("read at k' after the decay against $S k' - cos S k$", read_after(cosine, 1, 1), law)
        .but_not("$cos^2$ in place of $cos$", less(cosine, cosine * cosine))
        .but_not("$S k' - S k$, without cos", less(cosine, 1));
    points.wrong_system("step size $1/2$", read_after(cosine, 1, 0.5), law);
    points.wrong_system("a key of norm 1.2", read_after(cosine, 1.2, 1), law);
    points.obligation("read at a key k' orthogonal to k: $S k'$, unchanged", read_after(0, 1, 1), less(0, 0));
    points.obligation("read at $k' = k$: 0", read_after(1, 1, 1), Vector(dv, 0.0));
  });
}

Claim deletion() {
  ClaimBuilder c("delta-deletes", "000 D.1");
  c.says("The delta rule can both write and delete; plain attention can only write.");
  c.exactly("For a unit key, writing ($k$, 0) with step 1 makes the read at $k$ zero. In the Hebbian sum the same "
            "write changes nothing. To delete from the sum, one must write $(k, -v)$, and for this $v$ must be known.");
  c.because("As in D.1, 'plain attention' is taken as the sum of outer products, without the exponential kernel and "
            "the normaliser.");
  c.runs({"delta_net", "linear"}), c.takes({integer_param("n", 6, 2, 100, "stored pairs"), key_width, value_width});
  return measure(c, [](Points &points, Seed seed, int n, int d, int dv) {
    const Sequence drawn = random_runs(KeyLaw::unit, n + 1, d, dv, {seed, "deletion", 0, 1});
    // n pairs with unit keys, then one more write at the key of the second pair.
    const auto read_at_second = [&](const std::string &variant, double factor, double beta) {
      Sequence s = drawn;
      std::copy_n(&s.k[d], d, &s.k[n * d]);
      for (int c = 0; c < dv; ++c) s.v[n * dv + c] = factor * s.v[dv + c];
      s.q = s.k, s.beta.assign(n + 1, 1.0), s.beta[n] = beta;
      const Vector o = run(variant, s).o;
      return Vector(o.end() - dv, o.end());
    };
    Vector all(dv, 0.0), others(dv, 0.0);
    for (int i = 0; i < n; ++i) {
      const double overlap = inner(&drawn.k[i * d], &drawn.k[d], d);
      for (int c = 0; c < dv; ++c) {
        all[c] += overlap * drawn.v[i * dv + c];
        if (i != 1) others[c] += overlap * drawn.v[i * dv + c];
      }
    }
    const Vector nothing(dv, 0.0), value(&drawn.v[dv], &drawn.v[dv] + dv);
    points.rounding(64.0 * n * d * max_abs(drawn.v));
    points.statement("delta rule: read at k after (k, 0) is written", read_at_second("delta_net", 0, 1), nothing);
    points.wrong_system("step size $1/2$, which leaves half of the value", read_at_second("delta_net", 0, 0.5),
                        nothing);
    points.obligation("delta rule: read at k after (k, v) is written again", read_at_second("delta_net", 1, 1), value);
    points
        .statement("Hebbian sum: read at k after (k, 0) is written, against the read before",
                   read_at_second("linear", 0, 1), all)
        .but_not("zero, as if the sum could delete", nothing);
    points.obligation("Hebbian sum: read at k after $(k, -v)$ is written, against the cross-talk of the other items",
                      read_at_second("linear", -1, 1), others);
  });
}
} // namespace

std::vector<Claim> section_2_2_erasing() { return {similar_keys(), deletion()}; }
} // namespace recollect::theory
