// SPDX-License-Identifier: Apache-2.0
// The inverse SNR assumes that values are independent, have mean zero and have about equal norms (000 Eq 55-57).
#include "theory/associative_memory/noise/noise_points.hpp"
#include "theory/support/stored.hpp"

namespace recollect::theory {
namespace {
const std::vector<ParamSpec> sizes{integer_param("n", 10, 4, 32, "pairs stored"), key_width_param(16, 2, 64),
                                   value_width_param(8, 1, 64)};

/// ReLU memories of n - 1 pairs, in which every channel of a value has the mean `mean`. Each memory is read at the
/// probe (1, ..., 1) of norm sqrt(d) and at the probe (-1, ..., -1). The second read follows the same law and reads the
/// keys that ReLU hides from the first. The first dv channels hold the values and the next n - 1 channels hold unit
/// vectors, so one read shows the noise r and every weight kappa_j.
struct Split {
  double noise, diagonal; // noise: |r|^2; diagonal: sum_j kappa_j^2 |v_j|^2; both are means of the two reads
};
std::vector<Split> split_noise(MemorySize size, double mean, std::uint64_t seed, size_t first, size_t count) {
  const auto [T, d, dv] = size;
  const int others = T - 1, width = dv + others;
  Sequence s = of_shape({int(count), 1, T, d, width});
  s.k.assign(count * T * d, 0.0), s.q = s.k, s.v.assign(count * T * width, 0.0);
  const Vector keys = Stream(seed, "cross/keys").normals(count * others * d, first * others * d),
               values = Stream(seed, "cross/values").normals(count * others * dv, first * others * dv);
  for (size_t m = 0; m < count; ++m) {
    std::copy_n(&keys[m * others * d], others * d, &s.k[m * T * d]);
    for (int j = 0; j < others; ++j) {
      double *v = &s.v[(m * T + j) * width];
      for (int c = 0; c < dv; ++c) v[c] = mean + values[(m * others + j) * dv + c];
      v[dv + j] = 1;
    }
    std::fill_n(&s.q[(m * T + others - 1) * d], d, 1.0), std::fill_n(&s.q[(m * T + others) * d], d, -1.0);
  }
  const Vector o = run("relu_kernel", s).o;
  std::vector<Split> splits(count, Split{0, 0});
  for (size_t m = 0; m < count; ++m)
    for (int t : {others - 1, others}) {
      const double *read = &o[(m * T + t) * width];
      splits[m].noise += inner(read, read, dv) / 2;
      for (int j = 0; j < others; ++j) {
        const double *v = &s.v[(m * T + j) * width];
        splits[m].diagonal += read[dv + j] * read[dv + j] * inner(v, v, dv) / 2;
      }
    }
  return splits;
}

template <class Quantity>
Mean mean_over_memories(MemorySize size, double mean, double wanted, size_t least, std::uint64_t seed,
                        const Quantity &quantity) {
  const auto draw = [&](size_t first, size_t count) {
    Vector all;
    for (const Split &split : split_noise(size, mean, seed, first, count)) all.push_back(quantity(split));
    return all;
  };
  return sample_mean(wanted, least, 400000, in_blocks(1000, draw));
}

/// E ReLU(x) and E ReLU(x)^2 for x = k_j.k_i with a random key k_j and |k_i|^2 = d.
double first_moment(int d) { return std::sqrt(d / (2 * M_PI)); }
double second_moment(int d) { return d / 2.0; }

Claim snr_cross_terms() {
  ClaimBuilder c("snr-cross-terms", "000 Eq 55-57");
  c.says("The cross terms $j != j'$ of the squared noise $|r|^2$ vanish in expectation if the values are i.i.d. "
         "standard Gaussian.");
  c.exactly("The expectation of the cross terms is 0. For independent values of mean $mu$ it is $(N-1) (N-2) |mu|^2 (E "
            "kappa)^2$.");
  c.because("Only independence and mean zero are needed, not a Gaussian distribution.");
  c.runs({"relu_kernel"}), c.takes(sizes);
  return measure(c, [](Points &points, const Protocol &protocol, int n, int d, int dv) {
    const double kappa = first_moment(d), with_mean = (n - 1) * (n - 2) * dv * kappa * kappa,
                 squared = with_mean * (n - 1) / (n - 2);
    const auto cross = [&, n = n, d = d, dv = dv](double mean, double wanted, size_t least) {
      return mean_over_memories({n, d, dv}, mean, wanted, least, protocol.seed,
                                [](const Split &split) { return split.noise - split.diagonal; });
    };
    // The mean is 0, so no relative error is required.
    const Mean centred = cross(0, HUGE_VAL, protocol.full() ? 20000 : 4000);
    const Mean shifted = cross(1, wanted_sensitivity(protocol, with_mean, {squared}), 1000);
    points.statement("mean of the cross terms of $|r|^2$ for values of mean 0", centred, 0)
        .but_not("the law for values of mean 1", with_mean);
    points.wrong_system("values of mean 1", shifted, 0);
    points.obligation("mean of the cross terms of $|r|^2$ for values of mean 1", shifted, with_mean)
        .but_not("$(N-1)^2$ in place of $(N-1) (N-2)$", squared);
  });
}

Claim snr_value_mean() {
  ClaimBuilder c("snr-value-mean", "000 Eq 55-57");
  c.says("The cross terms of the squared noise $|r|^2$ vanish because the values have mean zero.");
  c.exactly("$E|r|^2 = n (dv + |mu|^2) E kappa^2 + n (n-1) |mu|^2 (E kappa)^2$ over $n$ other pairs with values of "
            "mean $mu$.");
  c.because(
      "If the mean of the values is not zero, the second term soon dominates. The paper's form does not contain it.");
  c.runs({"relu_kernel"}), c.takes(sizes);
  return measure(c, [](Points &points, const Protocol &protocol, int n, int d, int dv) {
    const double others = n - 1, kappa = first_moment(d), diagonal = others * (dv + dv) * second_moment(d),
                 cross = others * (others - 1) * dv * kappa * kappa, right = diagonal + cross,
                 squared = diagonal + cross * others / (others - 1);
    const auto noise = [&, n = n, d = d, dv = dv](double mean, double sensitivity) {
      return mean_over_memories({n, d, dv}, mean, sensitivity, 1000, protocol.seed,
                                [](const Split &split) { return split.noise; });
    };
    const Mean shifted = noise(1, wanted_sensitivity(protocol, right, {squared}));
    points.obligation("mean of the noise $|r|^2$ for values of mean 0", noise(0, wanted_sensitivity(protocol)),
                      diagonal / 2);
    points.obligation("mean of the noise $|r|^2$ for values of mean 1", shifted, right)
        .but_not("the law without the cross terms", diagonal)
        .but_not("$n^2$ in place of $n (n-1)$", squared);
  });
}

/// E|v_j|^2 times E 1/|v_i|^2 for Gaussian values that the linear memory stores at a key of norm 1 and gives back.
Integral norm_ratio(int dv, std::uint64_t seed) {
  const Dense direction(1, dv, unit_vector(dv, seed));
  const auto square = [&](double length) {
    const Vector o = run("linear", stored({1, 1, 1, 4, dv}, Vector(4, 0.5), (length * direction).data)).o;
    const double found = inner(o, o);
    return Integral{found, 4 * (dv + 8) * epsilon_of(Real::f64) * found};
  };
  return length_rule(dv, -1, 0).integral(square) *
         length_rule(dv, 1, 0).integral([&](double length) { return Integral{1} / square(length); });
}

Claim snr_value_norm() {
  ClaimBuilder c("snr-value-norm", "000 Eq 57");
  c.says("$E|v_j|^2 = |v_i|^2$, which holds when the stored values have about the same magnitude.");
  c.exactly("For Gaussian values $E|v_j|^2 / |v_i|^2$ averages $dv/(dv-2)$ over $v_i$, which tends to 1 as $1 + 2/dv$. "
            "For $dv <= 2$ this mean is infinite.");
  c.because(
      "The statement is right for wide values. At finite width the average has the additional factor $dv/(dv-2)$.");
  c.holds_asymptotically(), c.runs({"linear"}), c.takes({value_width_param(8, 3, 64)});
  return measure(c, [](Points &points, Seed seed, int least) {
    const Integral own = norm_ratio(least, seed);
    points.statement("mean of $|v_j|^2 / |v_i|^2$, against 1", own, 1);
    points.obligation("mean of $|v_j|^2 / |v_i|^2$, against $dv / (dv - 2)$", own, least / (least - 2.0))
        .but_not("$dv / (dv - 1)$", least / (least - 1.0));
    std::vector<int> widths;
    for (int dv = least; dv <= 32 * least; dv *= 2) widths.push_back(dv);
    points.at({{"largest dv", 32 * least}});
    limits_of_ratio(points, "mean of $|v_j|^2 / |v_i|^2$ as dv grows", "dv", 2, widths, [&](int dv) {
      return norm_ratio(dv, seed);
    }).but_not("1 in place of 2", 1);
  });
}
} // namespace

std::vector<Claim> eq_55_cross_terms() { return {snr_cross_terms(), snr_value_mean(), snr_value_norm()}; }
} // namespace recollect::theory
