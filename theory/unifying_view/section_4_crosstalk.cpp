// SPDX-License-Identifier: Apache-2.0
// 002 §3-5: the effect of a write at another key. Linear attention doubles, the delta rule overwrites in part, a gate
// scales.
#include "theory/unifying_view/one_write.hpp"

namespace recollect::theory {
namespace {

// ---- Linear attention: the second write -----------------------------------------------------------------------------

std::vector<Point> doubles(const Protocol &protocol) {
  std::vector<Point> points;
  for (const Params &p : points_of(protocol, {write_point({{"norm", num(1)}, {"cosine", num(0.3)}}),
                                              write_point({{"norm", num(1.5)}, {"cosine", num(-0.6)}})})) {
    const Setting x(p, protocol.seed);
    const double norm = p.real("norm"), overlap = norm * p.real("cosine");
    const Dense empty(x.S.rows, x.S.columns);
    const auto read = [&](const std::string &variant, const Vector &at, double alpha, double factor) {
      const Write w = x.write(1, alpha);
      return exact_point(times(after(variant, empty, {w, w}), at), scaled(factor, x.value), x.units());
    };
    const double kk = norm * norm;
    points.push_back(as_statement(read("linear", x.key, 1, 2 * kk), p, "the read at k: 2 |k|^2 v"));
    points.push_back(rival_system(read("gated_linear", x.key, 0.9, 2 * kk), p, "a gate of 0.9: 1.9 |k|^2 v"));
    points.push_back(rival_system(read("delta_net", x.key, 1, 2 * kk), p, "DeltaNet"));
    points.push_back(rival_law(read("linear", x.key, 1, kk), p, "as after one write"));
    if (norm != 1) points.push_back(rival_law(read("linear", x.key, 1, 2), p, "|k|^2 forgotten"));
    if (overlap == 0) continue;
    points.push_back(as_statement(read("linear", x.other, 1, 2 * overlap), p, "the cross-talk at k': 2 v (k . k')"));
    points.push_back(rival_law(read("linear", x.other, 1, overlap), p, "cross-talk as after one write"));
  }
  return points;
}

Claim doubles_claim() {
  return explained(
      at_parameters(
          running(
              ledger_row("blog-linear-doubles", "002 §3-4",
                         "In linear attention, writing the same ($k$, $v$) twice doubles the stored value at $k$ and "
                         "amplifies the cross-talk for every other key, without new information.",
                         "The read is $2 |k|^2 v$ at $k$, and 2 $v$ ($k$ . k') at any k'.", doubles),
              {"linear", "gated_linear", "delta_net"}),
          write_params({norm_param(1), cosine_param(0.3)})),
      "The sum knows nothing of what it already reads; a gate only turns the 2 into $1 + alpha$.");
}

// ---- The read at an old key -----------------------------------------------------------------------------------------

/// a S k_old + b S k_new + c v: the parts of the read at the old key.
struct OldKey {
  Setting x;
  double beta, alpha, cosine;
  OldKey(const Params &p, std::uint64_t seed)
      : x(p, seed), beta(p.real("beta")), alpha(p.has("alpha") ? p.real("alpha") : 1), cosine(p.real("cosine")) {}
  Vector blend(double a, double b, double c) const {
    return mix(1, mix(a, times(x.S, x.other), b, x.old_value()), c, x.value);
  }
  Point reads(const std::string &variant, const Write &w, const Vector &at, const Vector &expected) const {
    return exact_point(times(after(variant, x.S, {w}), at), expected, x.units(beta));
  }
};

std::vector<Point> old_key(const Protocol &protocol) {
  std::vector<Point> points;
  for (const Params &p : points_of(protocol, {write_point({{"beta", num(0.6)}, {"cosine", num(0.3)}}),
                                              write_point({{"beta", num(1)}, {"cosine", num(-0.9)}})})) {
    const OldKey o(p, protocol.seed);
    const double turn = o.beta * o.cosine;
    const Write w = o.x.write(o.beta);
    const auto law = [&](double a, double b, double c) { return o.reads("delta_net", w, o.x.other, o.blend(a, b, c)); };
    points.push_back(as_statement(law(1, -turn, turn), p));
    if (turn == 0) continue;
    points.push_back(rival_law(law(1, 0, turn), p, "nothing taken away"));
    points.push_back(rival_law(law(1, -turn, 0), p, "nothing added"));
    points.push_back(rival_law(law(1, turn, turn), p, "sign of the second term"));
    points.push_back(rival_law(law(1 - turn, 0, turn), p, "the old key's own value taken away"));
    points.push_back(rival_system(o.reads("delta_net", turned(w), o.x.other, o.blend(1, -turn, turn)), p,
                                  "erasure with its sign turned"));
  }
  if (!protocol.point) { // cos theta stands for the product: no unit norm is needed
    const Params p = write_point({{"beta", num(0.6)}, {"cosine", num(0.3)}, {"norm", num(1.7)}});
    const OldKey o(p, protocol.seed);
    const double turn = 0.6 * 0.3 * 1.7;
    points.push_back(as_obligation(o.reads("delta_net", o.x.write(o.beta), o.x.other, o.blend(1, -turn, turn)), p,
                                   "keys of length 1.7 and 1"));
  }
  return points;
}

Claim old_key_claim() {
  return explained(
      at_parameters(
          running(ledger_row("blog-kold-readout", "002 §4",
                             "After the write of a new key, $S_t k_old = S_{t-1} k_old - beta (S_{t-1} k_new) "
                             "cos theta + beta v_new cos theta$, $cos theta = k_new$ . $k_old$: what is stored at "
                             "$k_old$ is overwritten in part.",
                             "Identity; with $cos theta$ read as the product, keys of any length.", old_key),
                  {"delta_net"}),
          write_params({beta_param(0.6), cosine_param(0.3)})),
      "Perfect read-out needs an exactly orthogonal new key; what is scaled down is the old content along $k_new$, not "
      "that at $k_old$.");
}

std::vector<Point> gated_old_key(const Protocol &protocol) {
  std::vector<Point> points;
  const auto own = [](double alpha, double cosine) {
    return write_point({{"beta", num(0.6)}, {"cosine", num(cosine)}, {"alpha", num(alpha)}});
  };
  for (const Params &p : points_of(protocol, {own(0.8, 0.3), own(0.95, -0.9), own(0.8, 0)})) {
    const OldKey o(p, protocol.seed);
    const double turn = o.beta * o.cosine, a = o.alpha;
    const Write w = o.x.write(o.beta, a);
    const auto law = [&](double old, double taken, double added) {
      return o.reads("gated_delta_net", w, o.x.other, o.blend(old, taken, added));
    };
    points.push_back(as_statement(law(a, -a * turn, turn), p, "the read at k_old"));
    const Vector blended = mix(a * (1 - o.beta), o.x.old_value(), o.beta, o.x.value);
    points.push_back(
        as_obligation(o.reads("gated_delta_net", w, o.x.key, blended), p, "at k_new: alpha (1 - beta) v_old + beta v"));
    points.push_back(rival_law(law(1, -turn, turn), p, "no gate"));
    points.push_back(rival_system(o.reads("delta_net", w, o.x.key, blended), p, "DeltaNet, at k_new"));
    if (turn == 0) continue;
    points.push_back(rival_law(law(a, -a * turn, a * turn), p, "alpha on the write too"));
    points.push_back(rival_law(law(a, -turn, turn), p, "alpha on the first term only"));
    points.push_back(rival_system(o.reads("gated_delta_net", turned(w), o.x.other, o.blend(a, -a * turn, turn)), p,
                                  "erasure with its sign turned"));
  }
  return points;
}

Claim gated_old_key_claim() {
  return explained(
      at_parameters(
          running(ledger_row("blog-gated-kold", "002 §5",
                             "In Gated DeltaNet the cross-talk equation picks up an $alpha$ in front of the $S_{t-1}$ "
                             "terms: $S_t k_old = alpha S_{t-1} k_old - alpha beta (S_{t-1} k_new) cos theta + beta "
                             "v_new cos theta$.",
                             "Identity; at $k_new$ it is $alpha (1 - beta) v_old + beta v$, and an orthogonal key is "
                             "scaled by $alpha$: no longer untouched.",
                             gated_old_key),
                  {"gated_delta_net", "delta_net"}),
          write_params({beta_param(0.6), cosine_param(0.3), real_param("alpha", 0.8, 0, 0.999, "decay")})),
      "The new value enters after the gate, so it is not scaled.");
}

} // namespace

std::vector<Claim> section_4_crosstalk() { return {doubles_claim(), old_key_claim(), gated_old_key_claim()}; }

} // namespace recollect::theory
