// SPDX-License-Identifier: Apache-2.0
// The linear kernel in the swap construction of 000 Theorem 1: k = k_a - k_b is a reflection, exact as long as the keys
// are orthonormal, which ends at n = d; the round kernel goes on (000 §3.2, Fig 5 without its training).
#include "harness/core/registry.hpp"
#include "harness/pipeline/forward.hpp"
#include "theory/associative_memory/swaps.hpp"
#include "theory/support/claims.hpp"

namespace recollect::theory {
namespace {

Output run(const std::string &variant, const Sequence &s, const Assignments &kernels) {
  const Variant &v = find_variant(variant);
  return forward(v, s, {"chunked", Real::f64, 64, variant_params(v, kernels)});
}

struct StressRun {
  double round_worst, linear_worst, linear_wrong, units;
};

/// n elements at width d, n exchanges, by the round kernel and by DeltaNet.
StressRun stress(const KeySet &set, std::uint64_t seed, double sign = -1) {
  const Dense keys = key_rows(set, seed);
  const SwapStory story = tell_swaps(keys, set.n, seed, Order::later_minus_earlier, sign);
  const auto by_round = run("delta_former", story.sequence, {{"kappa1", "round"}, {"kappa2", "round"}}).o;
  const auto by_line = run("delta_net", story.sequence, {}).o;
  double norm = 0;
  for (double v : story.values) norm += v * v;
  // Every step is a reflection (or a projected write) of a state of norm |values|: width + 4 roundings each.
  return {worst_read(by_round, story), worst_read(by_line, story), wrong_share(by_line, story, set.n),
          2.0 * set.n * (set.d + 4) * std::sqrt(norm)};
}

std::vector<Point> measure_stress(const Protocol &protocol, double sign) {
  std::vector<Point> points;
  const bool control = sign > 0;
  for (int n : {128, 256}) { // 512 keys at d = 128: packing_optimised_512_128
    const KeySet set{"hadamard", n, 128};
    const StressRun r = stress(set, protocol.seed, sign);
    Params p;
    p.set("keys", set.kind).set("n", n).set("d", set.d);
    points.push_back(at(exact_point(r.round_worst, 0, 0, 0.5), "exact", p.set("kernel", "round")));
    p.set("kernel", "linear");
    if (n <= set.d)
      points.push_back(at(exact_point(r.linear_worst, 0, r.units, 0.5), "exact", p));
    else if (!control)
      points.push_back(at(bounded_point(r.linear_wrong, Point::at_least, 0.5, 0, 0.01), "boundary", p));
  }
  if (control) return points;
  const KeySet few{"unit", 64, 128}; // random keys are not orthonormal even for n < d
  Params p;
  p.set("keys", few.kind).set("n", few.n).set("d", few.d).set("kernel", "linear");
  points.push_back(
      at(bounded_point(stress(few, protocol.seed).linear_wrong, Point::at_least, 0.5, 0, 0.01), "boundary", p));
  return points;
}

/// One exchange of a and b of n orthonormal keys by DeltaNet at write strength beta, on a random state [d,d].
Point one_exchange(const Protocol &protocol, double beta, double sign, bool exchanged) {
  const int d = 6, a = 4, b = 1;
  const Dense keys = key_rows({"orthonormal", d, d}, protocol.seed);
  Sequence s;
  s.shape = {1, 1, 1, d, d};
  for (int c = 0; c < d; ++c) s.k.push_back(keys(a, c) + sign * keys(b, c));
  s.q = s.k, s.v.assign(d, 0.0), s.beta = {beta};
  s.state = Stream(protocol.seed, 41).normals(size_t(d) * d);
  const Dense before = keys * transpose(Dense(d, d, s.state)),
              after = keys * transpose(Dense(d, d, run("delta_net", s, {}).state));
  Dense wanted = before;
  for (int c = 0; c < d; ++c) std::swap(wanted(a, c), wanted(b, c));
  Params p;
  p.set("beta", beta).set("d", d);
  const double error = frobenius_norm(after - wanted), size = frobenius_norm(before);
  return at(exchanged ? exact_point(error, 0, 8 * d * size, 0.1) : bounded_point(error, Point::at_least, 0.1, 0, 0.05),
            exchanged ? "exact" : "boundary", p);
}

std::vector<Point> measure_householder(const Protocol &protocol) {
  const int d = 6;
  const Dense keys = key_rows({"orthonormal", d, d}, protocol.seed);
  std::vector<double> k(d);
  for (int c = 0; c < d; ++c) k[c] = keys(4, c) - keys(1, c);
  const std::vector<double> spectrum = symmetric_eigenvalues(Dense::identity(d) - outer(k, k));
  Params p;
  return {at(exact_point(spectrum[0], -1, 8 * d, 0.1), "exact", p.set("quantity", "eigenvalue along k")),
          at(exact_point(spectrum[1], 1, 8 * d, 0.1), "exact", p.set("quantity", "next eigenvalue")),
          at(exact_point(spectrum[d - 1], 1, 8 * d, 0.1), "exact", p.set("quantity", "largest eigenvalue")),
          one_exchange(protocol, 1, -1, true), one_exchange(protocol, 0.5, -1, false)};
}

} // namespace

std::vector<Claim> swap_linear() {
  Claim stress =
      ledger_row("stress-linear-vs-round", "000 §3.2, Fig 5",
                 "With d fixed at 128, the linear kernel degrades as n grows past d and the round kernel does not.",
                 "Linear is exact exactly for orthonormal keys, so at most n = d; round for coherence below 1/8. With "
                 "random keys linear is wrong even for n < d. "
                 "The paper's curves are of trained models; here the keys are fixed and nothing is trained.",
                 [](const Protocol &p) { return measure_stress(p, -1); });
  stress.variants = {"delta_net", "delta_former"};
  stress.tasks = {"swap"};
  stress.control = [](const Protocol &p) { return measure_stress(p, +1); };

  Claim reflection =
      ledger_row("swap-householder", "000 Theorem 1 with the linear kernel",
                 "In DeltaNet with beta = 1, k_t = k_a - k_b and v_t = 0 exchange two values.",
                 "I - k k^T is a Householder reflection, eigenvalue 1 - beta |k|^2 = -1 along k: it needs beta "
                 "|k|^2 = 2 and orthonormal keys.",
                 measure_householder);
  reflection.variants = {"delta_net"};
  reflection.tasks = {"swap"};
  reflection.control = [](const Protocol &p) { return std::vector<Point>{one_exchange(p, 1, +1, true)}; };
  return {stress, reflection};
}

} // namespace recollect::theory
