// SPDX-License-Identifier: Apache-2.0
// 000 §3.2, stress test: the paper calls a packing problem by the name of Thomson's. Both problems are solved here for
// six vectors in three dimensions. Thomson's problem asks for the least energy sum_{i<j} 1/|x_i - x_j| of charges on
// the sphere. Almost orthogonal packing asks for the least max_{i<j} |x_i.x_j|.
#include "harness/numerics/keys.hpp"
#include "theory/support/measure.hpp"

namespace recollect::theory {
namespace {
constexpr int n = 6, d = 3;

double distance(const Vector &x, int i, int j) {
  double square = 0;
  for (int c = 0; c < d; ++c) square += std::pow(x[i * d + c] - x[j * d + c], 2);
  return std::sqrt(square);
}
double energy(const Vector &x) {
  double sum = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j) sum += 1 / distance(x, i, j);
  return sum;
}

/// Charges that move along their repulsion until only rounding errors are left. Each step multiplies the error by less
/// than 19/20.
Vector settled_charges(std::uint64_t seed) {
  Vector x = Stream(seed, "thomson/charges").normals(n * d);
  normalise_rows(x, d);
  for (int step = 0; step < 2000; ++step) {
    const Vector old = x;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        for (int c = 0; c < d && i != j; ++c)
          x[i * d + c] += 0.05 * (old[i * d + c] - old[j * d + c]) / std::pow(distance(old, i, j), 3);
    normalise_rows(x, d);
  }
  return x;
}

/// The six diagonals of the icosahedron: the cyclic permutations of (0, 1, +-golden ratio).
Vector icosahedron_diagonals() {
  const double g = (1 + std::sqrt(5.0)) / 2;
  Vector x{0, 1, g, 0, 1, -g, g, 0, 1, -g, 0, 1, 1, g, 0, 1, -g, 0};
  normalise_rows(x, d);
  return x;
}

Claim thomson() {
  ClaimBuilder c("thompson-problem", "000 §3.2");
  c.says("Placing as many orthogonal vectors as possible on the d-dimensional unit sphere is the famous Thompson "
         "problem.");
  c.is_refuted(slip("§3.2: 'the famous Thompson problem, which is how to place as many orthogonal vectors as possible "
                    "on the d-dimensional unit sphere'.",
                    "none", "The next sentence is about superposition; only the name is wrong."));
  c.exactly("Thomson's problem asks for the least electrostatic energy. The text means almost orthogonal packing "
            "(Grassmannian packing). For six vectors in three dimensions Thomson's problem gives the octahedron, whose "
            "opposite corners are as far from orthogonal as possible. The packing problem gives the diagonals of the "
            "icosahedron.");
  c.because("The claims packing_random and packing_structured measure what the text says about packing.");
  return measure(c, [](Points &points, Seed seed) {
    const Params at = labels({{"n", n}, {"d", d}});
    const Vector charges = settled_charges(seed), diagonals = icosahedron_diagonals();
    const double welch = std::sqrt(double(n - d) / (d * (n - 1))), // 1/sqrt 5, the least coherence of n vectors
        octahedron = 12 / std::sqrt(2.0) + 3 / 2.0;                // 12 edges of sqrt 2, 3 diagonals of 2
    points.at(at).rounding(1e4).statement("coherence of the charges of least energy, against Welch's bound",
                                          coherence(charges, n, d), welch);
    points.rounding(64).obligation("coherence of the icosahedron's six diagonals, against Welch's bound",
                                   coherence(diagonals, n, d), welch);
    points.rounding(1e4)
        .obligation("least energy found, against the octahedron's", energy(charges), octahedron)
        .but_not("the energy if every pair were at a right angle", 15 / std::sqrt(2.0));
    points.wrong_system("the best packing as charges", energy(diagonals), octahedron);
  });
}
} // namespace

std::vector<Claim> section_3_2_thomson() { return {thomson()}; }
} // namespace recollect::theory
