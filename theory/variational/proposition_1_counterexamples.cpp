// SPDX-License-Identifier: Apache-2.0
// Counterexamples to 004 Proposition 1: bounded inputs for which |S_t|_F does not converge. Each unit key is orthogonal
// to the state, and all values are 1. If the write direction is the key, |S_t|_F = sqrt t, the largest norm that unit
// keys can give.
#include "theory/variational/vla_steps.hpp"

namespace recollect::theory {
namespace {
/// T unit keys in the plane, as rows of width d. Each key is orthogonal to the sum of the earlier keys.
Vector unfolding_keys(int T, int d) {
  Vector keys, sum{0, 0};
  for (int t = 0; t < T; ++t) {
    const Vector k = t == 0 ? Vector{1, 0} : unit({-sum[1], sum[0]});
    sum = combine(1, sum, 1, k);
    keys.insert(keys.end(), {k[0], k[1]}), keys.resize(size_t(t + 1) * d);
  }
  return keys;
}

/// |S_T|_F of the delta rule with beta = 1 for these keys and values of one channel.
double delta_norm(const Vector &keys, const Vector &values, int d) {
  return norm(forward(find_variant("delta_net"), stored({1, 1, int(values.size()), d, 1}, keys, values)).state);
}

/// |S_T|_F of VLA for these keys and penalty directions; all values are 1.
double vla_norm(const Vector &keys, const Vector &penalties) {
  Vla layer(3, 1, 0.1);
  layer.run(keys, penalties, Vector(keys.size() / 3, 1.0));
  return frobenius_norm(layer.S);
}

const int early = 16;
const std::vector<ParamSpec> length{integer_param("T", 400, 2 * early, 2000, "steps")};

/// Adds points: norm(T) is sqrt T, so it still grows after t = 16.
template <class Norm> void root_of(Points &points, const Norm &norm, int T) {
  const double measured = norm(T);
  points.at(labels({{"T", num(early)}}))
      .rounding(64.0 * T)
      .obligation("norm of the state: $|S_T| = sqrt T$", norm(early), std::sqrt(early));
  points.at(labels({{"T", num(T)}}))
      .statement("norm of the state: no growth since $t = 16$", measured, std::sqrt(early));
  points.obligation("norm of the state: $|S_T| = sqrt T$", measured, std::sqrt(T))
      .but_not("$sqrt(T - 1)$", std::sqrt(T - 1.0))
      .but_not("$|S_T| = T$", double(T));
}

Claim root_growth() {
  ClaimBuilder c("vla-prop1-counterexample-sqrt", "004 Proposition 1");
  c.says("For bounded inputs $|S_t|_F$ converges to a finite plateau.");
  c.exactly("In the plane let every unit key be orthogonal to the state $S_{t-1}$ (one row), and all values 1. Then "
            "the delta rule has $|S_t|_F = sqrt t$. No unit keys give faster growth, because $|S_t|^2 <= |S_{t-1}|^2 + "
            "|v_t|^2$.");
  c.because("The proof's Widrow-Hoff argument applies to random inputs, not to chosen ones. For random inputs see "
            "vla_prop1_plateau.");
  c.is_refuted(
      asserted("Proposition 1: '$|S_t|_F$ converges to a finite plateau when inputs are bounded'.", "bounded inputs",
               "The proof appeals to LMS convergence, which is about random inputs; the proposition does not say so.",
               "The LMS filter, to which the proof appeals, presumes inputs that are not chosen against the state. For "
               "random inputs the mean norm does settle, as Fig 4 shows; and $sqrt(t)$ is still far below the linear "
               "growth with which we compare."));
  c.runs({"delta_net"}), c.takes(length);
  return measure(c, [](Points &points, Seed seed, int length) {
    const auto size = [](int T) { return delta_norm(unfolding_keys(T, 2), Vector(T, 1.0), 2); };
    root_of(points, size, length);
    // If keys are unit vectors, a step adds at most |v|^2 to |S|^2.
    const int d = 4, steps = 30;
    const Vector keys = random_units(steps, d, Stream(seed, "counterexample/keys")),
                 values = Stream(seed, "counterexample/values").uniforms(steps, 0.5, 1.5);
    const auto most_added = [&](double length) {
      double largest = 0, before = 0;
      for (int T = 1; T <= steps; ++T) {
        const double square = std::pow(delta_norm(scaled(length, Vector(keys.begin(), keys.begin() + T * d)),
                                                  Vector(values.begin(), values.begin() + T), d),
                                       2);
        largest = std::max(largest, (square - before) / (values[T - 1] * values[T - 1])), before = square;
      }
      return largest;
    };
    const double units = 64.0 * steps / 0.25; // 0.25 is the least v^2
    points.rounding(units);
    points.obligation("largest increase of $|S|^2$ in a step, divided by $|v|^2$: 1, at the first write", most_added(1),
                      1);
    points.wrong_system("largest increase of $|S|^2$ in a step, divided by $|v|^2$, with keys of length 1.1",
                        most_added(1.1), 1);
  });
}

Claim root_growth_with_inverse() {
  ClaimBuilder c("vla-prop1-counterexample-real-a", "004 Proposition 1");
  c.says("For bounded inputs $|S_t|_F$ converges to a finite plateau if $A_t$ is VLA's own inverse.");
  c.exactly("Let every key lie in a plane and be orthogonal to the state, and let $u_t$ be along a third axis. Then "
            "$A_t$ stays a multiple of $I$ on the plane, and $|S_t|_F = sqrt t$. With $u$ along $k$ the growth is "
            "slower: $|S_t|_F$ is 13.4 instead of 20 at $t = 400$.");
  c.because("$A_t$ does not bound the state: it only turns the write direction, which has length 1.");
  c.is_refuted(asserted("Proposition 1 with Eq 9: the plateau under VLA's own $A_t$.", "bounded inputs",
                        "The proof treats every $A_t$ alike.",
                        "Inputs in a plane orthogonal to every penalty direction switch the penalty off by "
                        "construction. A learned $u_t = W_u k_t$ does not stay orthogonal to all keys."));
  c.runs({"vla"}), c.takes(length);
  return measure(c, [](Points &points, int T) {
    const auto away = [](int T) {
      return repeated({0, 0, 1}, T);
    }; // u = e3 leaves A a multiple of I on the keys' plane
    const auto size = [&](int T) { return vla_norm(unfolding_keys(T, 3), away(T)); };
    root_of(points, size, T);
    const Vector keys = unfolding_keys(T, 3);
    points.rounding(64.0 * T).wrong_system("norm of the state with u along k: $|S_T| = sqrt T$", vla_norm(keys, keys),
                                           std::sqrt(T));
  });
}
} // namespace

std::vector<Claim> proposition_1_counterexamples() { return {root_growth(), root_growth_with_inverse()}; }
} // namespace recollect::theory
