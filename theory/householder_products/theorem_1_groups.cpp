// SPDX-License-Identifier: Apache-2.0
// 2502.10297: one layer of DeltaProduct solves word problems of groups: with n - 1 Householder steps per token for the
// permutations of n elements, and with two for the rotations of a cube or an icosahedron. The last claim is about the
// norm of the transition of DeltaProduct.
#include "theory/negative_eigenvalues/householder.hpp"
#include "theory/support/measure.hpp"
#include <algorithm>
#include <set>

namespace recollect::theory {
namespace {
/// A word of T letters, each a permutation: the Householder steps of the letters, and the product of the letters, in
/// which the last letter acts first.
struct Word {
  std::vector<Householder> steps, fewer, weaker; // fewer: n - 2 steps per letter; weaker: beta = 1
  Dense permutation;

  Word(int n, int T, Seed seed, int number) : permutation(n, n) {
    std::vector<int> whole(n);
    for (int i = 0; i < n; ++i) whole[i] = i;
    for (int t = 0; t < T; ++t) {
      const std::vector<int> letter = Stream(seed, "groups/letter", std::uint64_t(number) * T + t).permutation(n);
      const std::vector<Householder> swaps = swaps_of(letter), weak = swaps_of(letter, 1);
      steps.insert(steps.end(), swaps.begin(), swaps.end());
      fewer.insert(fewer.end(), swaps.begin(), swaps.end() - 1);
      weaker.insert(weaker.end(), weak.begin(), weak.end());
      std::vector<int> next(n);
      for (int i = 0; i < n; ++i) next[i] = whole[letter[i]];
      whole = next;
    }
    for (int i = 0; i < n; ++i) permutation(whole[i], i) = 1;
  }
};

Claim delta_product_symmetric_group() {
  ClaimBuilder c("delta-product-symmetric-group", "2502.10297 Theorem 1 (secondary source)");
  c.says("For any n one layer of DeltaProduct with $n_h = n - 1$ Householder steps per token solves the word problem "
         "of the symmetric group $S_n$ in finite precision.");
  c.exactly("Each letter is a permutation, and so a product of exchanges of two elements. The exchange of i and j is a "
            "step with the key $(e_i - e_j) / sqrt(2)$ and beta = 2. After a word of any length the state is the "
            "matrix of the word's permutation.");
  c.because("A token of DeltaProduct is measured as $n_h$ tokens of DeltaNet. 2411.12537 Proposition 1.2, which was "
            "read, also says that $n - 1$ reflections suffice.");
  c.runs({"delta_net"});
  c.takes({integer_param("n", 5, 3, 8, "elements"), integer_param("T", 64, 8, 512, "tokens; each is a permutation")});
  return measure(c, [](Points &points, Seed seed, int n, int T) {
    const int words = 64; // a random permutation may be its own inverse, but not all of 64 are
    Vector states, fewer, weaker, permutations, inverses;
    for (int i = 0; i < words; ++i) {
      const Word word(n, T, seed, i);
      append_column(states, product(word.steps)), append_column(fewer, product(word.fewer));
      append_column(weaker, product(word.weaker)), append_column(permutations, word.permutation);
      append_column(inverses, transpose(word.permutation));
    }
    points.rounding(16.0 * n * n * T);
    points.statement("states after 64 words are their permutations", states, permutations)
        .but_not("the inverse permutations", inverses);
    points.wrong_system("$n - 2$ steps per token: states are the permutations", fewer, permutations);
    points.wrong_system("$beta = 1$: states are the permutations", weaker, permutations);
  });
}

/// Two unit keys whose reflections give the rotation by `turn` about the axis. Both are orthogonal to the axis, and the
/// angle between them is turn / 2.
struct Rotation {
  Vector first, second;
  Rotation(Vector axis, double turn) {
    normalise_rows(axis, 3);
    Vector across{axis[1], -axis[0], 0};
    if (inner(across, across) < 1e-12) across = {1, 0, 0};
    normalise_rows(across, 3);
    const Vector third{axis[1] * across[2] - axis[2] * across[1], axis[2] * across[0] - axis[0] * across[2],
                       axis[0] * across[1] - axis[1] * across[0]};
    first = across;
    for (int c = 0; c < 3; ++c) second.push_back(std::cos(turn / 2) * across[c] + std::sin(turn / 2) * third[c]);
  }
};

/// DeltaProduct with two steps per token starts from I and runs a random word of T letters. Returns the number of
/// different states [3,3] that it visits, rounded to 1e-6.
double states_of(const std::vector<Rotation> &letters, int T, double beta, Seed seed) {
  Sequence s = of_shape({1, 1, T, 3, 3});
  for (int t = 0; t < T; ++t) {
    const Rotation &letter = letters[Stream(seed, "groups/word").below(t, letters.size())];
    s.w.insert(s.w.end(), letter.first.begin(), letter.first.end());
    s.k.insert(s.k.end(), letter.second.begin(), letter.second.end());
  }
  s.beta.assign(T, beta), s.v.assign(size_t(T) * 3, 0.0);
  // A read gives one column of a state, so the word is run three times.
  std::vector<std::vector<long>> states(T);
  s.state = Dense::identity(3).data;
  for (int axis = 0; axis < 3; ++axis) {
    s.q = repeated({axis == 0 ? 1.0 : 0, axis == 1 ? 1.0 : 0, axis == 2 ? 1.0 : 0}, T);
    const Output out = run("delta_product", s, {{"householder", "2"}});
    for (int t = 0; t < T; ++t)
      for (int c = 0; c < 3; ++c) states[t].push_back(std::lround(out.o[size_t(t) * 3 + c] * 1e6));
  }
  return double(std::set<std::vector<long>>(states.begin(), states.end()).size());
}

Claim delta_product_rotation_groups() {
  ClaimBuilder c("delta-product-rotation-groups", "2502.10297 §5, Theorem 4 (secondary source)");
  c.says("With $n_h = 2$ one layer of DeltaProduct represents $S_4$ and $A_5$, which are the rotations of the cube and "
         "of the icosahedron: two reflections make any rotation in three dimensions.");
  c.exactly("Random words of two generators visit exactly 24 states ($S_4$) and 60 states ($A_5$), at any length.");
  c.because("States are distinguished at a tolerance of 1e-6; different elements of a group differ by at least 0.1. "
            "For all but about one seed in $10^5$ a word of 1024 random letters reaches all states of the group.");
  c.runs({"delta_product"}), c.takes({integer_param("T", 2048, 1024, 8192, "letters of a random word")});
  return measure(c, [](Points &points, Seed seed, int T) {
    const double golden = (1 + std::sqrt(5.0)) / 2;
    const Rotation quarter_z({0, 0, 1}, pi / 2), quarter_x({1, 0, 0}, pi / 2), fifth({0, 1, golden}, 2 * pi / 5),
        third({1, 1, 1}, 2 * pi / 3), tilted({0.1, 1, golden}, 2 * pi / 5);
    const auto elements = [&](const Rotation &a, const Rotation &b, double beta = 2) {
      return states_of({a, b}, T, beta, seed);
    };
    const double cube = elements(quarter_z, quarter_x), icosahedron = elements(fifth, third);
    points.rounding(1);
    points.statement("rotations of the cube, S4: number of different states that a random word visits", cube, 24)
        .but_not("48, with reflections", 48);
    points
        .statement("rotations of the icosahedron, A5: number of different states that a random word visits",
                   icosahedron, 60)
        .but_not("120, the order of S5", 120);
    points.wrong_system("one axis not of the icosahedron: number of different states that a random word visits",
                        elements(tilted, third), 60);
    points.wrong_system("rotations of the cube with $beta = 1.9$: number of different states that a random word visits",
                        elements(quarter_z, quarter_x, 1.9), 24);
  });
}

/// The state after one token of a layer that starts from S = I [4,4], with values of 0.
Dense transition(const std::string &variant, double beta, double cosine, double length, double lambda = 1) {
  Sequence s = stored({1, 1, 1, 4, 4}, {length, 0, 0, 0}, Vector(4), beta);
  s.w = {length * cosine, length * std::sqrt(1 - cosine * cosine), 0, 0};
  s.state = Dense::identity(4).data, s.lambda.assign(4, lambda);
  return memory(run(variant, s, variant == "delta_product" ? Assignments{{"householder", "2"}} : Assignments{}),
                s.shape);
}

Claim delta_product_norm() {
  ClaimBuilder c("delta-product-norm", "2502.10297 §3 (secondary source)");
  c.says("The transition of DeltaProduct, a product of $I - beta k k^T$ with unit keys and beta in $[0, 2]$, has a "
         "spectral norm of at most 1, so that the recurrence is stable.");
  c.exactly("The norm is exactly 1 at beta = 2. If a layer does not multiply a decay and the erasure but subtracts the "
            "erasure, $diag(lambda) - beta x x^T$ with unit x and equal decays lambda, the norm exceeds 1 if $beta > 1 "
            "+ lambda$.");
  c.because("The bound for any number of factors is 2411.12537 Proposition 1.1, which was read. Here it is measured on "
            "the layer's transition.");
  c.runs({"delta_product", "rwkv7"});
  c.takes(
      {real_param("beta", 1.6, 1.1, 2, "write strength"), real_param("cosine", 0.4, -0.95, 0.95, "of the two keys")});
  c.at({{}, {{"beta", 2}, {"cosine", -0.7}}});
  return measure(c, [](Points &points, double beta, double cosine) {
    const auto bound = [](const Dense &A) { return at_most_point(spectral_norm(A), 1, 512 * epsilon_of(Real::f64)); };
    const Dense A = transition("delta_product", beta, cosine, 1);
    points.statement("norm of a token's transition: at most 1", bound(A));
    points.rounding(512);
    points
        .obligation("determinant of the product of two steps: $(1 - beta)^2$", A(0, 0) * A(1, 1) - A(0, 1) * A(1, 0),
                    (1 - beta) * (1 - beta))
        .but_not("$-(1 - beta)^2$, one reflection more", -(1 - beta) * (1 - beta));
    points.obligation("norm of a token's transition at $beta = 2$: 1",
                      spectral_norm(transition("delta_product", 2, cosine, 1)), 1);
    points.obligation("norm of $diag(lambda) - beta x x^T$ with $lambda = 0.5$, $beta = 2$: $beta - lambda$",
                      spectral_norm(transition("rwkv7", 2, 0, 1, 0.5)), 1.5);
    points.wrong_system("norm of a token's transition, keys of length 1.2: at most 1",
                        bound(transition("delta_product", 2, cosine, 1.2)));
    points.wrong_system("norm of a token's transition, $beta = 2.2$: at most 1",
                        bound(transition("delta_product", 2.2, 0, 1)));
    points.wrong_system("norm of $diag(0.5) - 2 x x^T$, not a product: at most 1",
                        bound(transition("rwkv7", 2, 0, 1, 0.5)));
  });
}
} // namespace

std::vector<Claim> theorem_1_groups() {
  return {delta_product_symmetric_group(), delta_product_rotation_groups(), delta_product_norm()};
}
} // namespace recollect::theory
