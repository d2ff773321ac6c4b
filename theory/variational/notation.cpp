// SPDX-License-Identifier: Apache-2.0
// Differences between the equations of 004, its Algorithm 1 and its text: the order of factors in Eq 3, the scale in Eq
// 11, and the definitions of u and of the unit key khat.
#include "theory/support/features.hpp"
#include "theory/support/quadrature.hpp"
#include "theory/support/sampling.hpp"
#include "theory/variational/vla_steps.hpp"

namespace recollect::theory {
namespace {
const std::vector<ParamSpec> steps{integer_param("T", 12, 1, 256, "steps"),
                                   integer_param("d", 6, 2, 64, "width of keys and values")};

Claim eq3_transposition() {
  ClaimBuilder c("vla-eq3-transposition", "004 Eq 3");
  c.says("The state $S_t = S_{t-1} + phi(k) v^T$ is read as $o = S phi(q) / (phi(q).z)$, where $z$ is the sum of the "
         "$phi(k)$.");
  c.exactly("With this $S$ the numerator of the read is $S^T phi(q)$. It is $S phi(q)$ if $S$ is a sum of $v "
            "phi(k)^T$, as in Eq 10.");
  c.because("This is an error of notation: if keys and values have different widths, the shapes do not fit.");
  c.is_refuted(
      slip("Eq 3: $S_t = S_{t-1} + phi(k_t) v_t^T$ read as $S_t phi(q_t)$.", "none", "Eq 10 and 11 have $v k^T$."));
  c.runs({"linear_elu", "linear"}), c.takes(steps);
  return measure(c, [](Points &points, Seed seed, int T, int d) {
    const Sequence s = random_sequence({1, 1, T, d, d}, seed);
    const Dense K(T, d, elu_plus_one(s.k)), V(T, d, s.v);
    const Vector q = elu_plus_one(row(s.q, T - 1, d)), all = results_of("linear_elu", s), read = row(all, T - 1, d);
    const Dense S = transpose(K) * V; // sum phi(k) v^T, as printed
    double mass = 0;
    for (int t = 0; t < T; ++t) mass += inner(q, row(K.data, t, d));
    const Vector sum = times(transpose(S), q), mean = scaled(1 / mass, sum);
    points.rounding(rounding_units("linear_elu", s));
    points.statement("read of linear attention: $o = S phi(q) / (phi(q).z)$", read, scaled(1 / mass, times(S, q)));
    points.obligation("read of linear attention: $o = S^T phi(q) / (phi(q).z)$", read, mean)
        .but_not("$o = S^T phi(q)$, not divided", scaled(1, sum));
    points.wrong_system("linear attention without feature map and normaliser", row(results_of("linear", s), T - 1, d),
                        mean);
  });
}

/// The mean of X/|phi|, where phi = elu(x) + 1 with x ~ N(0, I_d), and X is a channel of phi. Since 1/|phi| =
/// 2/sqrt(pi) int_0^inf exp(-r^2 |phi|^2) dr, the mean is 2/sqrt(pi) int_0^inf E[X exp(-r^2 X^2)] E[exp(-r^2
/// X^2)]^(d-1) dr.
Integral mean_direction(int d) {
  const auto moment = [](int power, double r) { // integrals over x < 0, where X = e^x, and over x > 0
    const auto f = [&](double x) {
      return std::pow(elu1(x), power) * std::exp(-r * r * elu1(x) * elu1(x) - x * x / 2) / std::sqrt(2 * M_PI);
    };
    double sum = 0;
    for (double a : {-9, -6, -3, 0, 3, 6}) sum += panel(a, a + 3).integral(f).value;
    return sum;
  };
  const double factor = 2 / std::sqrt(M_PI);
  return integrate([&](double r) { return factor * moment(1, r) * std::pow(moment(0, r), d - 1); }, 0, 100);
}

Claim output_scale() {
  ClaimBuilder c("vla-eq11-output-scale", "004 Eq 11, Algorithm 1 line 26 (implied)");
  c.says("If $S khat_i = v_i$ for the normalised key $khat_i = phi(k_i) / |phi(k_i)|$, a read of VLA at $q = k_i$ "
         "returns $v_i$.");
  c.exactly("The read returns $v_i |phi(k_i)| / (phi(k_i).z_t)$. Its direction is right, but its length is about "
            "$sqrt(d m2) / (d mu^2 t)$ times that of $v_i$, where $mu$ and $m2$ are the mean and the mean square of a "
            "feature: $.184/t$ at $d = 32$.");
  c.because("The normaliser $phi(q).z_t$ contains a sum of keys, which suits an additive state; VLA's state is not "
            "additive. The nearest value stays the same, but logits shrink as the sequence grows.");
  c.is_refuted(stricter("Eq 11 and Algorithm 1 line 26.", "none",
                        "The paper at most implies that the read returns $v_i$; it speaks of accuracy."));
  c.runs({"vla", "linear_elu"});
  c.takes({integer_param("T", 1000, 50, 4000, "steps"), integer_param("d", 32, 8, 64, "width")});
  return measure(c, [](Points &points, const Protocol &protocol, int T, int d) {
    const int heads = protocol.full() ? 96 : 8;
    // With u = 0, A stays a multiple of I, so the newest pair is stored exactly: without the normaliser, the read at
    // q_t = k_t is v_t.
    Sequence s = stored({heads, 1, T, d, 1}, Stream(protocol.seed, "output scale/keys").normals(size_t(heads) * T * d),
                        Stream(protocol.seed, "output scale/values").normals(size_t(heads) * T));
    s.w.assign(s.k.size(), 0.0);
    const auto reads_of = [&](const char *layer, const Assignments &set) {
      const Variant &v = find_variant(layer);
      return forward(v, s, {"chunked", Real::f64, 32, variant_params(v, set)}).o;
    };
    const Vector reads = reads_of("vla", {{"refresh", "0"}});
    Vector law(reads.size()), undivided(reads.size()), shrinkage;
    double predicted = 0;
    const double mean = elu1_mean(), square = elu1_mean_square();
    const Integral direction = mean_direction(d);
    for (int head = 0; head < heads; ++head) {
      Vector sum(d);
      for (int t = 1; t <= T; ++t) {
        const size_t step = size_t(head) * T + t - 1;
        const Vector phi = elu_plus_one(row(s.k, int(step), d));
        sum = combine(1, sum, 1, phi);
        law[step] = s.v[step] * norm(phi) / inner(phi, sum), undivided[step] = s.v[step] / inner(phi, sum);
        if (t <= T / 2) continue;
        // phi.z_t is |phi|^2 plus t - 1 inner products of phi with independent keys; E|phi| is about sqrt(d m2).
        shrinkage.push_back(s.v[step] / reads[step] / t);
        predicted += ((t - 1) * mean * d * direction.value + std::sqrt(d * square)) / t;
      }
    }
    predicted /= shrinkage.size();
    // Rounding: features have length 1 and sums grow to T, so products in a chunk have rounding errors relative to the
    // state.
    const double units = 64.0 * d * T * max_abs(s.v),
                 bias = predicted * (1.0 / d / T + direction.error / direction.value);
    const Mean measured = batch_mean(shrinkage);
    points.obligation("VLA, $q = k$: mean of $|v_t| / (t |o_t|)$", sampled_point(measured, predicted, bias))
        .but_not("$m2$ for $mu^2$", sampled_point(measured, std::sqrt(d * square), bias))
        .but_not("$|o_t|$ that falls as $1/sqrt t$", sampled_point(measured, predicted / std::sqrt(double(T)), bias));
    points.rounding(units).statement("VLA, $q = k$: the read is the value, $o_t = v_t$", reads, s.v);
    points.obligation("VLA, $q = k$: $o_t = v_t |phi(k_t)| / (phi(k_t).z_t)$", reads, law)
        .but_not("$o_t = v_t / (phi(k_t).z_t)$", undivided);
    points.wrong_system("linear attention: $o_t = v_t |phi(k_t)| / (phi(k_t).z_t)$", reads_of("linear_elu", {}), law);
  });
}

Claim u_scale() {
  ClaimBuilder c("vla-internal-u-scale", "004 Eq 8 against Algorithm 1 line 10");
  c.says("The penalty direction $u_t$ has one definition.");
  c.exactly("It has unit length in Eq 8 and length $1/sqrt(d)$ in Algorithm 1: the trace of $M_t$ grows by 1 or by "
            "$1/d$ per step, which differ by the factor 32 at $d = 32$.");
  c.because("Whatever depends on $lambda0/|u|^2$ differs between the two definitions, because this ratio differs by "
            "the factor $d$. An example is how far writes avoid earlier keys (vla_whitening_direction).");
  c.is_refuted(slip("Eq 8: $u$ of unit length; Algorithm 1 line 10: divided by $sqrt(d_h)$.", "none",
                    "Both are printed; neither mentions the other."));
  c.runs({"vla"}), c.takes({integer_param("T", 200, 1, 2000, "steps"), width_param(32)});
  return measure(c, [](Points &points, Seed seed, int T, int d) {
    const double lambda0 = 0.1;
    const Vector U = normal_matrix(T, d, seed, "two definitions of u").data; // the layer scales them
    const auto growth = [&](const Assignments &length) {
      Sequence s = stored({1, 1, T, d, 1}, U, Vector(T));
      s.w = U;
      Assignments set{{"refresh", "0"}, {"lambda0", number(lambda0)}};
      set.insert(length.begin(), length.end());
      const Vector state = run("vla", s, set).state;
      return trace(inverse(Dense(d, d, {state.begin() + d, state.begin() + d + size_t(d) * d}))) - d * lambda0;
    };
    const double eq8 = growth({{"u_norm", "1"}}), algorithm = growth({});
    // A, of size 1/lambda0, is inverted to M_T, of size T.
    points.rounding(64.0 * d * (1 / lambda0) * T * T);
    points.statement("trace of $M_T - M_0$: equal with Eq 8 and with Algorithm 1", eq8, algorithm);
    points.obligation("trace of $M_T - M_0$ with unit u (Eq 8): $T$", eq8, T);
    points.wrong_system("trace of $M_T - M_0$ with Algorithm 1's u: $T$", algorithm, T);
    points.obligation("trace of $M_T - M_0$ with u of length $1/sqrt d$ (Algorithm 1): $T / d$", algorithm,
                      double(T) / d);
    points.wrong_system("trace of $M_T - M_0$ with u of length $1/d$: $T / d$", growth({{"u_norm", number(1.0 / d)}}),
                        double(T) / d);
  });
}

Claim khat() {
  ClaimBuilder c("vla-internal-khat", "004 §3.1 against Algorithm 1 line 9");
  c.says("The normalised key has one definition.");
  c.exactly("With $k/|k|$ of §3.1 the mean cosine of two random keys is 0. With (elu + 1)($k$) normalised, as in "
            "Algorithm 1, it is .694 at $d = 32$ and tends to $mu^2/m2 = .685$ in wide heads, where $mu$ and $m2$ are "
            "the mean and the mean square of elu + 1 of $N(0,1)$.");
  c.because("Arguments that assume nearly orthogonal keys do not apply to Algorithm 1, because all its keys have a "
            "direction in common.");
  c.is_refuted(slip("§3.1: $k/|k|$; Algorithm 1 lines 8-9: (elu + 1)($k$), normalised.", "none",
                    "Both are printed; neither mentions the other."));
  c.runs({"vla"}), c.takes({integer_param("d", 32, 4, 128, "width")});
  return measure(c, [](Points &points, const Protocol &protocol, int d) {
    const int together = 64;
    // khat as the layer computes it: if A is a multiple of I, the first write of the value 1 leaves khat as the state.
    // A sample is the mean cosine (for power = 2, the mean squared cosine) over all pairs of 64 keys.
    const auto cosines = [&](const char *phi, int power, size_t first, size_t count) {
      const size_t heads = count * together;
      const Stream keys(protocol.seed, "two definitions of khat");
      Sequence s = stored({int(heads), 1, 1, d, 1}, keys.normals(heads * d, first * together * d), Vector(heads, 1.0));
      s.w.assign(s.k.size(), 0.0);
      const Vector state = run("vla", s, {{"phi", phi}, {"refresh", "0"}}).state;
      Vector samples;
      for (size_t i = 0; i < count; ++i) {
        Dense K(together, d);
        for (int j = 0; j < together; ++j)
          std::copy_n(&state[(i * together + j) * (state.size() / heads)], d, &K(j, 0));
        double sum = 0;
        for (double x : (K * transpose(K)).data) sum += power == 1 ? x : x * x;
        samples.push_back((sum - together) / (together * (together - 1)));
      }
      return samples;
    };
    const auto mean = [&](const char *phi, int power, double wanted) {
      const auto draw = [&, phi](size_t first, size_t count) {
        Vector samples = cosines(phi, power, first, count);
        for (double &x : samples) x = power == 1 ? 2 + 2 * x : x; // |a + b|^2 of unit a and b
        return samples;
      };
      return sample_mean(wanted, 64, 2000, in_blocks(cached_block(together * d), draw));
    };
    const Integral direction = mean_direction(d);
    const double positive = d * direction.value * direction.value, bias = 2 * d * direction.value * direction.error,
                 limit = std::pow(elu1_mean(), 2) / elu1_mean_square();
    // With a tenth of the usual error, the mean distinguishes the law at this width from its limit for large widths.
    const Mean algorithm = mean("elu", 1, wanted_sensitivity(protocol) / 10),
               text = mean("identity", 1, wanted_sensitivity(protocol) / 4),
               spread = mean("identity", 2, wanted_sensitivity(protocol));
    const auto law = [](double cosine) { return 2 + 2 * cosine; };
    const auto held = [&](double cosine) { return sampled_point(algorithm, law(cosine), 2 * bias); };
    const Mean both{algorithm.mean, std::hypot(algorithm.standard_error, text.standard_error)};
    points.statement("mean $|a + b|^2$ of two random keys: equal with Algorithm 1's keys and with those of §3.1", both,
                     text.mean);
    points
        .obligation("mean $|a + b|^2$, (elu + 1)(k) normalised: $2 + 2 d E[X/|phi|]^2$, X a channel of phi",
                    held(positive))
        .but_not("the limit $mu^2/m2$ of wide heads", held(limit));
    points.wrong_system("mean $|a + b|^2$, k normalised: $2 + 2 d E[X/|phi|]^2$",
                        sampled_point(text, law(positive), 2 * bias));
    points.obligation("mean $|a + b|^2$, k normalised: 2", text, law(0));
    points.obligation("mean square of the cosine of two random keys, k normalised: $1/d$", spread, 1.0 / d)
        .but_not("$2/d$ for $1/d$", 2.0 / d);
  });
}

Claim elu_for_exp() {
  ClaimBuilder c("elu-approximates-exp", "004 §2.2");
  c.says("Stricter reading: ELU + 1 approximates exp(q.k) by $phi(q).phi(k)$.");
  c.exactly("At $q = k = 0$ the product $phi(q).phi(k)$ is $d$ where exp(q.k) is 1, and for large $q$ and $k$ it grows "
            "only as a polynomial.");
  c.because("ELU + 1 gives another similarity, not an approximation of exp(q.k).");
  c.is_refuted(stricter(
      "§2.2: 'replace the softmax kernel with a positive feature map $phi$ satisfying exp(q.k) ~ $phi(q).phi(k)$'.",
      "a positive feature map; ELU + 1 is named two paragraphs later",
      "'Multiple feature maps have been proposed': random Fourier features do approximate exp(q.k), and ELU + 1 is in "
      "the same list without a claim of accuracy."));
  c.takes({integer_param("d", 32, 2, 256, "width")});
  return measure(c, [](Points &points, int d) {
    // phi(q).phi(k) for q = k = (x, ..., x)
    const auto product = [&](double x) { return inner(Vector(d, elu1(x)), Vector(d, elu1(x))); };
    points.rounding(8.0 * d * d).statement("$q = k = 0$: $phi(q).phi(k) = exp(q.k) = 1$", product(0), 1);
    points.obligation("$q = k = 0$: $phi(q).phi(k) = d$", product(0), d).but_not("$phi(q).phi(k) = d - 1$", d - 1);
    points.obligation("$q = k = (1, ..., 1)$: $phi(q).phi(k) = 4 d$, where $exp(q.k) = e^d$", product(1), 4 * d);
  });
}
} // namespace

std::vector<Claim> notation() { return {elu_for_exp(), eq3_transposition(), output_scale(), u_scale(), khat()}; }
} // namespace recollect::theory
