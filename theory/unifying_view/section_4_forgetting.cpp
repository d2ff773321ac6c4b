// SPDX-License-Identifier: Apache-2.0
// 002 §4-5: what DeltaNet forgets. A pair whose key is orthogonal to all later keys is kept. If later keys are random,
// each write erases a fraction of the pair.
#include "theory/unifying_view/one_write.hpp"
#include "theory/unifying_view/retention.hpp"
#include <boost/math/special_functions/beta.hpp>

namespace recollect::theory {
namespace {
Claim never() {
  ClaimBuilder c("blog-never-forgets", "002 §4-5");
  c.says("Anything in $S$ orthogonal to $k_t$ is preserved exactly: a stale write at $k_old$ stays in $S$ at full "
         "magnitude for ever unless something is written near $k_old$ again, and every orthogonal direction persists.");
  c.exactly("This is exact while every later key is orthogonal to $k_old$. A write at a unit key of cosine $c$ with "
            "$k_old$ leaves $1 - beta c^2$ of the old value.");
  c.because("The authors themselves exclude later writes near $k_old$. The claim blog_forgets_random_keys measures how "
            "much is lost among random keys.");
  c.runs({"delta_net", "gated_delta_net"});
  c.takes(write_params({beta_param(1), cosine_param(0.3), integer_param("writes", 200, 1, 2000, "later writes")}));
  c.at({{}, {{"beta", 0.5}, {"cosine", -0.8}}});
  return measure(c, [](Points &points, Seed seed, int d, int dv, double beta, double cosine, int m) {
    const Setting x(seed, d, dv, 1, cosine); // the old key is x.other; x.key has the given cosine with it
    const Vector old = times(x.S, x.other);
    // The read at the old key after m writes. Their unit keys are orthogonal to the old key, then rotated towards it by
    // `lean`.
    const auto read = [&](const std::string &variant, double lean, double alpha) {
      std::vector<Write> writes;
      for (int t = 0; t < m; ++t) {
        Vector k = Stream(seed, "002/orthogonal keys", t).normals(d);
        k = mix(1, k, -inner(k, x.other), x.other);
        normalise_rows(k, d);
        writes.push_back({mix(std::sqrt(1 - lean * lean), k, lean, x.other),
                          Stream(seed, "002/later values", t).normals(dv), beta, alpha});
      }
      return times(after(variant, x.S, writes), x.other);
    };
    // Each write adds a few rounding units, and the state stays as large as the values written.
    points.rounding(8.0 * m * d * (spectral_norm(x.S) + 4 * std::sqrt(double(dv))));
    points.statement("the old value after writes at orthogonal keys: unchanged", read("delta_net", 0, 1), old);
    points.wrong_system("a gate of 0.999", read("gated_delta_net", 0, 0.999), old);
    points.wrong_system("later keys of cosine 0.1 with the old key", read("delta_net", 0.1, 1), old);
    // One write of 0 at x.key, to a state that holds only the old pair: otherwise S k_new has an effect too
    // (blog_kold_readout).
    const Dense nearby = after("delta_net", outer(old, x.other), {{x.key, Vector(dv, 0.0), beta, 1}});
    const Vector near = times(nearby, x.other), law = scaled(1 - beta * (cosine * cosine), old);
    auto kept = points.obligation("the old value after a write at a similar key: $1 - beta cos^2$ of it", near, law);
    if (cosine == 0) return;
    kept.but_not("$1 - beta |cos|$", scaled(1 - beta * std::fabs(cosine), old))
        .but_not("the old value unchanged by a write at a similar key", scaled(1, old));
  });
}

/// The share of one pair, the needle, that remains after writes at m unit keys whose |cosine| with the needle's key is
/// at most `most`. A key is k = x (needle's key) + sqrt(1 - x^2) u, where u is uniform on the unit sphere orthogonal to
/// the needle's key. E k k^T is diagonal, so the mean share is (1 - beta E x^2)^m.
Mean kept_among_far_keys(int m, int d, double beta, double most, const Protocol &protocol) {
  const auto density = [&](double x) { return std::pow(1 - x * x, (d - 3) / 2.0); };
  const auto draw = [&](size_t first, size_t count) {
    Sequence s =
        stored({int(count), 1, m, d, 1}, Stream(protocol.seed, "002/far keys").normals(count * m * d, first * m * d),
               Vector(count * m), beta);
    for (size_t i = 0; i < count * m; ++i) {
      double *k = &s.k[i * d], length = std::sqrt(inner(k + 1, k + 1, d - 1));
      const Stream draw(protocol.seed, "002/far cosines", first * m + i);
      std::uint64_t n = 0; // rejection sampling from the uniform distribution on [-most, most]
      do k[0] = most * (2 * draw.uniform(n) - 1), n += 2;
      while (draw.uniform(n - 1) > density(k[0]));
      for (int j = 1; j < d; ++j) k[j] *= std::sqrt(1 - k[0] * k[0]) / length;
    }
    s.q = s.k, s.state.assign(count * d, 0);
    for (size_t b = 0; b < count; ++b) s.state[b * d] = 1;
    const Vector state = forward(find_variant("delta_net"), s, {"fast", Real::f64, 16, {}}).state;
    Vector left(count);
    for (size_t b = 0; b < count; ++b) left[b] = state[b * d];
    return left;
  };
  return sample_mean(wanted_sensitivity(protocol), pilot_size(protocol, 2000), 1'000'000,
                     in_blocks(cached_block(2 * size_t(m) * d), draw));
}
/// E x^2 for a component x of a random unit vector, given |x| <= most.
double square_cosine(int d, double most) {
  using boost::math::beta;
  return beta(1.5, (d - 1) / 2.0, most * most) / beta(0.5, (d - 1) / 2.0, most * most);
}

Claim random_keys() {
  ClaimBuilder c("blog-forgets-random-keys", "002 §4-5, a stricter reading");
  c.says("A stale write survives later writes at random keys, none of which is near its own key.");
  c.exactly("After writes at $m$ keys drawn uniformly from the sphere, $(1 - beta/d)^m$ of an old value remains on "
            "average: a time constant of $d / beta$ writes. More than $d - 1$ linearly independent keys cannot all be "
            "orthogonal to the old key.");
  c.because("The text speaks of directions that later keys do not touch, and for those it is right. Random keys touch "
            "every direction a little, so DeltaNet forgets them exponentially, without a gate.");
  c.is_refuted(stricter(
      "§4: a stale write 'stays in $S$ at full magnitude forever, unless we happen to write near $k_old$ again'.",
      "directions orthogonal to later keys", "The text says 'DeltaNet never forgets' of orthogonal directions."));
  c.runs({"delta_net", "linear"});
  c.takes({integer_param("d", 16, 4, 512, "key width"), integer_param("m", 16, 1, 2000, "later writes"),
           real_param("beta", 1, 0.05, 1.5, "write strength")});
  c.at({{}, {{"m", 32}, {"beta", 0.5}}});
  c.also([](Points &points, const Protocol &protocol) {
    for (double most : {0.5, 0.3}) { // keys that are all nearly orthogonal to the needle erase it too
      const int d = 16, m = 8;
      points.at(labels({{"d", num(d)}, {"m", num(m)}, {"beta", num(1)}, {"largest |cos|", num(most)}}))
          .obligation("mean share of the old value left by keys whose $|cos|$ with the old key is limited",
                      kept_among_far_keys(m, d, 1, most, protocol), std::pow(1 - square_cosine(d, most), m))
          .but_not("$(1 - 1/d)^m$, the limit ignored", std::pow(1 - 1.0 / d, m))
          .but_not("as if the cosine were uniform up to its limit", std::pow(1 - most * most / 3, m));
    }
  });
  return measure(c, [](Points &points, const Protocol &protocol, int d, int m, double beta) {
    const double law = std::pow(1 - beta / d, m), other_width = std::pow(1 - beta / (d - 1), m),
                 fewer = std::pow(1 - beta / d, m - 1), faster = std::pow(1 - 2 * beta / d, m);
    const double wanted = wanted_sensitivity(protocol, law, {other_width, fewer, faster});
    const Mean left = mean_kept("delta_net", m, d, beta, 1, protocol, wanted);
    points.statement("mean share of the old value that is left: all of it", left, 1);
    points.obligation("mean share of the old value that is left: $(1 - beta/d)^m$", left, law)
        .but_not("$d-1$ in place of $d$", other_width)
        .but_not("$m-1$ in place of $m$", fewer)
        .but_not("$2 beta/d$ in place of $beta/d$", faster);
    points.wrong_system("linear attention", mean_kept("linear", m, d, 1, 1, protocol, 1), law);
  });
}
} // namespace

std::vector<Claim> section_4_forgetting() { return {never(), random_keys()}; }
} // namespace recollect::theory
