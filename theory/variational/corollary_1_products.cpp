// SPDX-License-Identifier: Apache-2.0
// 004 Corollaries 1 and 2: products P_T = J_T ... J_1 of the steps' Jacobians, which carry gradients from S_T to S_0.
#include "theory/support/sampling.hpp"
#include "theory/variational/unit_jacobian.hpp"

namespace recollect::theory {
namespace {
const ParamSpec cosine = real_param("c", 0, -0.99, 0.99, "a . k of every step");

/// J is 2 x 2. The angle of the vector that J stretches most: the eigenvector of J^T J with the largest eigenvalue.
double stretched_angle(const Dense &J) {
  const Dense G = transpose(J) * J;
  return std::atan2(2 * G(0, 1), G(0, 0) - G(1, 1)) / 2;
}

/// The norm of the product of the layer's Jacobians for steps in the plane with these values of a . k. If `turned`,
/// each step is rotated so that it stretches most the image of the vector that the earlier steps stretched most.
double chain_norm(const Vector &cosines, bool turned) {
  Vla layer(2, 1, 1);
  layer.chain = Dense::identity(2);
  double image = 0; // angle of the image of the most stretched vector so far
  for (double c : cosines) {
    const double side = std::sqrt(1 - c * c);
    const Dense J = vla_jacobian_of({c, side}, {1, 0});
    const double from = stretched_angle(J), turn = turned ? image - from : 0;
    const Vector k{std::cos(turn), std::sin(turn)}, a{c * k[0] - side * k[1], side * k[0] + c * k[1]},
        stretched = times(J, Vector{std::cos(from), std::sin(from)});
    image = turn + std::atan2(stretched[1], stretched[0]);
    layer.A = outer(a, k);
    layer.write(k, {0.0});
  }
  return spectral_norm(layer.chain);
}

/// Adds the points of a chain of turned steps with these values of a . k.
void bound_chain(Points &points, const Vector &cosines) {
  double law = 1;
  for (double c : cosines) law *= largest_stretch(c);
  const int T = int(cosines.size());
  const double measured = chain_norm(cosines, true), units = jacobian_units(2) * T * law; // T factors of norm <= 2
  points.rounding(units).statement("norm of the chain: at most 1",
                                   at_most_point(measured, 1, units * epsilon_of(Real::f64)));
  points.obligation("norm of the chain: product of the steps' norms", measured, law).but_not("$2^T$", std::pow(2, T));
  points.wrong_system("every step stretches the same direction, not the direction that the step before has stretched",
                      chain_norm(cosines, false), law);
}

Claim product_norm() {
  ClaimBuilder c("vla-cor2-product-norm", "004 Corollaries 1 and 2");
  c.says("The chain of Jacobians $J_T ... J_t$ has spectral norm at most 1, so that $|dL/dS_0|_F <= |dL/dS_T|_F$: "
         "gradients do not explode through the recurrence.");
  c.exactly("The largest possible norm for unit $a_t$ and $k_t$ is the product of the single norms $(1 + sqrt(5 - 4 "
            "c_t)) / 2$, where $c_t = a_t.k_t$. It is attained if every step stretches the vector that the step before "
            "it has stretched. If all $c_t$ are 0, this gives $1.618^50 = 2.8e10$ after 50 steps.");
  c.because("The corollary rests on Proposition 2. If $A_t$ is a true inverse, the growth is polynomial "
            "(vla_prop2_real_runs). If $u_t$ is along $k_t$, the corollary is true for the chain from the first step "
            "(vla_cor1_aligned_u).");
  c.is_refuted(asserted(
      "Corollary 2: 'The chain has spectral norm <= 1 ... Gradients do not explode through the recurrence.'",
      "unit $a_t$ and $k_t$", "Nothing limits it; it rests on Proposition 2.",
      "The norms multiply to $1.618^T$ only if every write direction is orthogonal to its key and every step stretches "
      "what the step before it has stretched. Our $A_t$ is positive definite, hence $a_t.k_t > 0$, and in training we "
      "saw no growth. The corollary needs only a chain that grows at most polynomially, and ours does."));
  c.runs({"vla"}), c.takes({cosine, integer_param("T", 50, 2, 200, "steps")});
  c.at({{}, {{"c", 0.5}}, {{"c", -0.5}, {"T", 10}}});
  c.also([](Points &points, const Protocol &protocol) {
    points.at(labels({{"T", num(12)}, {"c", txt("uniform")}}));
    bound_chain(points, Stream(protocol.seed, "corollary 2/cosines").uniforms(12, -1, 1));
  });
  return measure(c, [](Points &points, double c, int T) { bound_chain(points, Vector(T, c)); });
}

/// |P_T|_F^2 / d, which is the mean of |P_T x|^2 over unit x, for runs first ... first + count - 1. The state A = a k^T
/// gives the layer the write direction a.
Vector mean_squares(int d, double c, int T, const Stream &pairs, size_t first, size_t count) {
  const size_t size = (2 * size_t(d) + 2) * d;
  Sequence s = stored({int(count), 1, 1, d, d}, Vector(count * d), Vector(count * d));
  s.w = s.v, s.state.resize(count * size);
  for (size_t b = 0; b < count; ++b)
    for (int i = 0; i < d; ++i) s.state[b * size + i * (d + 1)] = 1;
  for (int t = 0; t < T; ++t) {
    for (size_t b = 0; b < count; ++b) {
      const UnitPair x = unit_pair(d, c, pairs, (first + b) * T + t);
      const Dense A = outer(x.a, x.k);
      std::copy(x.k.begin(), x.k.end(), &s.k[b * d]);
      std::copy(A.data.begin(), A.data.end(), &s.state[b * size + d * d]);
    }
    s.state = run("vla", s, {{"phi", "identity"}, {"refresh", "0"}, {"u_norm", "0"}}).state;
  }
  return state_squares(s.state, count, d * d, d);
}

Claim random_product_law() {
  ClaimBuilder c("vla-random-product-law", "004 Corollary 1, §3.3");
  c.says("Gradients neither explode nor vanish through the recurrence.");
  c.exactly(
      "Let $P_T = J_T ... J_1$, and let unit $a_t$ and $k_t$ have a fixed $a_t.k_t = c$ and a random orientation. Then "
      "$E|P_T x|^2 = (1 + (1 - 2c)/d)^T$ for unit $x$: gradients explode for $c < 1/2$ and vanish for $c > 1/2$. At $c "
      "= 1$, the only case in which the Jacobian has norm 1, they vanish as $(1 - 1/d)^T$.");
  c.because("Gradients that vanish are no defect of VLA: every delta rule overwrites, and so forgets at the rate $(1 - "
            "1/d)^T$.");
  c.is_refuted(
      asserted("Corollary 1: 'Gradients neither explode nor vanish.'", "unit $a_t$ and $k_t$",
               "'Empirical confirmation' follows. This paragraph is about the un-normalised form and does not limit "
               "the sentence.",
               "'Neither explode nor vanish' contrasts with the factor $10^32$ of the un-normalised form. A decay like "
               "$(1 - 1/d)^T$ is forgetting, which every delta rule has; at $c = 0$ the penalty has turned the write "
               "away from the key altogether, which a positive definite $A_t$ does not do."));
  c.runs({"vla"});
  c.takes({real_param("c", 0, -1, 1, "a . k of every step"), integer_param("d", 8, 2, 16, "head width"),
           integer_param("T", 8, 1, 12, "steps")});
  c.at({{}, {{"c", 0.5}}, {{"c", 1}}});
  return measure(c, [](Points &points, const Protocol &protocol, double c, int d, int T) {
    const Stream pairs(protocol.seed, "corollary 1/random orientations");
    const double law = std::pow(1 + (1 - 2 * c) / d, T);
    const bool apart = std::fabs(law - 1) > 0.1 * law;
    if (protocol.point && !apart) usage_error("take c further from 1/2, where gradients keep their size on average");
    const auto draw = [&](size_t first, size_t count) { return mean_squares(d, c, T, pairs, first, count); };
    const Mean mean = sample_mean(wanted_sensitivity(protocol), 500, 2000000, in_blocks(cached_block(2 * d * d), draw));
    const double rounding =
        jacobian_units(d) * T * law * epsilon_of(Real::f64); // at T = 1 all samples are equal up to rounding
    const auto law_of = [&](double square, double d) { return std::pow(1 + square / d, T); };
    if (apart)
      points.statement("mean of $|P_T x|^2$: 1, gradients neither explode nor vanish", mean, 1)
          .but_not("$d - 1$ for $d$", law_of(1 - 2 * c, d - 1));
    auto grows = points.obligation("mean of $|P_T x|^2$: $(1 + (1 - 2c)/d)^T$", sampled_point(mean, law, rounding));
    if (std::fabs(c) > 0.1) grows.but_not("$1 - c$ for $1 - 2c$", sampled_point(mean, law_of(1 - c, d)));
  });
}
} // namespace

std::vector<Claim> corollary_1_products() { return {product_norm(), random_product_law()}; }
} // namespace recollect::theory
