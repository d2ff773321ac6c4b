// SPDX-License-Identifier: Apache-2.0
// Every exact fast form of every variant equals the recurrent form, on outputs and final state (000 Appendix D.3, Eq
// 96-100).
//
// Reference: the recurrent form in float64. Bound on the difference: n eps(real) kappa. n = T + Dk + C is the number of
// accumulated terms (C: chunk length), and kappa is the condition number with respect to the inputs, as
// conditioning.hpp measures it. For float32 the inputs are rounded first; this perturbation of relative size eps is
// within the same bound. For the delta rule the bound of 000 Eq 51 is also tested, with cond(I + A) computed from the
// Gram matrix of the keys. The rival of every point is wrong in the last step only: its value is negated, and its query
// is negated and halved.
#include "theory/support/delta_recursion.hpp"
#include "theory/support/measure.hpp"

namespace recollect::theory {
namespace {
struct Size {
  int T;
  std::vector<int> chunks;
};

std::vector<Size> sizes(const Protocol &protocol) {
  if (protocol.point) return {{protocol.point->integer("T"), {protocol.point->integer("C")}}};
  if (!protocol.full()) return {{2, {1, 2}}, {65, {1, 16, 64, 65}}};
  std::vector<Size> all;
  for (int T : {1, 2, 63, 64, 65, 500}) {
    all.push_back({T, {}});
    for (int C : {1, 16, 32, 64})
      if (C < T) all.back().chunks.push_back(C);
    all.back().chunks.push_back(T);
  }
  return all;
}

std::vector<const Form *> fast_forms(const Variant &variant) {
  std::vector<const Form *> fast;
  for (const Form &form : variant.forms)
    if (form.name != "recurrent" && form.exact) fast.push_back(&form);
  return fast;
}

Sequence with_one_wrong_step(Sequence s) {
  const Shape n = s.shape;
  for (int c = 0; c < n.Dv; ++c) s.v[size_t(n.T - 1) * n.Dv + c] *= -1;
  for (int c = 0; c < n.Dk; ++c)
    s.q[size_t(n.T - 1) * n.Dk + c] *= -0.5; // negated, so a read that ReLU sets to 0 becomes nonzero
  return s;
}

Params params_of(const Variant &variant, const Form &form, Real real, int T, int C) {
  Params p;
  return p.set("variant", variant.name).set("form", form.name).set("real", name_of(real)).set("T", T).set("C", C);
}

void compare(Points &points, const Variant &variant, const Size &size, std::uint64_t seed) {
  const Params params = variant_params(variant);
  const Shape shape{1, 2, size.T, 10, 6};
  const std::vector<const Form *> fast = fast_forms(variant);
  if (fast.empty() || (variant.unsuitable && !variant.unsuitable(shape, params).empty())) return;
  const Sequence sequence = random_sequence(shape, seed), wrong = with_one_wrong_step(sequence);
  const Output reference = forward(variant, sequence, {"recurrent", Real::f64, 1, params});
  if (max_abs(reference.o) == 0) return; // stick-breaking attends to earlier steps only, so at T = 1 its output is 0
  const double kappa = input_condition(variant, sequence, params);
  for (const Form *form : fast)
    for (Real real : {Real::f32, Real::f64})
      for (int C : size.chunks) {
        const double bound = accumulated_terms(shape, C) * epsilon_of(real) * kappa;
        const auto held = [&](const Sequence &s) {
          const double apart = deviation(forward(variant, s, {form->name, real, C, params}), reference).largest();
          // `apart` is infinite if the right outputs are all 0.
          return at_most_point(std::min(apart, 1e300), bound, 0);
        };
        points.at(params_of(variant, *form, real, size.T, C));
        points.statement("largest relative error, at most its rounding bound", held(sequence));
        points.wrong_system("an input with one wrong step", held(wrong));
      }
}

/// The system that a delta rule solves on one head, (I + A) U = X and O = R U, with the gates folded in. If `decays`,
/// the pair (i, t) is multiplied by alpha_{i+1} ... alpha_t; if `scales`, v_t is multiplied by alpha_t (000 Eq 41).
struct System {
  Dense A, R, X;
};

System system_of(const Sequence &s, bool decays, bool scales) {
  const Shape &n = s.shape;
  const Rows r(s);
  const Dense w = scales ? head_rows(s.w, n, 0, n.Dk) : r.k;
  System system{scale_rows(causal_weights(r.k, w, linear_kernel, Triangle::strict), s.beta),
                causal_weights(r.k, r.q, linear_kernel, Triangle::with_diagonal),
                scale_rows(r.v, scales ? s.alpha : s.beta)};
  for (int t = 0; decays && t < n.T; ++t) {
    double decay = 1;
    for (int i = t; i >= 0; decay *= s.alpha[i--]) system.A(t, i) *= decay, system.R(t, i) *= decay;
  }
  return system;
}

/// Eq 51 and 52 for errors dA, dR, dX of relative size e = n eps; the norms of A, R and the inverse are spectral:
///   |dU| <= e |(I + A)^{-1}| (|A| |U| + |X|),   |dO| <= |R| (|dU| + e |U|).
void delta_rule_bound(Points &points, const std::string &name, Keys keys, std::uint64_t seed) {
  const Variant &variant = find_variant(name);
  const Shape shape{1, 1, 64, 10, 6};
  const Sequence s = random_sequence(shape, seed, keys);
  const System system = system_of(s, name == "gated_delta_net", name == "delta_former");
  const Dense I = Dense::identity(shape.T), U = solve_unit_lower(system.A, system.X), O = system.R * U;
  const double inverse_norm = spectral_norm(inverse(I + system.A)), cond = inverse_norm * spectral_norm(I + system.A);
  const double reach =
      spectral_norm(system.R) *
      (frobenius_norm(U) + inverse_norm * (spectral_norm(system.A) * frobenius_norm(U) + frobenius_norm(system.X)));
  const int cut = 16; // the first step of the second chunk, where the rivals differ
  Dense edge = system.A;
  edge(cut, cut - 1) = 0;
  const Sequence rest = slice_steps(s, cut, shape.T);
  const Vector of_rest(O.data.begin() + size_t(cut) * shape.Dv, O.data.end());
  for (const Form *form : fast_forms(variant)) {
    if (form->name == "doubling") continue; // this form is not backward stable; neumann.cpp has its law
    for (int C : {1, 4, 16, 64}) {
      const auto reads = [&](const Sequence &of) {
        return forward(variant, of, {form->name, Real::f64, C, variant_params(variant)}).o;
      };
      points.at(params_of(variant, *form, Real::f64, shape.T, C)
                    .set("keys", keys == Keys::unit ? "unit" : "repeated")
                    .set("cond", cond));
      points.rounding(accumulated_terms(shape, C) * reach);
      auto stated = points.obligation("reads, within the bound of Eq 51", reads(s), O.data);
      points.wrong_system("an input with one wrong step", reads(with_one_wrong_step(s)), O.data);
      if (C != cut || keys != Keys::unit) continue;
      stated.but_not("$I - A$ in place of $I + A$", (system.R * solve_unit_lower(-1 * system.A, system.X)).data)
          .but_not("the first row of a chunk does not see the key before it",
                   (system.R * solve_unit_lower(edge, system.X)).data);
      points.wrong_system("a chunk that ignores the earlier chunks", reads(rest), of_rest);
    }
  }
}

Claim claim() {
  ClaimBuilder c("chunked-equals-sequential", "000 D.3, Eq 51, 96-100");
  c.says("Solving $U = (I + A)^{-1} V$ chunk by chunk gives the $u$ of the recursion. Likewise, the chunked form of "
         "every layer gives the outputs and the final state of its recurrence.");
  c.exactly("An identity for every $T$ and every chunk length $C <= T$, also if $Dk != Dv$. Rounding errors stay "
            "within $(T + Dk + C) eps kappa$, where $eps$ is the rounding unit and $kappa$ is the condition number "
            "with respect to the inputs, which is measured. For the delta rule they also stay within the bound of Eq "
            "51. The problem is ill-conditioned for kernels without a normaliser, and for keys whose norm is not 1.");
  std::vector<std::string> layers;
  for (const Variant &variant : all_variants())
    if (!fast_forms(variant).empty()) layers.push_back(variant.name);
  c.runs(layers), c.takes({steps_param(65, 1, 65536), integer_param("C", 16, 1, 65536, "chunk length")});
  c.also([](Points &points, const Protocol &protocol) {
    for (const char *name : {"delta_net", "gated_delta_net", "delta_former"})
      for (Keys keys : {Keys::unit, Keys::repeated}) delta_rule_bound(points, name, keys, protocol.seed);
  });
  return c.measure([](Points &points, const Params &, const Protocol &protocol) {
    for (const Variant &variant : all_variants())
      for (const Size &size : sizes(protocol)) compare(points, variant, size, protocol.seed);
  });
}
} // namespace

std::vector<Claim> chunk_equals_recurrent() {
  Claim all = claim();
  all.id = "chunk_equals_recurrent";
  return {all};
}
} // namespace recollect::theory
