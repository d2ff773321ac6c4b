// SPDX-License-Identifier: Apache-2.0
// 004 §7.3 and §3.5: VLA's place among fast-weight programmers. Which of linear attention, DeltaNet and VLA contains which,
// and what remains when the residual or the geometry is removed.
#include "harness/core/error.hpp"
#include "theory/support/claims.hpp"
#include "theory/support/sampling.hpp"
#include "theory/variational/vla_steps.hpp"

namespace recollect::theory {
namespace {

/// The final state of one head of a layer that takes beta, S_0 = 0.
Vector state_of(const std::string &layer, const Vector &keys, const Vector &values, int d, const Vector &beta) {
  Sequence s;
  const int T = int(keys.size()) / d;
  s.shape = {1, 1, T, d, int(values.size()) / T};
  s.k = s.q = keys, s.v = values, s.beta = beta;
  return forward(find_variant(layer), s).state;
}

// ---- Residual without A_t ----------------------------------------------------------------------------------------------

/// |S_T|_F^2 for values e_1 ... e_T, which is its mean over independent values of mean square 1 a component and any sign:
/// the rows of S are then what is left of each write. Heads of keys [heads,T,d].
Vector left_of_writes(const Vector &keys, int T, int d) {
  Sequence s;
  s.shape = {int(keys.size()) / (T * d), 1, T, d, T};
  s.k = s.q = keys, s.beta.assign(size_t(s.shape.B) * T, 1.0);
  const Dense one_by_one = Dense::identity(T);
  for (int b = 0; b < s.shape.B; ++b) append_row(s.v, one_by_one.data);
  const Output out = forward(find_variant("delta_net"), s);
  Vector squares;
  for (int b = 0; b < s.shape.B; ++b)
    squares.push_back(inner(&out.state[size_t(b) * T * d], &out.state[size_t(b) * T * d], T * d));
  return squares;
}

/// E|S_T|_F^2 for Gaussian keys in the plane, exactly: the squares are polynomials of degree 4 in each key. Half of a
/// key's square is exponential, for which the three nodes of Gauss and Laguerre, the roots of x^3 - 9 x^2 + 18 x - 6, are
/// exact to degree 5; five equally spaced angles are exact for degree 4.
double gaussian_plane_mean(int T) {
  const int angles = 5;
  Vector half_squares, node_weights;
  for (int j = 0; j < 3; ++j) {
    const double x = 3 + 2 * std::sqrt(3.0) * std::cos((std::acos(1 / std::sqrt(3.0)) + 2 * M_PI * j) / 3),
                 L2 = 1 - 2 * x + x * x / 2;
    half_squares.push_back(x), node_weights.push_back(x / (9 * L2 * L2));
  }
  Vector keys, weights;
  const int choices = 3 * angles, heads = int(std::lround(std::pow(choices, T)));
  for (int head = 0; head < heads; ++head) {
    double weight = 1;
    for (int t = 0, left = head; t < T; ++t, left /= choices) {
      const int node = left % 3, angle = left % choices / 3;
      const double length = std::sqrt(2 * half_squares[node]), turn = 2 * M_PI * angle / angles;
      keys.insert(keys.end(), {length * std::cos(turn), length * std::sin(turn)});
      weight *= node_weights[node] / angles;
    }
    weights.push_back(weight);
  }
  return inner(weights, left_of_writes(keys, T, 2));
}

std::vector<Point> residual_only(const Protocol &p) {
  std::vector<Point> points;
  const auto place = [](int d, int T) { return labels({{"d", num(d)}, {"T", num(T)}}); };
  for (const Params &at : points_of(p, {place(8, 5), place(8, 20)})) { // unit keys
    const int d = at.integer("d"), T = at.integer("T");
    const auto law = [&](double d) { return d * (1 - std::pow(1 - 1 / d, T)); };
    const Stream stream(p.seed, "residual only/keys", T);
    const double gap = std::fabs(law(d - 1) / law(d) - 1),
                 wanted = std::min(wanted_sensitivity(p), std::max(gap, 0.01) / 2);
    const Mean mean = sample_mean(wanted, 200, 200000, [&](size_t first, size_t count) {
      return left_of_writes(random_units(int(count) * T, d, stream, first * T), T, d);
    });
    points.push_back(as_statement(sampled_point(mean, T), at, "unit keys, no forgetting: T E|v|^2"));
    if (gap > 0.01) points.push_back(rival_law(sampled_point(mean, law(d - 1)), at, "d - 1 for d"));
    points.push_back(as_obligation(sampled_point(mean, law(d)), at, "unit keys: d E|v|^2 (1 - (1 - 1/d)^T)"));
  }
  for (int T : {2, 3}) {
    const Params at = labels({{"d", num(2)}, {"T", num(T)}, {"keys", txt("Gaussian")}});
    const double law = std::pow(3, T) - 1, measured = gaussian_plane_mean(T), units = 1e3 * law;
    append(points, {rival_law(exact_point(measured, std::pow(2, T) - 1, units), at, "d for d + 1"),
                    as_obligation(exact_point(measured, law, units), at, "(d + 1)^T - 1: diverges"),
                    rival_law(exact_point(measured, std::pow(4, T) - 1, units), at, "d + 2")});
  }
  return points;
}

Claim residual_alone() {
  return explained(
      at_parameters(
          running(
              refuted_row("vla-7.3-residual-only-diverges",
                          stricter("§7.3: 'Residual correction alone corresponds to a DeltaNet with $beta_t = 1$, no "
                                   "forgetting at all, and the state diverges.'",
                                   "the length of the keys is not stated",
                                   "The next sentence is about the other component."),
                          "004 §7.3",
                          "Residual correction alone, without $A_t$, is a DeltaNet with $beta = 1$: it does not "
                          "forget, and its state diverges.",
                          "The text does not say for which keys. Unit keys (VLA's own, independent, "
                          "isotropic): $E|S_t|^2 = d E|v|^2 (1 - (1 - 1/d)^t)$, and what was stored fades as "
                          "$(1 - 1/d)^m$. Gaussian keys, $|k|^2 beta > 2$: $E|S_t|^2 = E|v|^2 ((d + 1)^t - 1)$.",
                          residual_only),
              {"delta_net"}),
          {integer_param("d", 8, 2, 16, "width of the unit keys"), integer_param("T", 5, 3, 64, "steps")}),
      "True of the raw keys of Eq 4, false of normalised ones, for which $sqrt t$ is the worst case "
      "(vla_prop1_counterexample_sqrt).");
}

// ---- A_t without the residual ------------------------------------------------------------------------------------------

std::vector<Point> no_residual(const Protocol &p) {
  std::vector<Point> points;
  const double lambda0 = 0.1;
  for (const Params &at : points_of(p, {labels({{"d", num(6)}, {"T", num(30)}})})) {
    const int d = at.integer("d"), T = at.integer("T"), dv = 3, few = (d + 1) / 2;
    const Vector keys = random_units(T, d, Stream(p.seed, "no residual/keys")),
                 values = Stream(p.seed, "no residual/values").normals(size_t(T) * dv),
                 directions = random_units(few, d, Stream(p.seed, "no residual/penalties"));
    // The layer's writes from S = 0, where the residual is v_t itself: u_t in a few directions, or none.
    const auto sum_of_writes = [&](bool adaptive) {
      Vla layer(d, dv, lambda0);
      Dense sum(dv, d);
      for (int t = 0; t < T; ++t) {
        layer.S = Dense(dv, d);
        layer.step(row(keys, t, d), adaptive ? row(directions, t % few, d) : Vector(d), row(values, t, dv));
        sum = sum + layer.S;
      }
      return sum;
    };
    const Dense adaptive = sum_of_writes(true), plain = sum_of_writes(false);
    const Vector linear = state_of("linear", keys, values, d, {});
    Dense expected(dv, d), M = lambda0 * Dense::identity(d);
    for (int t = 0; t < T; ++t) {
      const Vector u = row(directions, t % few, d);
      M = M + outer(u, u);
      expected = expected + outer(row(values, t, dv), unit(times(inverse(M), row(keys, t, d))));
    }
    const double cosine = inner(adaptive.data, linear) / frobenius_norm(adaptive) / norm(linear),
                 units = step_units(T, d, lambda0) * T;
    append(points, {as_statement(exact_point(cosine, 1, units), at, "cosine with linear attention's state"),
                    as_obligation(exact_point(adaptive.data, expected.data, units), at, "sum of v_t a_t^T"),
                    rival_law(exact_point(adaptive.data, linear, units), at, "linear attention"),
                    as_obligation(exact_point(plain.data, linear, units), at, "u = 0: linear attention")});
  }
  return points;
}

Claim geometry_alone() {
  return at_parameters(
      running(
          refuted_row("vla-7.3-no-residual-scaled-linear",
                      stricter("§7.3: 'Adaptive geometry without residual correction recovers a scaled linear "
                               "attention with no error feedback.'",
                               "none",
                               "'Scaled' may be by a matrix: $sum v_t (A_t k_t)^T$ is additive and without feedback, "
                               "which is the point; a multiple of linear attention's state is the strict reading."),
                      "004 §7.3",
                      "Adaptive geometry without residual correction is a scaled linear attention "
                      "without error feedback.",
                      "sum of $v_t (A_t k_t)^T / |A_t k_t|$ writes along other directions: a multiple of "
                      "linear attention's state only where $A_t$ is a multiple of $I$.",
                      no_residual),
          {"vla", "linear"}),
      {integer_param("d", 6, 2, 32, "head width"), integer_param("T", 30, 2, 200, "steps")});
}

// ---- A_t a multiple of I -----------------------------------------------------------------------------------------------

std::vector<Point> multiples_of_identity(const Protocol &p) {
  std::vector<Point> points;
  for (const Params &at : points_of(p, {labels({{"d", num(5)}, {"dv", num(3)}, {"T", num(14)}})})) {
    const int d = at.integer("d"), dv = at.integer("dv"), T = at.integer("T");
    const Vector keys = random_units(T, d, Stream(p.seed, "spherical/keys")),
                 values = Stream(p.seed, "spherical/values").normals(size_t(T) * dv),
                 beta = Stream(p.seed, "spherical/beta").uniforms(T, 0.2, 0.9), ones(T, 1.0);
    const auto scaled_inverse = [&](const std::string &layer, const Vector &scale) { // A_t = scale_t I
      Vla memory(d, dv, 1, {{"refresh", "0"}}, layer);
      for (int t = 0; t < T; ++t) {
        memory.A = scale[t] * Dense::identity(d);
        memory.write(row(keys, t, d), row(values, t, dv));
      }
      return memory.S.data;
    };
    const auto layer = [&](const char *name, const Vector &beta) { return state_of(name, keys, values, d, beta); };
    const Vector spherical = scaled_inverse("vla", beta), unnormalised = scaled_inverse("vla_unnormalized", beta);
    const double units = 64.0 * d * T * max_abs(layer("linear", {}));
    append(
        points,
        {as_statement(exact_point(spherical, layer("delta_net", beta), units), at, "A_t = beta_t I: DeltaNet(beta_t)"),
         as_statement(exact_point(scaled_inverse("vla", ones), layer("linear", {}), units), at, "A_t = I: linear"),
         as_obligation(exact_point(spherical, layer("delta_net", ones), units), at, "A_t = beta_t I: DeltaNet(1)"),
         rival_law(exact_point(spherical, layer("scalar_gated_delta", beta), units), at, "Eq 4's DeltaNet"),
         as_obligation(exact_point(unnormalised, layer("delta_net", beta), units), at,
                       "a not normalised: DeltaNet(beta_t)"),
         rival_law(exact_point(unnormalised, layer("scalar_gated_delta", beta), units), at, "Eq 4's DeltaNet")});
  }
  return points;
}

Claim spherical_rescaling() {
  return explained(
      at_parameters(
          running(
              refuted_row(
                  "vla-7.3-spherical-rescaling",
                  stricter("§7.3: DeltaNet's $beta_t$ is 'equivalent to a spherical rescaling of $A_t$ at each step'.",
                           "none",
                           "Said of the family from Eq 6 on, whose gain $A_t k_t$ is not normalised; there it is "
                           "true. With VLA's unit write direction it is not."),
                  "004 §7.3",
                  "Linear attention is VLA with the fixed isotropic $A_t = I$; DeltaNet's time-varying "
                  "$beta_t$ is a spherical rescaling of $A_t$ at each step.",
                  "$A_t = beta_t$ I gives $a_t = k_t$ whatever $beta_t$: the delta rule with $beta = 1$. With "
                  "$a_t = A_t k_t$ not normalised it is DeltaNet, $S + beta_t (v - S k) k^T$, and still "
                  "not Eq 4. $A_t = I$ is a delta rule, not linear attention.",
                  multiples_of_identity),
              {"vla", "vla_unnormalized", "delta_net", "scalar_gated_delta", "linear"}),
          {integer_param("d", 5, 2, 32, "head width"), integer_param("dv", 3, 1, 32, "value width"),
           integer_param("T", 14, 2, 64, "steps")}),
      "True of the un-normalised form, Eq 6's gain, from which the paper starts.");
}

std::vector<Point> one_dimension(const Protocol &p) {
  // d = 1, k = 1: every state is a number, and every step of VLA ends at S = v, because a = 1 whatever A.
  std::vector<Point> points;
  const auto place = [](double beta, int T) { return labels({{"beta", num(beta)}, {"T", num(T)}}); };
  for (const Params &at : points_of(p, {place(0.5, 2), place(0.3, 5)})) {
    const int T = at.integer("T");
    if (std::pow(1 - at.real("beta"), T) < 1e-6) usage_error("by then DeltaNet, too, has come to the value itself");
    const Vector keys(T, 1.0), values(T, 1.5), penalties = Stream(p.seed, "one dimension/u").normals(T),
                                               beta(T, at.real("beta"));
    Vla normalised(1, 1, 0.1), unnormalised(1, 1, 1, {{"refresh", "0"}}, "vla_unnormalized");
    for (int t = 0; t < T; ++t) {
      normalised.step({1}, {penalties[t]}, {values[t]});
      unnormalised.A.data = {beta[t]};
      unnormalised.write({1}, {values[t]});
    }
    const double S = normalised.S.data[0], units = 64.0 * T, sum = 1.5 * T,
                 geometric = 1.5 * (1 - std::pow(1 - beta[0], T)), linear = state_of("linear", keys, values, 1, {})[0],
                 delta = state_of("delta_net", keys, values, 1, beta)[0];
    append(points,
           {as_statement(exact_point(S, sum, units), at, "VLA as linear attention"),
            as_statement(exact_point(S, geometric, units), at, "VLA as DeltaNet"),
            as_obligation(exact_point(S, values.back(), units), at, "VLA: the last value"),
            as_obligation(exact_point(linear, sum, units), at, "linear attention: the sum"),
            as_obligation(exact_point(delta, geometric, units), at, "DeltaNet: 1 - (1 - beta)^T of the value"),
            as_obligation(exact_point(unnormalised.S.data[0], geometric, units), at, "VLA, a not normalised"),
            rival_system(exact_point(state_of("scalar_gated_delta", keys, values, 1, beta)[0], geometric, units), at,
                         "Eq 4 for DeltaNet"),
            rival_system(exact_point(S, geometric, units), at, "a normalised")});
  }
  return points;
}

Claim strict_generalisation() {
  return explained(
      at_parameters(
          running(refuted_row(
                      "vla-strictly-generalises",
                      asserted(
                          "§3.5: 'VLA strictly generalises both prior models.' §7.3: 'a strict hierarchy'.", "none",
                          "The next two sentences give the reductions, neither of which is of Eq 10's normalised form.",
                          "Before normalisation, Eq 6 with a free gain contains linear attention's write and every "
                          "step of DeltaNet; this is the family that we mean. VLAv3 fixes the length of the write for "
                          "stability and keeps DeltaNet with $beta = 1$."),
                      "004 §3.5, §7.3",
                      "VLA strictly generalises linear attention and DeltaNet; the three form a strict "
                      "hierarchy.",
                      "No positive definite $A_t$ gives either, since $a_t$ has length 1: at $d = 1$ VLA ends at "
                      "$S = v_t$, linear attention at the sum, DeltaNet at $S + beta (v - S)$. VLA contains "
                      "DeltaNet with $beta = 1$ only; its un-normalised form contains every $beta_t$.",
                      one_dimension),
                  {"vla", "vla_unnormalized", "linear", "delta_net", "scalar_gated_delta"}),
          {real_param("beta", 0.5, 0.05, 0.9, "DeltaNet's step"), integer_param("T", 2, 2, 40, "equal steps")}),
      "A matrix $A_t$ has more freedom than a scalar; normalising its write direction takes the scalar's away.");
}

} // namespace

std::vector<Claim> section_7_3_hierarchy() {
  return {residual_alone(), geometry_alone(), spherical_rescaling(), strict_generalisation()};
}

} // namespace recollect::theory
