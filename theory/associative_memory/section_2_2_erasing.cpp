// SPDX-License-Identifier: Apache-2.0
// 000 §2.2 second bullet and Appendix D.1: what DeltaNet's decay I - k k^T erases before a write.
#include "theory/associative_memory/runs.hpp"
#include "theory/support/layer_points.hpp"
#include <cmath>

namespace recollect::theory {
namespace {

using Vector = std::vector<double>;

Output run(const std::string &variant, const Sequence &s) { return forward(find_variant(variant), s); }

Claim similar_keys() {
  const auto measure = [](const Protocol &protocol) {
    std::vector<Point> points;
    const auto place = [](double cosine) { return labels({{"cosine", num(cosine)}, {"d", num(8)}, {"dv", num(4)}}); };
    for (const Params &at : points_of(protocol, {place(0.4), place(0), place(1)})) {
      const int d = at.integer("d"), dv = at.integer("dv");
      const double cosine = at.real("cosine"), sine = std::sqrt(1 - cosine * cosine);
      const Dense S = normal_matrix(dv, d, protocol.seed, "attenuation/S");
      const Vector pair = make_keys({"orthonormal", 2, d}, 1, protocol.seed), k(pair.begin(), pair.begin() + d);
      Vector similar;
      for (int c = 0; c < d; ++c) similar.push_back(cosine * pair[c] + sine * pair[d + c]);
      const auto read_after = [&](double length, double beta) {
        Sequence s;
        s.shape = {1, 1, 1, d, dv};
        for (double x : k) s.k.push_back(length * x);
        s.q = similar, s.v.assign(dv, 0.0), s.beta = {beta}, s.state = S.data;
        return run("delta_net", s).o;
      };
      const Vector before = times(S, similar), at_key = times(S, k), measured = read_after(1, 1);
      const auto less = [&](double share) {
        Vector read = before;
        for (int c = 0; c < dv; ++c) read[c] -= share * at_key[c];
        return read;
      };
      const double units = 16.0 * d * frobenius_norm(S);
      points.push_back(as_statement(exact_point(measured, less(cosine), units), at,
                                    "read at k' after the decay against S k' - cos S k"));
      if (cosine > 0) {
        points.push_back(rival_system(exact_point(read_after(1, 0.5), less(cosine), units), at, "step 1/2"));
        points.push_back(rival_system(exact_point(read_after(1.2, 1), less(cosine), units), at, "a key of norm 1.2"));
      }
      if (cosine > 0 && cosine < 1)
        points.push_back(rival_law(exact_point(measured, less(cosine * cosine), units), at, "cos^2 for cos"));
      if (cosine < 1) points.push_back(rival_law(exact_point(measured, less(1), units), at, "no cos: S k' - S k"));
    }
    return points;
  };
  return running(
      at_parameters(ledger_row("delta-attenuates-similar", "000 §2.2, DeltaNet",
                               "The decay I - k k^T retrieves and attenuates the historical values of similar keys "
                               "before the write.",
                               "For a unit key k the read at a unit k' becomes S k' - cos(k, k') S k: zero at k' = k, "
                               "untouched at a right angle.",
                               measure),
                    {real_param("cosine", 0.4, 0, 1, "of k and k'"), integer_param("d", 8, 2, 64, "key width"),
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
                      rival_law(exact_point(kept, nothing, units), at, "the sum deletes as well"),
                      as_obligation(exact_point(read_at_second("linear", -1, 1), others, units), at,
                                    "Hebbian sum: read at k after (k, -v), the other items' cross-talk")});
    }
    return points;
  };
  return running(
      at_parameters(
          explained(
              ledger_row("delta-deletes", "000 D.1",
                         "The delta rule can both write and delete; plain attention can only write.",
                         "Writing (k, 0) with step 1 and a unit key makes the read at k zero, and in the Hebbian sum "
                         "changes nothing. There (k, -v) is needed: the value must be known.",
                         measure),
              "The sum of outer products ignores exponential kernel and normaliser, as D.1 does."),
          {integer_param("n", 6, 2, 100, "stored pairs"), integer_param("d", 8, 2, 64, "key width"),
           integer_param("dv", 4, 1, 64, "value width")}),
      {"delta_net", "linear"});
}

} // namespace

std::vector<Claim> section_2_2_erasing() { return {similar_keys(), deletion()}; }

} // namespace recollect::theory
