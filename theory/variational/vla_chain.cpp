// SPDX-License-Identifier: Apache-2.0
// The gradient chain of VLA (004 Proposition 2, Corollaries 1 and 2, Table 2). P_t = J_t ... J_1 is what a run with v
// = 0 makes of the state: S_t^T = P_t S_0^T. One step of a layer that does not normalise has no such bound.
#include "harness/numerics/statistics.hpp"
#include "theory/support/claims.hpp"
#include "theory/variational/vla_steps.hpp"
#include <algorithm>

namespace recollect::theory {
namespace {

constexpr double lambda0 = 0.1;

/// One (key, penalty direction) per step.
struct Directions {
  std::vector<Vector> k, u;
};
Directions random_directions(int d, int T, bool aligned, std::uint64_t seed, std::uint64_t run) {
  Directions x;
  for (int t = 0; t < T; ++t) {
    x.k.push_back(random_unit(d, seed, 141, run * T + t));
    x.u.push_back(aligned ? x.k.back() : random_unit(d, seed, 142, run * T + t));
  }
  return x;
}

struct Chain {
  double largest_step = 0, largest_chain = 0, worst_ceiling = 0; // ceiling: |P_t| over sqrt(det M_t / det M_0)
};
Chain chain_of(const Directions &x, double lambda) {
  const int d = int(x.k[0].size());
  Vla memory(d, 1, lambda);
  double log_determinant = 0;
  Chain c;
  for (size_t t = 0; t < x.k.size(); ++t) {
    memory.step(x.k[t], x.u[t], {0.0});
    log_determinant += std::log(memory.delta);
    const double norm = spectral_norm(memory.chain);
    c.largest_step = std::max(c.largest_step, spectral_norm(vla_jacobian_of(memory.a, x.k[t])));
    c.largest_chain = std::max(c.largest_chain, norm);
    c.worst_ceiling = std::max(c.worst_ceiling, norm / std::exp(log_determinant / 2));
  }
  return c;
}

constexpr double rounding = 1e-12; // T d products of norm <= 2 at float64

Point below(double measured, double bound, const std::string &tier, const Params &label) {
  return at(bounded_point(measured, Point::at_most, bound, rounding, 0.05), tier, label);
}

std::vector<Point> real_runs(const Protocol &p) {
  std::vector<Point> points;
  const double golden = (1 + std::sqrt(5.0)) / 2;
  for (int d : {3, 8}) {
    Chain worst;
    for (int run = 0; run < 8; ++run) {
      const Chain c = chain_of(random_directions(d, 40, false, p.seed, run), lambda0);
      worst.largest_step = std::max(worst.largest_step, c.largest_step),
      worst.largest_chain = std::max(worst.largest_chain, c.largest_chain);
      worst.worst_ceiling = std::max(worst.worst_ceiling, c.worst_ceiling);
    }
    const Params label = labels({{"d", num(d)}, {"runs", num(8)}});
    points.push_back(below(worst.largest_step, 1, "paper", label));
    points.push_back(below(worst.largest_step, golden, "corrected", label));
    points.push_back(below(worst.worst_ceiling, 1, "corrected", label));
  }
  return points;
}

std::vector<Point> adversarial(const Protocol &p) {
  // Greedy: of 24 candidate pairs a step, the one that stretches the chain most. A_t is a true inverse throughout.
  const int d = 4, T = 16;
  Vla memory(d, 1, lambda0);
  double log_determinant = 0, ceiling = 0;
  for (int t = 0; t < T; ++t) {
    Vla best = memory;
    double best_norm = -1;
    for (int candidate = 0; candidate < 24; ++candidate) {
      const Vector k = random_unit(d, p.seed, 143, 24 * t + candidate),
                   u = random_unit(d, p.seed, 144, 24 * t + candidate);
      Vla next = memory;
      next.step(k, u, {0.0});
      const double norm = spectral_norm(next.chain);
      if (norm > best_norm) best_norm = norm, best = next;
    }
    memory = best;
    log_determinant += std::log(memory.delta);
    ceiling = std::max(ceiling, best_norm / std::exp(log_determinant / 2));
  }
  const Params label = labels({{"d", num(d)}, {"T", num(T)}});
  return {below(spectral_norm(memory.chain), 1, "paper", label), below(ceiling, 1, "corrected", label)};
}

std::vector<Point> aligned_chain(const Protocol &p) {
  std::vector<Point> points;
  for (int d : {2, 8}) {
    double chain = 0, step = 0;
    for (int run = 0; run < 8; ++run) {
      const Chain c = chain_of(random_directions(d, 40, true, p.seed, run), lambda0);
      chain = std::max(chain, c.largest_chain), step = std::max(step, c.largest_step);
    }
    points.push_back(below(chain, 1, "exact", labels({{"d", num(d)}, {"chain", txt("from step 1")}})));
    points.push_back(at(bounded_point(step, Point::at_least, 1.001, 0, 0.0005), "boundary",
                        labels({{"d", num(d)}, {"chain", txt("single steps exceed 1")}})));
  }
  return points;
}

/// Two quantities of the aligned case: the larger of n + c over m, at the worst m = sqrt(g / lambda), as a function of
/// g.
double worst_sum(double lambda) {
  double largest = 0;
  for (int i = 1; i <= 400000; ++i) {
    const double g = i / 400000.0 / lambda, m = std::sqrt(g / lambda);
    largest = std::max(largest, m / (1 + g) + g / m);
  }
  return largest;
}

std::vector<Point> aligned_threshold(const Protocol &p) {
  const double golden = (1 + std::sqrt(5.0)) / 2, threshold = std::pow(golden, -5);
  std::vector<Point> points{at(exact_point(threshold, (5 * std::sqrt(5.0) - 11) / 2, 64, 0.001), "exact",
                               labels({{"lambda0*", num(threshold)}}))};
  // The maximum over a grid of spacing h misses the true one by at most its curvature times h^2: far below 1e-6 here.
  points.push_back(
      at(exact_point(worst_sum(threshold), 2, 1e-6 / 2.2e-16, 0.01), "exact", labels({{"lambda0", num(threshold)}})));
  points.push_back(below(worst_sum(lambda0), 2 - 1e-3, "exact", labels({{"lambda0", num(lambda0)}})));
  points.push_back(below(chain_of(random_directions(3, 60, true, p.seed, 5), lambda0).largest_chain, 1, "exact",
                         labels({{"lambda0", num(lambda0)}})));
  return points;
}

/// Hill climbing over T keys in R^3, u = k: one key is moved at a time, kept when the chain grows.
double climbed_chain(double lambda, int T, std::uint64_t seed) {
  const int d = 3, starts = 6, moves = 1500;
  const auto chain = [&](const Vector &x) {
    Vector keys;
    for (int t = 0; t < T; ++t) append_row(keys, unit(Vector(x.begin() + t * d, x.begin() + (t + 1) * d)));
    Vla memory(d, 1, lambda);
    memory.run(keys, keys, Vector(T));
    return spectral_norm(memory.chain);
  };
  double best = 0;
  for (int start = 0; start < starts; ++start) {
    Vector keys = Stream(seed, 145).normals(size_t(T) * d, size_t(start) * T * d);
    double value = chain(keys), size = 0.7;
    for (int move = 0; move < moves; ++move, size *= 0.996) {
      Vector other = keys;
      for (int j = 0; j < d; ++j)
        other[move % T * d + j] += size * Stream(seed, 146).normal((start * moves + move) * d + j);
      const double trial = chain(other);
      if (trial > value) value = trial, keys = other;
    }
    best = std::max(best, value);
  }
  return best;
}

std::vector<Point> aligned_small_lambda(const Protocol &p) {
  return {
      below(climbed_chain(1e-3, 6, p.seed), 1, "paper", labels({{"lambda0", num(1e-3)}, {"d", num(3)}, {"T", num(6)}})),
      below(climbed_chain(lambda0, 6, p.seed), 1, "corrected",
            labels({{"lambda0", num(lambda0)}, {"d", num(3)}, {"T", num(6)}}))};
}

Vector feature_key(int d, double sigma, std::uint64_t seed, std::uint64_t index) {
  Vector k = Stream(seed, 147).normals(d, index * d);
  for (double &x : k) x = elu1(sigma * x);
  return k;
}

std::vector<Point> unnormalised_norms(const Protocol &p) {
  // The paper gives no input distribution: three readings, each against s1^2 + s2^2 = 2 - 2 a.k + |a|^2 |k|^2, s1 s2 =
  // |1 - a.k|.
  std::vector<Point> points;
  const int d = 96;
  struct Reading {
    const char *name;
    double sigma;
    int steps;
  };
  for (const Reading &r : {Reading{"N(0,1), first step", 1, 0}, Reading{"var 1/3, first step", std::sqrt(1.0 / 3), 0},
                           Reading{"N(0,1), after 25 steps", 1, 25}}) {
    Vla memory(d, 1, lambda0, {{"refresh", "0"}}, "vla_unnormalized");
    for (int t = 0; t < r.steps; ++t) memory.update_inverse(unit(feature_key(d, r.sigma, p.seed, t)));
    const Vector k = feature_key(d, r.sigma, p.seed, 1000);
    memory.write(k, {0.0});
    const Vector &a = memory.a;
    const double sum = 2 - 2 * inner(a, k) + inner(a, a) * inner(k, k), product = std::fabs(1 - inner(a, k));
    const double s1 = std::sqrt((sum + std::sqrt(std::max(0.0, sum * sum - 4 * product * product))) / 2),
                 measured = spectral_norm(memory.chain);
    const Params label = labels({{"reading", txt(r.name)}, {"norm", num(measured)}});
    // The inner root cancels: relative accuracy sqrt(eps) where the two values are close.
    points.push_back(at(exact_point(measured / s1, 1, 1e-6 / 2.2e-16, 0.01), "exact", label));
    points.push_back(at(bounded_point(std::fabs(measured - 20.5), Point::at_least, 1, 0, 0.5), "reading", label));
  }
  return points;
}

std::vector<Point> unnormalised_law(const Protocol &p) {
  std::vector<Point> points;
  for (int d : {96, 192, 384}) {
    std::vector<double> norms;
    for (int key = 0; key < 48; ++key) {
      const Vector k = feature_key(d, 1, p.seed, 2000 + key);
      Vla memory(d, 1, lambda0, {{"refresh", "0"}}, "vla_unnormalized");
      memory.S.data = unit(k); // at the first step A = I / lambda0, and k is J^T's top eigenvector
      memory.write(k, {0.0});
      norms.push_back(frobenius_norm(memory.S));
    }
    const Mean measured = mean_of(norms);
    const double m2 = 1.9660; // E (elu + 1)^2 of N(0,1), to four digits
    const auto ratio_to = [&](double printed, double resolution, double bias) {
      return at(sampled_point(measured.mean / printed, 1, measured.standard_error / printed, resolution, bias), "limit",
                labels({{"d", num(d)}, {"over", num(printed)}}));
    };
    if (d == 96) points.push_back(ratio_to(d / lambda0, 1, 0)), points.back().tier = "paper";
    points.push_back(ratio_to(m2 * d / lambda0, 0.5, lambda0 / (m2 * d) + 1e-4)); // exactly m2 d / lambda0 - 1
  }
  return points;
}

} // namespace

std::vector<Claim> vla_chain() {
  Claim law = ledger_row("vla-table2-law-d-over-lambda0", "004 §3.3, §4.2",
                         "Unnormalised, the spectral norm grows as d_h / lambda0.",
                         "Linear in d at the first step, with prefactor m2 = E phi^2: m2 d / lambda0 - 1, not d / "
                         "lambda0, and far from the paper's own 20.5.",
                         unnormalised_law);
  law.expected = Verdict::holds_asymptotically, law.variants = {"vla_unnormalized"};
  std::vector<Claim> claims{
      refuted_row("vla-prop2-real-runs", Scope::paper, "004 Proposition 2, Corollary 2 with Eq 9",
                  "|J_t| = 1 and the chain stays below 1 along actual runs.",
                  "|J_t| lies between 1 and the golden ratio; the chain is bounded by sqrt(det M_t / det M_0), which "
                  "is polynomial in t.",
                  real_runs),
      refuted_row("vla-cor1-adversarial-real", Scope::paper, "004 Corollary 1",
                  "Gradients do not explode through the recurrence.",
                  "They grow under chosen keys with a true inverse A_t, within sqrt(det M_t / det M_0).", adversarial),
      running(ledger_row("vla-table2-unnormalised-20.5", "004 §4.2, Table 2",
                         "At d_h = 96 and lambda0 = 0.1 the unnormalised norm is about 20.5.",
                         "Under-specified: no input distribution is given. The norm follows s1^2 + s2^2 = 2 - 2 a.k + "
                         "|a|^2|k|^2, s1 s2 = |1 - a.k|; none of the readings gives 20.5.",
                         unnormalised_norms),
              {"vla_unnormalized"}),
      law,
      ledger_row(
          "vla-cor1-aligned-u", "004 Corollary 1 (restricted)",
          "With u_t parallel to k_t the chain from step 1 does not expand.",
          "True at unit u = k and lambda0 = 0.1, for the chain from the first step; single steps still exceed 1.",
          aligned_chain),
      ledger_row("vla-cor1-aligned-u-threshold", "004 Corollary 1 (corrected)",
                 "With unit u = k the chain is non-expansive at lambda0 = 0.1.",
                 "n + c <= 2 for every state exactly when lambda0 >= golden^-5 = 0.0902.", aligned_threshold),
      refuted_row(
          "vla-cor1-aligned-u-small-lambda", Scope::boundary, "004 Corollary 1",
          "With u = k the chain stays below 1 for every lambda0.",
          "A search over six keys in three dimensions finds chains well above 1 at lambda0 = 1e-3 and none at 0.1.",
          aligned_small_lambda),
  };
  for (Claim &c : claims)
    if (c.variants.empty()) c.variants = {"vla"};
  return claims;
}

} // namespace recollect::theory
