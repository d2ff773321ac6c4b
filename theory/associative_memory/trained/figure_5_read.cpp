// SPDX-License-Identifier: Apache-2.0
// The stress test of 000 §3.2, Fig 5: d = 128, keys and values are almost orthogonal vectors, and only the read is
// learned. The read consists of a query, which starts at random, and the scale of the logits. The paper does not say
// the following, so we chose: kappa_2 = kappa_1, straight-through gradients of rounding, one head, Adam with a rate
// that falls from .05 to 0, and a new text per step.
#include "theory/associative_memory/tracking/swaps.hpp"
#include "theory/support/training.hpp"

namespace recollect::theory {
namespace {
constexpr int width = 128;

/// n writes and n exchanges. Step t adds f(q . k_t) u_t to a read at q (Eq 41-42).
struct Text {
  Dense k, u;              // [2 n, d]
  std::vector<int> answer; // [2 n] the value at the first key after the step
};

/// `products` holds the inner products of the rows of `keys`. The key of a step is a row or a difference of two rows,
/// so inner products of the steps' keys are sums of elements of `products`.
Text tell(const Dense &keys, const Dense &products, const Kernel &f, std::uint64_t seed, int number) {
  const int n = keys.rows, d = keys.columns, T = 2 * n;
  const Stream draws(seed, "fig5/swaps", std::uint64_t(number));
  std::vector<int> held, plus, minus; // minus = -1: none
  Text text{Dense(T, d), Dense(T, d), {}};
  for (int t = 0; t < T; ++t) {
    if (t < n) {
      held.push_back(t), plus.push_back(t), minus.push_back(-1);
      for (int c = 0; c < d; ++c) text.k(t, c) = text.u(t, c) = keys(t, c);
    } else {
      const auto [x, y] = two_of(draws, 2 * size_t(t), n);
      plus.push_back(std::max(x, y)), minus.push_back(std::min(x, y));
      for (int c = 0; c < d; ++c) text.k(t, c) = keys(plus.back(), c) - keys(minus.back(), c);
      std::swap(held[x], held[y]);
    }
    text.answer.push_back(held[0]);
  }
  Dense weights(T, T);
  for (int t = 0; t < T; ++t) {
    const auto with = [&](int key) { return products(plus[t], key) - (minus[t] < 0 ? 0 : products(minus[t], key)); };
    for (int i = 0; i < t; ++i) weights(t, i) = f(with(plus[i]) - (minus[i] < 0 ? 0 : with(minus[i])));
  }
  text.u = solve_unit_lower(weights, text.u);
  return text;
}

/// The trained parameters, a query and the logarithm of the scale of the logits, with their Adam moments.
class Read {
public:
  Read(const Dense &keys, Kernel f, int steps, std::uint64_t seed)
      : keys_(keys), f_(std::move(f)), first_(width + 1), second_(first_), steps_(steps) {
    for (double x : Stream(seed, "fig5/query").normals(width)) learned_.push_back(x / std::sqrt(double(width)));
    learned_.push_back(0);
  }
  /// One step of Adam on the cross-entropy at 64 of the exchanges.
  void step(const Text &text) {
    const int n = keys_.rows, asked = 64;
    std::vector<int> steps;
    for (int i = 0; i < asked; ++i) steps.push_back(n + (i + 1) * n / asked - 1);
    const double scale = std::exp(learned_[width]);
    const Dense reads = reads_at(text, steps), logits = reads * transpose(keys_);
    Dense wrong(asked, n); // derivatives of the mean cross-entropy with respect to scale * logits
    Vector gradient(width + 1);
    for (int i = 0; i < asked; ++i) {
      double largest = -HUGE_VAL, sum = 0;
      for (int j = 0; j < n; ++j) largest = std::max(largest, scale * logits(i, j));
      for (int j = 0; j < n; ++j) sum += wrong(i, j) = std::exp(scale * logits(i, j) - largest);
      for (int j = 0; j < n; ++j) {
        wrong(i, j) = (wrong(i, j) / sum - (j == text.answer[steps[i]])) / asked;
        gradient[width] += wrong(i, j) * scale * logits(i, j);
      }
    }
    const Dense of_reads = scale * (wrong * keys_);
    Vector later(width, 0.0); // the sum of of_reads over all reads from this step on
    for (int t = text.k.rows, i = asked; t-- > 0;) {
      if (i > 0 && steps[i - 1] == t) {
        --i;
        for (int c = 0; c < width; ++c) later[c] += of_reads(i, c);
      }
      double weight = 0; // the derivative with respect to f(q . k_t), used as the derivative with respect to q . k_t
      for (int c = 0; c < width; ++c) weight += later[c] * text.u(t, c);
      for (int c = 0; c < width; ++c) gradient[c] += weight * text.k(t, c);
    }
    adam(gradient);
  }
  /// The share of the exchanges after which the right logit is larger than all others.
  double right(const Text &text, const std::string &kernel) const {
    const int n = keys_.rows, T = 2 * n;
    Sequence s = of_shape({1, 1, T, width, width});
    s.k = text.k.data, s.v.assign(s.k.size(), 0.0);
    std::copy(keys_.data.begin(), keys_.data.end(), s.v.begin());
    for (int t = 0; t < T; ++t) s.q.insert(s.q.end(), learned_.begin(), learned_.begin() + width);
    s.beta.assign(size_t(T), 1.0), s.alpha = s.beta;
    const Dense logits = Dense(T, width, reads_by(kernel, s)) * transpose(keys_);
    int right = 0;
    for (int t = n; t < T; ++t) {
      const int answer = text.answer[t];
      bool largest = true;
      for (int j = 0; j < n; ++j) largest = largest && (j == answer || logits(t, j) < logits(t, answer));
      right += largest;
    }
    return double(right) / n;
  }

private:
  Dense reads_at(const Text &text, const std::vector<int> &steps) const {
    Dense reads(int(steps.size()), width);
    Vector sum(width, 0.0);
    for (int t = 0, i = 0; i < int(steps.size()); ++t) {
      double score = 0;
      for (int c = 0; c < width; ++c) score += learned_[c] * text.k(t, c);
      score = f_(score);
      for (int c = 0; c < width; ++c) sum[c] += score * text.u(t, c);
      if (steps[i] != t) continue;
      for (int c = 0; c < width; ++c) reads(i, c) = sum[c];
      ++i;
    }
    return reads;
  }
  void adam(const Vector &gradient) {
    ++made_;
    for (size_t i = 0; i < gradient.size(); ++i) {
      first_[i] = 0.9 * first_[i] + 0.1 * gradient[i];
      second_[i] = 0.999 * second_[i] + 0.001 * gradient[i] * gradient[i];
      learned_[i] -= 0.05 * (1 - (made_ - 1.0) / steps_) * first_[i] / (1 - std::pow(0.9, made_)) /
                     (std::sqrt(second_[i] / (1 - std::pow(0.999, made_))) + 1e-8);
    }
  }
  const Dense &keys_;
  Kernel f_;
  Vector learned_, first_, second_;
  int steps_, made_ = 0;
};

enum class Taught { answers, next, nothing }; // next: the element after the answer

/// The shares of right answers on held-out texts, for a read trained on each of `taught`. All reads see the same texts.
std::vector<Vector> learned_reads(const KeySet &set, const std::string &kernel, std::uint64_t seed,
                                  const std::vector<Taught> &taught) {
  const Dense keys = key_rows(set, seed), products = keys * transpose(keys);
  const Kernel f = kernel == "round" ? round_kernel : linear_kernel;
  const int steps = 400, held_out = 16;
  std::vector<Read> reads(taught.size(), Read(keys, f, steps, seed));
  for (int i = 0; i < steps; ++i) {
    const Text text = tell(keys, products, f, seed, i);
    Text next = text;
    for (int &answer : next.answer) answer = (answer + 1) % set.n;
    for (size_t r = 0; r < taught.size(); ++r)
      if (taught[r] != Taught::nothing) reads[r].step(taught[r] == Taught::next ? next : text);
  }
  std::vector<Vector> shares(taught.size());
  for (int i = 0; i < held_out; ++i) {
    const Text text = tell(keys, products, f, seed, steps + i);
    for (size_t r = 0; r < taught.size(); ++r) shares[r].push_back(reads[r].right(text, kernel));
  }
  return shares;
}

Claim stress_test() {
  ClaimBuilder c("fig5-reduced", "000 §3.2 stress test, Fig 5");
  c.says("Let $d = 128$, and let keys and values be set to the almost orthogonal vectors of Theorem 1, so that only "
         "the read is learned. The linear kernel is degraded at $n = 256$ elements, and rounding keeps its accuracy.");
  c.exactly("A text has $n$ writes and $n$ exchanges $(T = 2 n)$, and training takes 400 steps. At $n = 256$ the "
            "kernel 'round' names the element at the first place after at least .95 of the exchanges, and the linear "
            "kernel is at least .05 below it. At $n = 512$ linear is also at least .05 below rounding. At $n = 128$, "
            "where keys are orthonormal, linear reaches .95 too.");
  c.because("The text leaves open $kappa_2$, the optimiser, steps, accuracies, seeds, and whether the length includes "
            "the writes. At $n = 256$ rounding reaches .98 to 1.00 and linear .83 to .86 (three seeds). At $n = 512$, "
            "with keys found by descent, linear reaches .23 to .24. Rounding reaches .63 to .81, less than the text "
            "says, and .82 and .83 after 1600 steps (two seeds, 64 held-out texts each). For a read that is exact and "
            "not learned see packing_optimised_512_128 and stress_linear_vs_round.");
  c.is_reduced(), c.runs({"delta_former"});
  return measure(c, [](Points &points, const Protocol &protocol) {
    const double whole = 0.95, less = 0.05;
    const KeySet fit{"hadamard", width, width}, many{"hadamard", 2 * width, width},
        most{"packed", 4 * width, width, 0.1245};
    const auto at = [](const KeySet &set, const char *kernel) { return describe(set).set("kappa", kernel); };
    const auto read = [&](const KeySet &set, const char *kernel, std::vector<Taught> taught = {Taught::answers}) {
      return learned_reads(set, kernel, protocol.seed, taught);
    };
    const auto behind = [&](const Vector &linear, const Vector &round) {
      return at_least_point(mean_of(minus(round, linear)), less);
    };
    const auto round = read(many, "round", {Taught::answers, Taught::next, Taught::nothing}),
               linear = read(many, "linear");
    points.at(at(many, "round"))
        .statement("accuracy of rounding, at least .95", at_least_point(mean_of(round[0]), whole));
    points.wrong_system("a read trained to return the element after the answer",
                        at_least_point(mean_of(round[1]), whole));
    points.wrong_system("the initial query, not trained", at_least_point(mean_of(round[2]), whole));
    points.at(at(many, "linear"))
        .statement("accuracy of rounding minus accuracy of the linear kernel, at least .05",
                   behind(linear[0], round[0]));
    points.at(at(fit, "linear"))
        .obligation("accuracy of the linear kernel with orthonormal keys, at least .95",
                    at_least_point(mean_of(read(fit, "linear")[0]), whole));
    if (!protocol.full()) return;
    const auto of_most = read(most, "linear"), rounded = read(most, "round", {Taught::answers, Taught::next});
    points.at(at(most, "linear"))
        .statement("accuracy of rounding minus accuracy of the linear kernel, at least .05",
                   behind(of_most[0], rounded[0]));
    points.wrong_system("rounding with a read trained to return the element after the answer",
                        behind(of_most[0], rounded[1]));
  });
}
} // namespace

std::vector<Claim> figure_5_read() { return {stress_test()}; }
} // namespace recollect::theory
