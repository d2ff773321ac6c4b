// SPDX-License-Identifier: Apache-2.0
// 003 Vignette 3, Eq 26-29: DeltaNet as stochastic gradient descent, and the weights that it gives to past pairs.
#include "theory/support/differences.hpp"
#include "theory/support/sampling.hpp"
#include "theory/test_time_regression/pairs.hpp"

namespace recollect::theory {
namespace {
/// M_t = M_{t-1} - size beta_t grad, where grad is the gradient of |v - M k|^2 / 2 on pair t at M_{t-1-late}.
Output descend(const Sequence &s, double size, int late) {
  std::vector<Dense> past(late + 1, Dense(s.shape.Dv, s.shape.Dk));
  return stepped(s, [&, past](const Dense &M, const Dense &k, const Dense &v, int t) mutable {
    past.push_back(M);
    const Dense slope = gradient(past[past.size() - 1 - late], [&](const Dense &m) { return square(v - m * k) / 2; });
    return M - size * s.beta[t] * slope;
  });
}

Claim delta_net_is_sgd() {
  ClaimBuilder c("deltanet-sgd", "003 Eq 26-29");
  c.says("One single-example step of gradient descent on $|v_t - M k_t|^2 / 2$ per time step, started from $M_{t-1}$, "
         "is DeltaNet: $M_{t-1} (I - beta k k^T) + beta v k^T$ (the delta rule, Widrow-Hoff, LMS).");
  c.exactly("This is an identity.");
  c.because("The derivative of the loss of each pair is measured.");
  c.runs({"delta_net", "linear"}), c.takes(one_head_params(point_P));
  return measure(c, [](Points &points, Seed seed, const Shape &shape) {
    const Sequence s = random_sequence(shape, seed);
    const Measured layer = measured("delta_net", s);
    const double factor =
        8 * (1 + max_abs(s.v)) * s.shape.Dv; // the size of the losses that the measured gradient subtracts
    points
        .statement("DeltaNet takes one gradient step of size $beta$ from $M_{t-1}$",
                   layer.against(descend(s, 1, 0), factor))
        .but_not("the loss without its $1/2$", layer.against(descend(s, 2, 0), factor))
        .but_not("the gradient taken at $M_{t-2}$", layer.against(descend(s, 1, 1), factor))
        .but_not("steps along the gradient, not against it", layer.against(descend(s, -1, 0), factor));
    points.wrong_system("linear attention", measured("linear", s).against(descend(s, 1, 0), factor));
  });
}

/// |P_t|_F^2 / D, where P_t is the product of (I - beta k k^T) over t random unit keys. This is the fraction of |M_0|^2
/// that remains, averaged over the directions of M_0. P_t is measured as the state after writes of 0 to S = I.
Vector remainders(const std::string &variant, int t, int D, double beta, Seed seed, size_t first, size_t count) {
  const Vector keys = random_units(count * t, D, Stream(seed, "003/visited keys"), first * t);
  Sequence s = stored({int(count), 1, t, D, D}, keys, Vector(keys.size()), beta);
  s.state = repeated(Dense::identity(D).data, count);
  const Vector state = forward(find_variant(variant), s, {"fast", Real::f64, 16, {}}).state;
  return state_squares(state, count, D * D, D);
}

Claim recency() {
  ClaimBuilder c("sgd-recency", "003 after Eq 29");
  c.says("Stochastic gradient descent has the advantage that the memory $m_t$ depends more on recent pairs. Unweighted "
         "RLS and unweighted linear attention weight all time steps equally.");
  c.exactly("After $t$ steps with isotropic unit keys, $M_0 P_t$ is left of the initial memory $M_0$, with $E|M_0 "
            "P_t|^2 / |M_0|^2 = (1 - (2 beta - beta^2)/D)^t$. Pairs with orthogonal keys are not forgotten: DeltaNet "
            "forgets only along directions in which later keys have a component.");
  c.because("Recent pairs have more weight if later keys have components in the same directions. Along directions "
            "without later keys, the oldest pair counts as much as the newest.");
  c.holds_under("later keys have components in the same directions, as isotropic keys do");
  c.runs({"delta_net", "linear", "rls"});
  c.takes({integer_param("D", 8, 3, 128, "key width"), real_param("beta", 0.5, 0.05, 1.5, "step size"),
           integer_param("t", 8, 2, 500, "later pairs")});
  c.at({{}, {{"beta", 1}, {"t", 16}}});
  c.last([](Points &points, const Protocol &protocol) {
    // The layers with which DeltaNet is compared weigh all pairs equally: their results do not depend on the order of
    // the pairs.
    const Sequence s = random_sequence(point_P, protocol.seed);
    Sequence reversed = s;
    for (int t = 0; t < point_P.T; ++t) {
      const int from = point_P.T - 1 - t;
      std::copy_n(&s.k[from * point_P.Dk], point_P.Dk, &reversed.k[t * point_P.Dk]);
      std::copy_n(&s.v[from * point_P.Dv], point_P.Dv, &reversed.v[t * point_P.Dv]);
    }
    const auto same = [&](const std::string &variant) {
      return exact_point(memory(run(variant, reversed), point_P).data, memory(run(variant, s), point_P).data,
                         2 * rounding_units(variant, s));
    };
    points.at(params_of(point_P)).obligation("linear attention: the same memory in reverse order", same("linear"));
    points.wrong_system("DeltaNet in reverse order", same("delta_net"));
    points.obligation("RLS: the same memory in reverse order", same("rls"));
  });
  return measure(c, [](Points &points, const Protocol &protocol, const Params &p, int D, double beta, int t) {
    const auto left = [&](double rate) { return std::pow(1 - rate, t); };
    const double law = left((2 * beta - beta * beta) / D), other = left((2 * beta - beta * beta) / (D - 1));
    std::vector<std::pair<std::string, double>> rivals{{"$D-1$ for $D$", other},
                                                       {"a rate of $2 beta / D$", left(2 * beta / D)}};
    // at beta = 1 this rival equals the law
    if (beta != 1) rivals.push_back({"a rate of $beta / D$", left(beta / D)});
    Vector predictions;
    for (const auto &[name, predicted] : rivals) predictions.push_back(predicted);
    const auto mean = [&](const std::string &variant, double wanted) {
      const auto draw = [&](size_t first, size_t count) {
        return remainders(variant, t, D, beta, protocol.seed, first, count);
      };
      return sample_mean(wanted, pilot_size(protocol), 1'000'000,
                         in_blocks(cached_block(size_t(D) * (3 * t + D)), draw));
    };
    const Mean kept = mean("delta_net", wanted_sensitivity(protocol, law, predictions));
    auto forgets =
        points.condition("share of $|M_0|^2$ left after random keys: $(1 - (2 beta - beta^2)/D)^t$", kept, law);
    points.wrong_system("linear attention: share of $|M_0|^2$ left after random keys", mean("linear", 0.1), law);
    for (const auto &[name, predicted] : rivals) forgets.but_not(name, predicted);
    // Orthonormal keys and equal values: the first of D pairs is read as strongly as the last.
    Pairs x(orthonormal(D, D, protocol.seed), Dense(D, 1, Vector(D, 1)));
    Sequence s = x.sequence();
    s.beta.assign(D, beta);
    const Dense reads = memory(run("delta_net", s), s.shape) * transpose(x.K);
    points.at(Params(p).set("keys", "orthonormal"));
    points.statement("orthogonal keys: the read of the oldest pair is below $beta v$",
                     at_most_point(reads(0, 0), 0.999 * beta, 0));
    Vector fading(D);
    for (int i = 0; i < D; ++i) fading[i] = beta * std::pow(1 - beta / D, D - 1 - i);
    points.rounding(64.0 * D);
    points.obligation("orthogonal keys: the read of every pair is $beta v$", reads.data, Vector(D, beta))
        .but_not("reads that fade as with random keys", fading);
  });
}
} // namespace

std::vector<Claim> vignette_3_stochastic_descent() { return {delta_net_is_sgd(), recency()}; }
} // namespace recollect::theory
