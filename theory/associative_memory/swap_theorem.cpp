// SPDX-License-Identifier: Apache-2.0
// 000 Theorem 1 and Lemma 1: keys of coherence below 1/8 and f = round let the delta rule track swaps for ever.
//
// Values are integers, so with f = round every quantity of Eq 41-42 is an integer and float arithmetic makes no error
// at all: the reads must be right to the last bit, in every form and real type. The theorem's premise is measured on
// the same keys. Control: the same run with k_a + k_b in place of k_a - k_b.
#include "harness/core/registry.hpp"
#include "harness/pipeline/forward.hpp"
#include "theory/associative_memory/swaps.hpp"
#include "theory/support/claims.hpp"

namespace recollect::theory {
namespace {

struct Cell {
  KeySet keys;
  int swaps;
  std::string form;
  Real real;
};

const KeySet leaning{"equicorrelated", 10, 10, 0.12}; // coherence just under 1/8

std::vector<Cell> cells(const Protocol &protocol) {
  std::vector<Cell> all;
  const auto add = [&](const KeySet &keys, int swaps, const std::string &form, Real real) {
    all.push_back({keys, swaps, form, real});
  };
  if (protocol.point) {
    const Params &p = *protocol.point;
    add({p.text("keys"), p.integer("n"), p.integer("d"), p.real("cosine")}, p.integer("swaps"), "chunked", Real::f64);
    return all;
  }
  add({"orthonormal", 5, 5}, 3000, "recurrent", Real::f64);
  for (Real real : {Real::f32, Real::f64}) {
    add(leaning, 3000, "chunked", real);
    add({"hadamard", 256, 128}, 500, "chunked", real);
  }
  if (protocol.full()) add(leaning, 100000, "chunked", Real::f64);
  return all;
}

Output track(const std::string &variant, const SwapStory &story, const Cell &cell) {
  const Variant &v = find_variant(variant);
  const Assignments kernels =
      variant == "delta_former" ? Assignments{{"kappa1", "round"}, {"kappa2", "round"}} : Assignments{};
  return forward(v, story.sequence, {cell.form, cell.real, 64, variant_params(v, kernels)});
}

Params params_of(const Cell &c, const std::string &variant) {
  Params p;
  p.set("variant", variant).set("keys", c.keys.kind).set("n", c.keys.n).set("d", c.keys.d).set("swaps", c.swaps);
  return p.set("form", c.form).set("real", name_of(c.real));
}

Point right_to_the_last_swap(const Cell &cell, std::uint64_t seed, double sign) {
  const SwapStory story = tell_swaps(key_rows(cell.keys, seed), cell.swaps, seed, Order::later_minus_earlier, sign);
  return at(exact_point(worst_read(track("delta_former", story, cell).o, story), 0, 0, 0.5), "exact",
            params_of(cell, "delta_former"));
}

/// Where the premise fails, so does the conclusion: random keys at the sizes of 000 §3.2.
void without_the_premise(const Protocol &protocol, std::vector<Point> &points) {
  const Cell cell{{"unit", 256, 128}, 512, "chunked", Real::f64};
  const Dense keys = key_rows(cell.keys, protocol.seed);
  const SwapStory story = tell_swaps(keys, cell.swaps, protocol.seed);
  Params p = params_of(cell, "delta_former").set("quantity", "coherence");
  points.push_back(at(bounded_point(coherence(keys), Point::at_least, 0.125, 0, 0.01), "boundary", p));
  p.set("quantity", "wrong share");
  points.push_back(at(bounded_point(wrong_share(track("delta_former", story, cell).o, story, cell.keys.n),
                                    Point::at_least, 0.05, 0, 0.01),
                      "boundary", p));
}

/// The linear kernel swaps by reflections: exact for orthonormal keys. Beyond n = d no d columns can hold n free
/// values: the best S leaves |(1 - K K^+) V|, and DeltaNet cannot do better.
void linear_kernel(const Protocol &protocol, std::vector<Point> &points) {
  const int d = 128;
  for (int n : {d, 2 * d}) {
    const Cell cell{{"hadamard", n, d}, 256, "chunked", Real::f64};
    const Dense keys = key_rows(cell.keys, protocol.seed);
    const SwapStory story = tell_swaps(keys, cell.swaps, protocol.seed);
    const Output out = track("delta_net", story, cell);
    Params p = params_of(cell, "delta_net");
    double scale = 0;
    for (double v : story.values) scale += v * v;
    scale = std::sqrt(scale); // the state's norm: each of T reflections of width d may lose (d + 4) units of it
    const double units = (cell.keys.n + cell.swaps) * (d + 4.0) * scale;
    if (cell.keys.n <= d) {
      points.push_back(
          at(exact_point(worst_read(out.o, story), 0, units, 0.5), "exact", p.set("quantity", "worst read")));
      continue;
    }
    const Dense values(cell.keys.n, 1, story.values), reads = keys * Dense(d, 1, out.state);
    const double left = frobenius_norm(values - keys * (pseudo_inverse(keys) * values));
    const double rounding = units * epsilon_of(Real::f64);
    points.push_back(at(bounded_point(frobenius_norm(reads - values), Point::at_least, left, rounding, 0.01 * scale),
                        "boundary", p.set("quantity", "final error against least squares")));
    points.push_back(at(bounded_point(wrong_share(out.o, story, cell.keys.n), Point::at_least, 0.5, 0, 0.01),
                        "boundary", p.set("quantity", "wrong share")));
  }
}

std::vector<Point> measure_swaps(const Protocol &protocol) {
  std::vector<Point> points;
  for (const Cell &cell : cells(protocol)) {
    const double eps = coherence(key_rows(cell.keys, protocol.seed));
    points.push_back(at(bounded_point(eps, Point::at_most, 0.125, 0, 0.01), "premise",
                        params_of(cell, "delta_former").set("quantity", "coherence")));
    points.push_back(right_to_the_last_swap(cell, protocol.seed, -1));
  }
  if (protocol.point) return points;
  without_the_premise(protocol, points);
  linear_kernel(protocol, points);
  return points;
}

std::vector<Point> control_swaps(const Protocol &protocol) {
  std::vector<Point> points;
  for (const Cell &cell : cells({Effort::quick, protocol.seed, protocol.point}))
    points.push_back(right_to_the_last_swap(cell, protocol.seed, +1));
  return points;
}

/// f((k_i - k_j) . k_l) = f(k_i . k_l) - f(k_j . k_l) over every i > j and every l, keys and differences alike.
struct LemmaCount {
  int violations = 0;
  double slack[4] =
      {}; // largest distance of the left argument from the integers 0, 1, -1, 2 that it stands for, over eps
};

LemmaCount count_lemma(const Dense &keys) {
  const int n = keys.rows, d = keys.columns;
  std::vector<std::pair<int, int>> pairs;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j) pairs.emplace_back(i, j);
  Dense all(n + int(pairs.size()), d); // keys, then differences
  for (int l = 0; l < all.rows; ++l)
    for (int c = 0; c < d; ++c)
      all(l, c) = l < n ? keys(l, c) : keys(pairs[l - n].first, c) - keys(pairs[l - n].second, c);
  const Dense gram = all * transpose(all);
  const double eps = coherence(keys);
  LemmaCount count;
  for (size_t p = 0; p < pairs.size(); ++p)
    for (int l = 0; l < all.rows; ++l) {
      const auto [i, j] = pairs[p];
      const auto same = [](int a, int b) { return a == b ? 1 : 0; };
      const int ideal = l < n ? same(i, l) - same(j, l)
                              : same(i, pairs[l - n].first) - same(i, pairs[l - n].second) -
                                    same(j, pairs[l - n].first) + same(j, pairs[l - n].second);
      const double left = gram(n + int(p), l);
      count.violations += std::nearbyint(left) != std::nearbyint(gram(i, l)) - std::nearbyint(gram(j, l));
      double &slack = count.slack[ideal < 0 ? 2 : ideal == 2 ? 3 : ideal];
      slack = std::max(slack, std::fabs(left - ideal) / eps);
    }
  return count;
}

std::vector<Point> measure_lemma(const Protocol &protocol) {
  std::vector<Point> points;
  const double widest[] = {4, 3, 3, 2};
  const char *ideals[] = {"0", "1", "-1", "2"};
  for (const KeySet &set : {KeySet{"hadamard", 140, 128}, KeySet{"equicorrelated", 24, 24, 0.12},
                            KeySet{"equicorrelated", 10, 10, -1 / 9.0}}) {
    const int n = std::min(set.n, 24), d = set.d; // the last ones: of the 140, twelve of either basis
    const Dense whole = key_rows(set, protocol.seed), keys(n, d, {whole.data.end() - size_t(n) * d, whole.data.end()});
    Params p;
    p.set("keys", set.kind).set("n", n).set("d", d);
    const LemmaCount count = count_lemma(keys);
    points.push_back(at(bounded_point(coherence(keys), Point::at_most, 0.125, 0, 0.01), "premise", p));
    points.push_back(at(exact_point(count.violations, 0, 0, 1), "exact", p));
    for (int k = 0; k < 4; ++k) {
      const double rounding =
          8 * d * epsilon_of(Real::f64) / coherence(keys); // an inner product of width d and norms up to sqrt 2
      points.push_back(at(bounded_point(count.slack[k], Point::at_most, widest[k], rounding, 0.1), "exact",
                          p.set("stands_for", ideals[k])));
    }
  }
  return points;
}

std::vector<Point> control_lemma(const Protocol &protocol) {
  Params p;
  p.set("keys", "unit").set("n", 48).set("d", 16);
  return {at(exact_point(count_lemma(key_rows({"unit", 48, 16}, protocol.seed)).violations, 0, 0, 1), "exact", p)};
}

} // namespace

