// SPDX-License-Identifier: Apache-2.0
// The power series of the exp kernel as a feature map (000 Eq 11-12), and the order at which a number format cuts the
// series off (footnote 5). The linear layer stores one pair of key phi(k) and value 1; its read at phi(q) is
// phi(q).phi(k).
#include "theory/associative_memory/similarity/vector_pair.hpp"
#include "theory/support/features.hpp"
#include "theory/support/measure.hpp"
#include <boost/math/special_functions/binomial.hpp>
#include <boost/math/special_functions/gamma.hpp>

namespace recollect::theory {
namespace {
double read_of_one(const std::string &variant, const Vector &q, const Vector &k, Assignments set = {}) {
  Sequence s = of_shape({1, 1, 1, int(k.size()), 1});
  s.q = q, s.k = k, s.v = {1}, set["scale"] = "1";
  return run(variant, s, set).o[0];
}
double truncated(const Vector &q, const Vector &k, int order) {
  return read_of_one("linear", mercer_features(q, order), mercer_features(k, order));
}
/// sum_{m <= order} x^m / m!^power.
double series(double x, int order, double power = 1) {
  double sum = 0;
  for (int m = 0; m <= order; ++m) sum += std::pow(x, m) / std::pow(boost::math::factorial<double>(m), power);
  return sum;
}

Claim mercer_map() {
  ClaimBuilder c("mercer-map", "000 Eq 11-12");
  c.says("The stacked Kronecker powers $x^(m) / sqrt(m!)$ are a feature map of the exp kernel: their inner products "
         "add up to $exp(q.k)$, without a temperature.");
  c.exactly("Up to order $M$ the inner products add up to $sum_{m<=M} x^m/m!$ with $x = q.k$. This differs from "
            "$exp(x)$ by at most $|x|^(M+1) e^|x| / (M+1)!$ and takes $(d^(M+1)-1)/(d-1)$ features. A temperature "
            "scales $q$ and $k$ by $tau^(-1/2)$.");
  c.because("In the second expression of Eq 12, $q_j$ should be $q_t$.");
  c.runs({"linear", "exp_unnormalized"}),
      c.takes({integer_param("d", 3, 2, 16, "width of q and k"),
               integer_param("order", 8, 2, 12, "order M of the truncation"), real_param("x", -1.074, -1.5, 1.5, "q.k"),
               real_param("tau", 2, 1.5, 100, "temperature")});
  c.at({{{"order", 2}}, {}});
  return measure(c, [](Points &points, Seed seed, int d, int order, double x, double tau) {
    const double square = 1.3 * std::fabs(x) + 0.1;
    if (std::pow(d, order) > 1e5) usage_error("d^order features are at most 1e5");
    const VectorPair pair = draw_pair(d, square, x, seed);
    const double whole = read_of_one("exp_unnormalized", pair.x, pair.y), read = truncated(pair.x, pair.y, order);
    const size_t width = mercer_features(pair.x, order).size();
    const auto rest = [order](double y) {
      return std::pow(std::fabs(y), order + 1) * std::exp(std::fabs(y)) / std::tgamma(order + 2.0);
    };
    const double units = 4.0 * width * std::exp(square), rounding = units * epsilon_of(Real::f64), bound = rest(x);
    if (std::fabs(series(x, order) - series(x, order - 1)) <= rounding)
      usage_error("the last term at this order is below rounding: take a larger x or a lower order");
    points.rounding(units).statement("kernel of the exp layer, against $exp(q.k)$", whole, std::exp(x));
    points.obligation("$phi(q).phi(k)$ up to order M, against $sum_{m<=M} x^m/m!$", read, series(x, order))
        .but_not("order $M - 1$ in place of $M$", series(x, order - 1))
        .but_not("features with $1/m!$ in place of $1/sqrt(m!)$", series(x, order, 2));
    points.wrong_system("the constant feature alone",
                        at_most_point(std::fabs(whole - truncated(pair.x, pair.y, 0)), bound, rounding));
    points.obligation("$exp(q.k) - phi(q).phi(k)$, at most $|x|^(M+1) e^|x| / (M+1)!$ in size",
                      at_most_point(std::fabs(whole - read), bound, rounding));
    const auto at_temperature = [&](double power) { // q and k scaled by tau^-power
      VectorPair scaled = pair;
      for (int c = 0; c < d; ++c) scaled.x[c] *= std::pow(tau, -power), scaled.y[c] *= std::pow(tau, -power);
      return truncated(scaled.x, scaled.y, order);
    };
    const double tempered = read_of_one("exp_unnormalized", pair.x, pair.y, {{"tau", number(tau)}}),
                 tolerance = rest(x / tau) + rounding;
    points.wrong_system("q and k scaled by $1/tau$", bracketed_point(at_temperature(1), tempered, tolerance));
    points.obligation("$phi(q).phi(k)$ with q and k scaled by $tau^(-1/2)$, against the kernel with temperature $tau$",
                      bracketed_point(at_temperature(0.5), tempered, tolerance));
    points.rounding(8.0 * width)
        .obligation("number of features up to order M: $(d^(M+1)-1)/(d-1)$", double(width),
                    (std::pow(d, order + 1) - 1) / (d - 1))
        .but_not("equal monomials counted once", boost::math::binomial_coefficient<double>(d + order, order));
  });
}

/// The smallest order whose relative remainder at x > 0 is below eps.
int order_needed(double x, double eps) {
  const double whole = read_of_one("exp_unnormalized", {x}, {1});
  int order = 0;
  while ((whole - truncated({x}, {1}, order)) / whole >= eps) ++order;
  return order;
}
/// The same order by the law for the relative remainder after order M: P(Poisson(x) > M), the regularised lower
/// incomplete gamma function at M + 1.
int order_by_law(double x, double eps) {
  int order = 0;
  while (boost::math::gamma_p(order + 1, x) >= eps) ++order;
  return order;
}
/// Half a unit in the last place.
double half_ulp(const std::string &format) {
  return std::ldexp(1.0, format == "bf16" ? -9 : format == "fp16" ? -12 : -24);
}
Params place(const std::string &format, double x) { return labels({{"format", format}, {"x", x}}); }

const std::vector<ParamSpec> truncation_params{choice_param("format", {"bf16", "fp16", "fp32"}, "number format"),
                                               real_param("x", 8, 0.05, 16, "argument of exp")};
double needed(const std::string &format, double x) { return order_needed(x, half_ulp(format)); }

Claim mercer_truncation_law() {
  ClaimBuilder c("mercer-truncation-law", "000 footnote 5");
  c.says("The order at which the series of $exp(x)$, $x > 0$, is cut off follows from $x$ and the relative tolerance "
         "$eps$. (This is not in the text. The footnote gives the order as 7 to 8.)");
  c.exactly("The order is the smallest $M$ with $P(Poisson(x) > M) < eps$. Half a unit in the last place is $eps = "
            "2^-9$ in bf16, $2^-12$ in fp16 and $2^-24$ in fp32.");
  c.because("The order grows with the argument and with the precision of the format.");
  c.runs({"linear", "exp_unnormalized"}), c.takes(truncation_params);
  c.at({{{"x", 0.5}},
        {{"x", 1.8}},
        {{"x", 2.75}},
        {},
        {{"format", "fp16"}, {"x", 1.5}},
        {{"format", "fp16"}, {"x", 2.1}},
        {{"format", "fp32"}, {"x", 1}},
        {{"format", "fp32"}}});
  c.also([](Points &points, const Protocol &) {
    for (double x : {1.8, 2.75}) // at these x, a remainder of a whole unit in the last place would need one order less
      points.at(place("bf16", x))
          .rounding(0)
          .obligation("order from which the remainder is below half a unit in the last place", needed("bf16", x),
                      order_by_law(x, half_ulp("bf16")))
          .but_not("the order for one unit in the last place", order_by_law(x, 2 * half_ulp("bf16")));
  });
  return measure(c, [](Points &points, const std::string &format, double x) {
    const double eps = half_ulp(format), law = order_by_law(x, eps);
    points.rounding(0)
        .obligation("order from which the remainder is below half a unit in the last place", needed(format, x), law)
        .but_not("one order less", law - 1)
        .but_not("one order more", law + 1)
        .but_not("the order for a tolerance of $eps / 16$", order_by_law(x, eps / 16));
  });
}

Claim mercer_truncation_7_8() {
  const auto around = [](const std::string &format, double x) { return bracketed_point(needed(format, x), 7.5, 0.5); };
  ClaimBuilder c("mercer-truncation-7-8", "000 footnote 5");
  c.says("Stricter reading: in limited precision the expansion truncates at about the 7th to 8th order, whatever the "
         "argument and the format.");
  c.is_refuted(stricter("Footnote 5: 'due to the limited precision, our experiments have found that this expansion "
                        "practically truncates at around the 7th to 8th order'.",
                        "the authors' experiments; format, arguments and tolerance are not given",
                        "The text draws no conclusion from it: it is a remark on an experiment, not a law."));
  c.exactly("The order is 7 or 8 in bf16 for $x$ in [1.75, 2.70], but it is 3 at $x = 0.5$ and 17 at $x = 8$. In fp32 "
            "it is 10 at $x = 1$ and 27 at $x = 8$ (mercer_truncation_law).");
  c.because("The text is a remark on experiments. The value $x = 8$ is the inner product of a typical key of width $d "
            "= 64$ with itself, divided by $tau = sqrt(d)$.");
  c.runs({"linear", "exp_unnormalized"}), c.takes(truncation_params);
  c.at({{{"x", 0.5}}, {}, {{"format", "fp32"}, {"x", 1}}, {{"format", "fp32"}}});
  c.last([around](Points &points, const Protocol &) {
    for (double x : {1.7, 2.75})
      points.at(place("bf16", x))
          .wrong_system("order from which the remainder is below half a unit in the last place: 7 or 8",
                        around("bf16", x));
    for (double x : {1.75, 2.25, 2.7})
      points.at(place("bf16", x))
          .obligation("order from which the remainder is below half a unit in the last place: 7 or 8",
                      around("bf16", x));
  });
  return measure(c, [around](Points &points, const std::string &format, double x) {
    const double law = order_by_law(x, half_ulp(format));
    if (law == 7 || law == 8)
      usage_error("at this x the order is 7 or 8, as the footnote says, so there is nothing to refute");
    points.statement("order from which the remainder is below half a unit in the last place: 7 or 8",
                     around(format, x));
    points.rounding(0)
        .obligation("order from which the remainder is below half a unit in the last place", needed(format, x), law)
        .but_not("one order more", law + 1);
  });
}
} // namespace

std::vector<Claim> eq_11_mercer() { return {mercer_map(), mercer_truncation_law(), mercer_truncation_7_8()}; }
} // namespace recollect::theory
