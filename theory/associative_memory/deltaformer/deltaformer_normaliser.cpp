// SPDX-License-Identifier: Apache-2.0
// The normaliser of DeltaFormer (000 footnote 9, §2.2.1, D.2): the effect of a factor 1/t on A_t and C_t, what Eq 94
// does instead, its two misprints, and the exponential similarity without a normaliser.
#include "harness/core/error.hpp"
#include "harness/numerics/inputs.hpp"
#include "theory/associative_memory/deltaformer/delta_former_writes.hpp"

namespace recollect::theory {
namespace {

const std::vector<ParamSpec> sizes{integer_param("d", 8, 2, 1024, "key width"),
                                   integer_param("dv", 4, 2, 1024, "value width"),
                                   integer_param("T", 100, 3, 4096, "steps")};
std::vector<Shape> shapes(const Protocol &protocol, std::initializer_list<int> quick, int full) {
  if (protocol.point) {
    const Params &p = *protocol.point;
    return {{1, 1, p.integer("T"), p.integer("d"), p.integer("dv")}};
  }
  std::vector<Shape> all;
  for (int T : quick) all.push_back({1, 1, T, 8, 4});
  if (protocol.full()) all.push_back({1, 1, full, 8, 4});
  return all;
}
Params params_of(const Shape &s) { return labels({{"T", num(s.T)}, {"d", num(s.Dk)}, {"dv", num(s.Dv)}}); }

Claim common_factor() {
  Claim claim = ledger_row(
      "normaliser-independent", "000 footnote 9, §2.2.1",
      "For large $t$ the normaliser of softmax attention scales $A_t$ and $C_t$ of Eq 37 by a factor related to $1/t$ "
      "(Table "
      "2: $(t-1)/t$ and $1/t$); the factor is independent and does not touch the derivation of $u_t$.",
      "Exactly, at every $t$: $S_t = (t-1)/t S_{t-1} (I - phi phi^T) + v phi^T / t$ is $1/t$ times the memory of Eq "
      "37, "
      "with the same $u_t$.",
      [](const Protocol &protocol) {
        std::vector<Point> points;
        for (const Shape &shape : shapes(protocol, {2, 100}, 2000)) {
          Sequence s = random_sequence(shape, protocol.seed);
          s.beta.assign(shape.T, 1.0);
          const Dense k = head_rows(s.k, shape, 0, shape.Dk), q = head_rows(s.q, shape, 0, shape.Dk),
                      v = head_rows(s.v, shape, 0, shape.Dv);
          const Dense u = solve_unit_lower(causal_weights(k, k, linear_kernel, Triangle::strict), v),
                      weights = causal_weights(k, q, linear_kernel, Triangle::with_diagonal);
          // The reads of Eq 38-40 times factor(t), with u_i times written(i).
          const auto reads = [&](const auto &factor, const auto &written) {
            std::vector<double> of_read(shape.T), of_write(shape.T);
            for (int t = 0; t < shape.T; ++t) of_read[t] = factor(t + 1.0), of_write[t] = written(t + 1.0);
            return scale_rows(weights * scale_rows(u, of_write), of_read).data;
          };
          const auto one = [](double) { return 1.0; };
          const auto per_step = [](double t) { return 1 / t; };
          for (int t = 0; t < shape.T; ++t) {
            s.alpha[t] = t / (t + 1.0);
            for (int c = 0; c < shape.Dv; ++c) s.v[size_t(t) * shape.Dv + c] /= t + 1;
          }
          Sequence unscaled = s;
          unscaled.alpha.assign(shape.T, 1.0);
          const auto run = [](const Sequence &of) {
            return forward(find_variant("gated_delta_net"), of, {"chunked", Real::f64, 64, {}}).o;
          };
          const double units = rounding_units("gated_delta_net", s);
          const std::vector<double> measured = run(s), predicted = reads(per_step, one);
          const Params params = params_of(shape);
          points.push_back(as_statement(exact_point(measured, predicted, units), params, "reads of the scaled memory"));
          points.push_back(rival_system(exact_point(run(unscaled), predicted, units), params, "1/t on C_t alone"));
          points.push_back(rival_law(exact_point(measured, reads([](double t) { return 1 / (t + 1); }, one), units),
                                     params, "1/(t+1)"));
          points.push_back(rival_law(exact_point(measured, reads(one, one), units), params, "no factor"));
          points.push_back(
              rival_law(exact_point(measured, reads(per_step, per_step), units), params, "u_t scaled as well"));
        }
        return points;
      });
  claim.explanation = "So far the footnote is right. It does not cover Eq 94, which normalises the erasure alone: "
                      "eq94_differs_from_eq37.";
  return at_parameters(running(claim, {"gated_delta_net"}), sizes);
}

/// Mean of exp(x.y) over directions of two vectors of norm r in d dimensions: sum_m r^{4m}/(2m)! E cos^{2m}, with
/// E cos^{2m} = (2m-1)/(d+2m-2) E cos^{2m-2}.
double mean_exp(double r, int d) {
  double sum = 1, term = 1;
  for (int m = 1; m < 40; ++m) {
    term *= std::pow(r, 4) / (2.0 * m * (2 * m - 1)) * (2 * m - 1) / (d + 2 * m - 2);
    sum += term;
  }
  return sum;
}

Claim eq94_is_another_model() {
  Claim claim = refuted_row(
      "eq94-differs-from-eq37",
      stricter("§2.2.1 after Eq 37: the normaliser 'is omitted here without affecting the derivation', 'in practice it "
               "is still retained'; D.2: Eq 94 'integrates' the delta rule with softmax attention.",
               "$t$ sufficiently large (footnote 9)",
               "Footnote 9 claims independence of the derivation, not equality of the two models."),
      "000 D.2 Eq 94, §2.2.1",
      "Read more strictly than the text says it: the model in use, whose $kappa_1$ keeps the normaliser of Eq 94, "
      "writes the $u_t$ of Eq 39 up to a factor of its own step.",
      "Eq 94 scales the erasure and not $v_t$. Its weights sum to exactly 1 where those of Eq 39 sum to about $t$, so "
      "what it takes out is an average of the old $u$: a different model at every length.",
      [](const Protocol &protocol) {
        std::vector<Point> points;
        for (const Shape &shape : shapes(protocol, {16, 256}, 2048)) {
          const double norm = 0.7; // kappa(k,k) = exp(0.49) < 2: Eq 39 stays bounded
          Dense k = normal_matrix(shape.T, shape.Dk, protocol.seed, "eq94/keys");
          normalise_rows(k.data, shape.Dk);
          k = norm * k;
          const Dense v = normal_matrix(shape.T, shape.Dv, protocol.seed, "eq94/values");
          const std::vector<double> eq94 = last_written(k, v, "softmax").data, eq39 = last_written(k, v, "exp").data;
          std::vector<double> scaled = eq39;
          for (double &x : scaled) x *= eq94[0] / eq39[0];
          const double units = 8.0 * shape.T * shape.T * max_abs(scaled); // sums over T, through T rows that shrink
          const Params params = params_of(shape).set("norm", norm);
          points.push_back(as_statement(exact_point(eq94, scaled, units), params, "u_T, factor from channel 1"));
          // Ones in all u before T (v_1 = 1 and v_t = 2) and v_T = 0 leave u_T = -(row sum).
          Dense ones(shape.T, 1, std::vector<double>(shape.T, 2.0));
          ones.data.front() = 1, ones.data.back() = 0;
          const double row = -last_written(k, ones, "softmax")(0, 0);
          const Point sum = as_obligation(exact_point(row, 1, 8.0 * shape.T), params, "row sum of A in Eq 94");
          points.push_back(sum);
          points.push_back(rival_system(exact_point(-last_written(k, ones, "exp")(0, 0), 1, 8.0 * shape.T), params,
                                        "kernel without normaliser"));
          points.push_back(rival_law(sum, "row sum of Eq 39", (shape.T - 1) * mean_exp(norm, shape.Dk)));
          points.push_back(rival_law(sum, "each weight over t", (shape.T - 1.0) / shape.T));
        }
        return points;
      });
  claim.explanation = "The text claims independence of the derivation (normaliser_independent), and calls Eq 94 an "
                      "integration of delta rule and softmax, not the same model.";
  return at_parameters(running(claim, {"delta_former"}), sizes);
}

/// Each row divided by the given numbers.
Dense divide_rows(const Dense &m, const std::vector<double> &by) {
  std::vector<double> factors;
  for (double x : by) factors.push_back(x == 0 ? 0 : 1 / x);
  return scale_rows(m, factors);
}

Claim indices_of_z() {
  Claim claim = refuted_row(
      "eq94-z-typo",
      slip("After Eq 94 and Eq 95: $Z1_t$ = sum exp($k_i$ . $k_i$), $Z2_t$ = sum exp($k_i$ . $q_i$).", "none",
           "The same sentence says 'similar to softmax attention', and Listing 1 has the indices right."),
      "000 after Eq 94 and after Eq 95",
      "$Z1_t$ = sum_{i<t} exp($k_i$ . $k_i$) and $Z2_t$ = sum_{i<=$t$} exp($k_i$ . $q_i$) normalise the weights.",
      "$Z1_t$ = sum_{i<t} exp($k_i$ . $k_t$) and $Z2_t$ = sum_{i<=$t$} exp($k_i$ . $q_t$), as Listing 1 has them (with "
      "$1/sqrt d$).",
      [](const Protocol &protocol) {
        const Shape shape = shapes(protocol, {20}, 60).back();
        const Sequence s = random_sequence(shape, protocol.seed);
        const Dense k = head_rows(s.k, shape, 0, shape.Dk), q = head_rows(s.q, shape, 0, shape.Dk),
                    v = head_rows(s.v, shape, 0, shape.Dv);
        const Dense A1 = causal_weights(k, k, exp_kernel, Triangle::strict),
                    A2 = causal_weights(k, q, exp_kernel, Triangle::with_diagonal);
        std::vector<double> z1(shape.T), z2(shape.T);
        for (int t = 0; t < shape.T; ++t) {
          z1[t] = t ? z1[t - 1] + std::exp(inner(&k.data[size_t(t - 1) * k.columns], &k.data[size_t(t - 1) * k.columns],
                                                 k.columns))
                    : 0;
          z2[t] = (t ? z2[t - 1] : 0) +
                  std::exp(inner(&k.data[size_t(t) * k.columns], &q.data[size_t(t) * k.columns], k.columns));
        }
        const Dense printed1 = divide_rows(A1, z1), printed2 = divide_rows(A2, z2), mended1 = normalise_sums(A1),
                    mended2 = normalise_sums(A2);
        const auto row_sum = [](const Dense &m, int t) {
          double sum = 0;
          for (int i = 0; i < m.columns; ++i) sum += m(t, i);
          return sum;
        };
        const Params params = params_of(shape), second = labels({{"t", num(2)}, {"d", num(shape.Dk)}});
        Sequence plain = s;
        plain.w = plain.k, plain.alpha.assign(shape.T, 1.0), plain.beta = plain.alpha;
        const Assignments softmax{{"kappa1", "softmax"}, {"kappa2", "softmax"}};
        const std::vector<double> reads = results_of("delta_former", plain, softmax);
        const double units = rounding_units("delta_former", plain, softmax);
        return std::vector<Point>{
            as_statement(exact_point(row_sum(printed1, 1), 1, 4), second, "row sum over Z1 as printed"),
            as_statement(exact_point(row_sum(printed2, 1), 1, 4), second, "row sum over Z2 as printed"),
            as_obligation(exact_point(reads, (mended2 * solve_unit_lower(mended1, v)).data, units), params,
                          "reads of DeltaFormer with softmax kernels"),
            rival_law(exact_point(reads, (mended2 * solve_unit_lower(printed1, v)).data, units), params,
                      "Z1 as printed"),
            rival_law(exact_point(reads, (printed2 * solve_unit_lower(mended1, v)).data, units), params,
                      "Z2 as printed"),
            rival_law(exact_point(reads, (mended2 * solve_unit_lower(A1, v)).data, units), params, "no Z1")};
      });
  claim.explanation =
      "A slip of an index: both are meant 'similar to softmax attention', and the listing has them right.";
  return at_parameters(running(claim, {"delta_former"}), sizes);
}

/// One pair written `writes` times over: the residual v - S phi after the last write over that before it. With kappa2
/// the same kernel, o_t = S phi(k).
double residual_factor(double square_norm, double step, int writes) {
  Sequence s;
  s.shape = {1, 1, writes, 1, 1};
  s.k.assign(writes, std::sqrt(square_norm)), s.q = s.k, s.v.assign(writes, 1.0);
  s.alpha.assign(writes, step), s.beta.assign(writes, step);
  const std::vector<double> o = results_of("delta_former", s, {{"kappa1", "exp"}, {"kappa2", "exp"}});
  return (1 - o[writes - 1]) / (1 - o[writes - 2]);
}

Claim stability() {
  Claim claim = ledger_row(
      "deltaformer-exp-stability", "000 §2.2.1",
      "The normaliser, left out of the derivation, is kept in practice against numerical instability.",
      "Writing one pair again multiplies its residual by $1 - beta kappa(k,k)$: stable exactly for $beta kappa(k,k) < "
      "2$, with $beta = 1$ and $tau = 1$ for $|k|^2 < ln 2$. Unit keys give $1 - e = -1.718$ a write. With the "
      "normaliser $u_t "
      "= v/2$ from the third write on.",
      [](const Protocol &protocol) {
        std::vector<Point> points;
        std::vector<std::pair<double, double>> cases{{1, 1},   {0.5, 1}, {std::log(2.0), 1},    {0.8, 1},
                                                     {1, 0.9}, {1, 0.5}, {1, 2 / std::exp(1.0)}};
        if (protocol.point) cases = {{protocol.point->real("square_norm"), protocol.point->real("beta")}};
        for (const auto &[square, step] : cases) {
          const double kappa = std::exp(square), factor = 1 - step * kappa;
          if (std::fabs(factor) < 0.01) usage_error("one write meets the value: there is no residual to follow");
          const int writes = 6;
          const Params params = labels({{"square_norm", num(square)}, {"beta", num(step)}, {"writes", num(writes)}});
          // The residual after m writes is factor^m; read as 1 - o it loses kappa m units of the largest u, or 1 of 1.
          const double largest = std::max(1.0, std::pow(std::fabs(factor), writes)),
                       smallest = std::min(1.0, std::pow(std::fabs(factor), writes));
          const double units = 16 * writes * kappa * largest / smallest * std::max(1.0, std::fabs(factor));
          const Point point = as_statement(exact_point(residual_factor(square, step, writes), factor, units), params,
                                           "residual after a write over that before it");
          points.push_back(point);
          points.push_back(rival_law(point, "1 + beta kappa(k,k)", 1 + step * kappa));
          points.push_back(rival_law(point, "kappa(k,k) = 1 + |k|^2", 1 - step * (1 + square)));
        }
        if (protocol.point) return points;
        const auto size = [](double square) { return std::fabs(residual_factor(square, 1, 6)); };
        const auto at_square = [](double square) { return labels({{"square_norm", num(square)}, {"beta", num(1)}}); };
        points.push_back(rival_system(at_most_point(size(0.8), 1, 0), at_square(0.8), "stable for |k|^2 < 1"));
        points.push_back(rival_system(at_least_point(size(0.5), 1, 0), at_square(0.5), "unstable from kappa = 1 on"));
        for (int writes : {10, 40}) {
          const Dense k(writes, 1, std::vector<double>(writes, 1.0)), v = k;
          const Params params = labels({{"square_norm", num(1)}, {"beta", num(1)}, {"writes", num(writes)}});
          points.push_back(as_obligation(exact_point(last_written(k, v, "softmax")(0, 0), 0.5, 4.0 * writes), params,
                                         "last u with the normaliser: v/2"));
          points.push_back(rival_system(exact_point(last_written(k, v, "exp")(0, 0), 0.5, 4.0 * writes), params,
                                        "the same without normaliser"));
        }
        return points;
      });
  return at_parameters(running(claim, {"delta_former"}), {real_param("square_norm", 1, 1e-3, 8, "|k|^2"),
                                                          real_param("beta", 1, 1e-3, 1, "beta = alpha")});
}

} // namespace

std::vector<Claim> deltaformer_normaliser() {
  return {common_factor(), eq94_is_another_model(), indices_of_z(), stability()};
}

} // namespace recollect::theory