std::vector<Claim> swap_theorem() {
  Claim theorem =
      ledger_row("theorem1-round", "000 Theorem 1, Appendix E.1",
                 "With unit keys of coherence below 1/8 and f = round, the step k_t = k_a - k_b, v_t = 0 "
                 "exchanges the values of a and b, "
                 "however many exchanges went before.",
                 "Every read is exact, as a sum of integers. Without the premise it fails (random keys at d = 128), "
                 "and the linear kernel fails "
                 "beyond n = d, where no state of d columns holds n free values.",
                 measure_swaps);
  theorem.id = "swap_theorem";
  theorem.variants = {"delta_former", "delta_net"};
  theorem.tasks = {"swap"};
  theorem.params = {integer_param("n", 10, 2, 100000, "elements"), integer_param("d", 10, 1, 65536, "key width"),
                    integer_param("swaps", 1000, 1, 1e6, "exchanges"), keys_param("equicorrelated"),
                    real_param("cosine", 0.12, -1, 1, "inner product of equicorrelated keys")};
  theorem.control = control_swaps;

  Claim lemma =
      ledger_row("lemma1", "000 Lemma 1, Appendix E.1.1",
                 "For j < i and every l, f((k_i - k_j) . k_l) = f(k_i . k_l) - f(k_j . k_l).",
                 "Identity for coherence below 1/8. The argument strays from its integer by at most 4 eps at 0, 3 eps "
                 "at +-1 and 2 eps at 2.",
                 measure_lemma);
  lemma.control = control_lemma;
  return {theorem, lemma};
}

} // namespace recollect::theory
