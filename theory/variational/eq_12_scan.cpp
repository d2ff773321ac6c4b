// SPDX-License-Identifier: Apache-2.0
// 004 §3.4, Eq 12, Algorithm 2, the parallel form: whether the composition of its maps is associative, whether its
// recurrence equals Eq 10, and what the scan costs.
#include "theory/support/counted_layers.hpp"
#include "theory/variational/associations.hpp"

namespace recollect::theory {
namespace {
struct Affine { // S -> F S + G
  Dense F, G;
};
Vector entries(const Affine &x) {
  Vector all = x.F.data;
  append_row(all, x.G.data);
  return all;
}

/// Bound on the rounding error of products of three d x d matrices, in units of eps.
double units_of(const Affine &a, const Affine &b, const Affine &c) {
  const auto size = [](const Affine &x) { return frobenius_norm(x.F) + frobenius_norm(x.G) + 1; };
  return 16.0 * a.F.rows * size(a) * size(b) * size(c);
}

Claim associative() {
  ClaimBuilder c("vla-scan-composition-associative", "004 §3.4, Algorithm 2");
  c.says("The composition of pairs ($F$, $G$) is associative: $(F_r, G_r) o (F_l, G_l) = (F_r F_l, F_r G_l + G_r)$.");
  c.exactly("This is the composition of affine maps $S -> F S + G$, in which $F$ acts on $S$ from the left.");
  c.takes({integer_param("d", 6, 2, 64, "width")});
  return measure(c, [](Points &points, Seed seed, int d) {
    const auto element = [&](const std::string &i) {
      return Affine{normal_matrix(d, d, seed, "composition/F " + i), normal_matrix(d, d, seed, "composition/G " + i)};
    };
    const Affine a = element("1"), b = element("2"), c = element("3");
    const auto printed = [](const Affine &r, const Affine &l) { return Affine{r.F * l.F, r.F * l.G + r.G}; };
    const auto additive = [](const Affine &r, const Affine &l) { return Affine{r.F * l.F, r.F * l.G + l.G}; };
    const auto exchanged = [](const Affine &r, const Affine &l) { return Affine{r.F * l.F, l.F * r.G + r.G}; };
    // The composition of three maps, with either bracketing.
    const auto left = [&](const auto &o) { return entries(o(o(c, b), a)); };
    const auto right = [&](const auto &o) { return entries(o(c, o(b, a))); };
    const Dense S = normal_matrix(d, d, seed, "composition/S");
    const auto applied = [&](const Affine &x, const Dense &S) { return x.F * S + x.G; };
    const Vector steps = applied(c, applied(b, applied(a, S))).data, whole = applied(printed(printed(c, b), a), S).data;
    points.rounding(units_of(a, b, c))
        .statement("associative: $(F_r F_l, F_r G_l + G_r)$", left(printed), right(printed));
    points.wrong_system("associative: $(F_r F_l, F_r G_l + G_l)$", left(additive), right(additive));
    points.wrong_system("associative: $(F_r F_l, F_l G_r + G_r)$", left(exchanged), right(exchanged));
    points.rounding(units_of(a, b, c) * max_abs(S.data))
        .obligation("the composition of pairs composes the maps $S -> F S + G$", whole, steps);
    points.wrong_system("pairs composed in the opposite order", applied(printed(printed(a, b), c), S).data, steps);
  });
}

struct Step {
  Vector k, a, v, e; // key, the layer's write direction, value, residual
};
/// A run of the layer on unit keys and penalty directions, and the state after every step.
struct Story {
  std::vector<Step> steps;
  Vector states; // S_1 ... S_T
  Story(int T, int d, double lambda0, Seed seed) {
    const Pairs x = unit_pairs(T, d, d, seed, "scan");
    const Dense U = unit_pairs(T, d, d, seed, "scan, penalties").K;
    Vla memory(d, d, lambda0);
    for (int t = 0; t < T; ++t) {
      const Vector e = combine(1, x.v(t), -1, times(memory.S, x.k(t)));
      memory.step(x.k(t), row(U.data, t, d), x.v(t));
      steps.push_back({x.k(t), memory.a, x.v(t), e});
      append_row(states, memory.S.data);
    }
  }
};

Claim recurrence() {
  ClaimBuilder c("vla-scan-eq12-recurrence", "004 Eq 12, Algorithm 2");
  c.says("$S_t = F_t S_{t-1} + G_t$ with $F_t = I - a_t k_t^T$ and $G_t = e_t a_t^T$ is the recurrence of Eq 10, and a "
         "scan can compute it from $k$, $a$ and $v$ that were computed beforehand.");
  c.exactly(
      "$F$ is on the wrong side of $S$. $G$ contains the residual $e_t = v_t - S_{t-1} k_t$, so it needs $S_{t-1}$, "
      "and the read $S_{t-1} k_t$ is subtracted twice. The right form is $S_t = S_{t-1} (I - k_t a_t^T) + v_t a_t^T$.");
  c.because("With $F^T$ on the right of $S$, and with $v$ instead of $e$ in $G$, the scan is right. Algorithm 2 does "
            "list $v$, $k$ and $a$ as its inputs.");
  c.is_refuted(asserted(
      "Eq 12 and Algorithm 2: $S_t = F_t S_{t-1} + G_t$, $G_t = e_t a_t^T$.", "none",
      "Algorithm 2 repeats Eq 12, with $v_t$ among its inputs.",
      "In our notation $S$ is transposed, and Algorithm 2 takes $v_t$, not $e_t$: the scan that we run composes $S (I "
      "- k a^T) + v a^T$, to which the associativity stated applies. Eq 12 should print this form."));
  c.runs({"vla"});
  c.takes({integer_param("T", 12, 3, 128, "steps"), integer_param("d", 6, 2, 32, "width of keys and values"),
           penalty_param(1e-3)});
  return measure(c, [](Points &points, Seed seed, int T, int d, double lambda0) {
    const Story story(T, d, lambda0, seed);
    // The state after every step of the recurrence S = next(S, step).
    const auto prefixes = [&](const auto &next) {
      Dense S(d, d);
      Vector all;
      for (const Step &x : story.steps) append_row(all, (S = next(S, x)).data);
      return all;
    };
    const auto F = [&](const Step &x) { return Dense::identity(d) - outer(x.a, x.k); };
    const auto right = [&](const Step &x) { return transpose(F(x)); };
    const Vector printed = prefixes([&](const Dense &S, const Step &x) { return F(x) * S + outer(x.e, x.a); }),
                 from_right = prefixes([&](const Dense &S, const Step &x) { return S * right(x) + outer(x.e, x.a); }),
                 turned = prefixes([&](const Dense &S, const Step &x) { return S * F(x) + outer(x.v, x.a); }),
                 mended = prefixes([&](const Dense &S, const Step &x) { return S * right(x) + outer(x.v, x.a); });
    points.rounding(64.0 * T * d * (1 + max_abs(story.states)));
    points.statement("VLA's states: $S_t = F S_{t-1} + G$, $F = I - a k^T$, $G = e a^T$", printed, story.states);
    points.obligation("VLA's states: $S_t = S_{t-1} (I - k a^T) + v a^T$", mended, story.states);
    points.wrong_system("VLA's states: $S_t = S_{t-1} (I - k a^T) + e a^T$", from_right, story.states);
    points.wrong_system("VLA's states: $S_t = S_{t-1} (I - a k^T) + v a^T$", turned, story.states);
  });
}

template <class N> struct Map { // S -> S F + G
  Grid<N> F, G;
};
template <class N> Grid<N> product(const Grid<N> &a, const Grid<N> &b) {
  Grid<N> c = grid<N>(int(a.size()), int(b[0].size()));
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t j = 0; j < b.size(); ++j) add(c[i], a[i][j], b[j]);
  return c;
}
template <class N> Map<N> then(const Map<N> &first, const Map<N> &second) {
  Map<N> both{product(first.F, second.F), product(first.G, second.F)};
  for (size_t i = 0; i < both.G.size(); ++i)
    for (size_t j = 0; j < both.G[i].size(); ++j) both.G[i][j] = both.G[i][j] + second.G[i][j];
  return both;
}
/// Replaces the maps by their prefix compositions, by an up-sweep and a down-sweep (Brent and Kung). The number of maps
/// must be a power of two. Returns the number of rounds.
template <class N> int scan(std::vector<Map<N>> &x) {
  int rounds = 0;
  for (size_t half = 1; half < x.size(); half *= 2, ++rounds)
    for (size_t i = 2 * half - 1; i < x.size(); i += 2 * half) x[i] = then(x[i - half], x[i]);
  for (size_t half = x.size() / 4; half > 0; half /= 2, ++rounds)
    for (size_t i = 3 * half - 1; i < x.size(); i += 2 * half) x[i] = then(x[i - half], x[i]);
  return rounds;
}

struct Scan {
  double work = 0;
  int rounds = 0;
  Vector states;
  explicit Scan(const Story &story) {
    const int d = int(story.steps[0].k.size());
    std::vector<Map<Counted>> maps;
    for (const Step &x : story.steps)
      maps.push_back({grid_of<Counted>((Dense::identity(d) - outer(x.k, x.a)).data, d, d),
                      grid_of<Counted>(outer(x.v, x.a).data, d, d)});
    work = count([&] { rounds = scan(maps); });
    for (const Map<Counted> &map : maps) append_row(states, values_of(map.G));
  }
};
/// The counted products of the sequential form: for every step the read S_{t-1} k_t and the write e_t a_t^T.
double sequential_work(const Story &story) {
  const int d = int(story.steps[0].k.size());
  Grid<Counted> S = grid<Counted>(d, d);
  return count([&] {
    for (const Step &x : story.steps) {
      const Row<Counted> k(x.k.begin(), x.k.end()), a(x.a.begin(), x.a.end()), v(x.v.begin(), x.v.end());
      add_outer(S, difference(v, times(S, k)), a);
    }
  });
}

Claim scan_work() {
  ClaimBuilder c("vla-scan-work", "004 §3.4, Algorithm 2");
  c.says("The scan over the pairs ($F$, $G$) has $O(log T)$ depth and $O(T)$ total work. By §3.5 this work is the $O(T "
         "d^2)$ of the recurrence.");
  c.exactly("The work is linear in $T$ at fixed $d$. But every composition multiplies $d$ x $d$ matrices, twice. So "
            "the scan needs about $4 T d^3$ multiply-adds, and the recurrence $2 T d^2$. The factor is $2 d$, which is "
            "64 at $d = 32$.");
  c.because("The depth and the order in $T$ are right, but the paper omits the factor $d$. A chunked form costs less "
            "than the scan.");
  c.holds_under("the head width is held fixed; the work is about $4 T d^3$");
  c.runs({"vla"}), c.takes({integer_param("m", 4, 2, 8, "$T = 2^m$ steps"), integer_param("d", 6, 2, 24, "width")});
  return measure(c, [](Points &points, Seed seed, int m, int d) {
    const int T = 1 << m;
    const Story story(T, d, 0.1, seed), wide(T, 2 * d, 0.1, seed), longer(2 * T, d, 0.1, seed);
    const Scan scan(story), wide_scan(wide), longer_scan(longer);
    const auto law = [](double T, double d) { return (2 * T - 2 - std::log2(T)) * 2 * d * d * d; };
    points.rounding(0).statement("work of the scan at twice the width: four times as much, $O(d^2)$", wide_scan.work,
                                 4 * scan.work);
    points.condition("work of the scan: $(2 T - 2 - log2 T) 2 d^3$ multiply-adds", scan.work, law(T, d))
        .but_not("$T log2 T$ compositions", T * m * 2.0 * d * d * d)
        .but_not("$2 d^2$ per composition", (2 * T - 2 - m) * 2.0 * d * d);
    points.condition("work of the scan at twice the length: $(4 T - 3 - log2 T) 2 d^3$ multiply-adds", longer_scan.work,
                     law(2 * T, d));
    points.condition("work of the scan at twice the width: $(2 T - 2 - log2 T) 2 (2 d)^3$ multiply-adds",
                     wide_scan.work, law(T, 2 * d));
    points.obligation("work step by step: $2 T d^2$ multiply-adds", sequential_work(story), 2.0 * T * d * d);
    points.wrong_system("work step by step, at twice the width", sequential_work(wide), 2.0 * T * d * d);
    points.obligation("rounds of the scan: $2 log2 T - 1$", scan.rounds, 2 * m - 1);
    points.wrong_system("rounds of the scan at twice the length", longer_scan.rounds, 2 * m - 1);
    points.rounding(64.0 * T * d * (1 + max_abs(story.states)));
    points.obligation("the scan computes the layer's states", scan.states, story.states);
  });
}
} // namespace

std::vector<Claim> eq_12_scan() { return {associative(), recurrence(), scan_work()}; }
} // namespace recollect::theory
