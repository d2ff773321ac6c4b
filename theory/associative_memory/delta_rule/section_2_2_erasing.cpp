// SPDX-License-Identifier: Apache-2.0
// 000 §2.2 second bullet and Appendix D.1: what DeltaNet's decay I - k k^T erases before a write.
#include "theory/associative_memory/delta_rule/runs.hpp"
#include "theory/support/layer_points.hpp"
#include <cmath>

namespace recollect::theory {
namespace {

using Vector = std::vector<double>;

Output run(const std::string &variant, const Sequence &s) { return forward(find_variant(variant), s); }

Claim similar_keys() {
  const auto measure = [](const Protocol &protocol) {
    std::vector<Point> points;
    for (const Params &at : points_of(protocol, {labels({{"cosine", num(0.4)}, {"d", num(8)}, {"dv", num(4)}})})) {
      const int d = at.integer("d"), dv = at.integer("dv");
      const Dense S = normal_matrix(dv, d, protocol.seed, "attenuation/S");
      const Vector pair = make_keys({"orthonormal", 2, d}, 1, protocol.seed), k(pair.begin(), pair.begin() + d);
      const auto similar_to = [&](double cosine) {
        Vector similar;
        for (int c = 0; c < d; ++c) similar.push_back(cosine * pair[c] + std::sqrt(1 - cosine * cosine) * pair[d + c]);
        return similar;
      };
      const auto read_after = [&](double cosine, double length, double beta) {
        Sequence s;
        s.shape = {1, 1, 1, d, dv};
        for (double x : k) s.k.push_back(length * x);
        s.q = similar_to(cosine), s.v.assign(dv, 0.0), s.beta = {beta}, s.state = S.data;
        return run("delta_net", s).o;
      };
      const auto less = [&](double cosine, double share) { // S k' - share S k
        return (Dense(dv, 1, times(S, similar_to(cosine))) - share * Dense(dv, 1, times(S, k))).data;
      };
      const double cosine = at.real("cosine"), units = 16.0 * d * frobenius_norm(S);
      const Vector measured = read_after(cosine, 1, 1), expected = less(cosine, cosine);
      append(points, {as_statement(exact_point(measured, expected, units), at,
                                   "read at k' after the decay against S k' - cos S k"),
                      rival_system(exact_point(read_after(cosine, 1, 0.5), expected, units), at, "step 1/2"),
                      rival_system(exact_point(read_after(cosine, 1.2, 1), expected, units), at, "a key of norm 1.2"),
                      rival_law(measured, at, "cos^2 for cos", less(cosine, cosine * cosine), units),
                      rival_law(measured, at, "no cos: S k' - S k", less(cosine, 1), units),
                      as_obligation(exact_point(read_after(0, 1, 1), less(0, 0), units), at, "at a right angle: S k'"),
                      as_obligation(exact_point(read_after(1, 1, 1), Vector(dv, 0.0), units), at, "at k itself: 0")});
    }
    return points;
  };
  return running(
      at_parameters(
          ledger_row("delta-attenuates-similar", "000 §2.2, DeltaNet",
                     "The decay $I - k k^T$ retrieves and attenuates the historical values of similar keys "
                     "before the write.",
                     "For a unit key $k$ the read at a unit k' becomes $S k' - cos(k, k') S k$: zero at $k' = k$, "
                     "untouched at a right angle.",
                     measure),
          {real_param("cosine", 0.4, 0.05, 0.95, "of k and k'"), integer_param("d", 8, 2, 64, "key width"),
           integer_param("dv", 4, 1, 64, "value width")}),
      {"delta_net"});
}

Claim deletion() {
  const auto measure = [](const Protocol &protocol) {
    std::vector<Point> points;
    for (const Params &at : points_of(protocol, {labels({{"n", num(6)}, {"d", num(8)}, {"dv", num(4)}})})) {
      const int n = at.integer("n"), d = at.integer("d"), dv = at.integer("dv");
      // n unit pairs, then a last write at the key of the second.
      const auto read_at_second = [&](const std::string &variant, double factor, double beta) {
        Sequence s = random_runs(KeyLaw::unit, n + 1, d, dv, {protocol.seed, "deletion", 0, 1});
        std::copy_n(&s.k[d], d, &s.k[n * d]);
        for (int c = 0; c < dv; ++c) s.v[n * dv + c] = factor * s.v[dv + c];
        s.q = s.k, s.beta.assign(n + 1, 1.0), s.beta[n] = beta;
        const Vector o = run(variant, s).o;
        return Vector(o.end() - dv, o.end());
      };
      const Sequence s = random_runs(KeyLaw::unit, n + 1, d, dv, {protocol.seed, "deletion", 0, 1});
      Vector all(dv, 0.0), others(dv, 0.0);
      for (int i = 0; i < n; ++i) {
        const double overlap = inner(&s.k[i * d], &s.k[d], d);
        for (int c = 0; c < dv; ++c) {
          all[c] += overlap * s.v[i * dv + c];
          if (i != 1) others[c] += overlap * s.v[i * dv + c];
        }
      }
      const double units = 64.0 * n * d * max_abs(s.v);
      const Vector nothing(dv, 0.0), value(&s.v[dv], &s.v[dv] + dv), kept = read_at_second("linear", 0, 1);
      append(points, {as_statement(exact_point(read_at_second("delta_net", 0, 1), nothing, units), at,
                                   "delta rule: read at k after (k, 0) is written"),
                      rival_system(exact_point(read_at_second("delta_net", 0, 0.5), nothing, units), at,
                                   "step 1/2 leaves half"),
                      as_obligation(exact_point(read_at_second("delta_net", 1, 1), value, units), at,
                                    "delta rule: read at k after (k, v) is written again"),
                      as_statement(exact_point(kept, all, units), at,
                                   "Hebbian sum: read at k after (k, 0), against the read before"),
                      rival_law(kept, at, "the sum deletes as well", nothing, units),
                      as_obligation(exact_point(read_at_second("linear", -1, 1), others, units), at,
                                    "Hebbian sum: read at k after (k, -v), the other items' cross-talk")});
    }
    return points;
  };
  return running(
      at_parameters(
          explained(
              ledger_row(
                  "delta-deletes", "000 D.1",
                  "The delta rule can both write and delete; plain attention can only write.",
                  "Writing ($k$, 0) with step 1 and a unit key makes the read at $k$ zero, and in the Hebbian sum "
                  "changes nothing. There $(k, -v)$ is needed: the value must be known.",
                  measure),
              "The sum of outer products ignores exponential kernel and normaliser, as D.1 does."),
          {integer_param("n", 6, 2, 100, "stored pairs"), integer_param("d", 8, 2, 64, "key width"),
           integer_param("dv", 4, 1, 64, "value width")}),
      {"delta_net", "linear"});
}

} // namespace

std::vector<Claim> section_2_2_erasing() { return {similar_keys(), deletion()}; }

} // namespace recollect::theory
