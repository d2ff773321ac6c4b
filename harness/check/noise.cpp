// SPDX-License-Identifier: Apache-2.0
#include "harness/check/noise.hpp"
#include "harness/call/backward.hpp"
#include "harness/call/conditioning.hpp"
#include "harness/core/in_pieces.hpp"
#include "harness/core/registry.hpp"
#include "harness/numerics/random.hpp"
#include <algorithm>
#include <cmath>

namespace recollect {
namespace {

using Numbers = std::vector<double>;

/// Random signs of the numbers of an array, for one of eight draws. A number has eight signs, one per draw. The eight
/// signs of a number are orthogonal to those of its neighbour, so the squared effects of the two numbers, summed over
/// the draws, add exactly. With independent signs, one set of eight draws in thirty would have two neighbours whose
/// effects cancel in all draws.
class Signs {
public:
  Signs(int draw, const std::string &array) : stream_(17, "check/signs/" + array) {
    const size_t first = size_t(stream_.bits(~std::uint64_t(0)) % 7);
    for (size_t phase = 0; phase < 7; ++phase)
      for (size_t j = 0; j < 64; ++j) {
        // the sign is the element in row `row` and column `draw` of the 8 x 8 Hadamard matrix
        const unsigned row = unsigned(1 + (phase + first + j) % 7), common = row & unsigned(draw);
        const bool minus = ((common ^ common >> 1 ^ common >> 2) & 1) != 0;
        if (minus) hadamard_[phase] |= std::uint64_t(1) << j;
      }
  }
  /// The signs of the numbers with indices 64 block ... 64 block + 63, one bit each: 1 means minus.
  std::uint64_t minus(size_t block) const { return ~(stream_.bits(block) ^ hadamard_[64 * block % 7]); }

private:
  Stream stream_;
  std::uint64_t hadamard_[7] = {}; // signs of 64 numbers, by the first number's index modulo 7
};

/// Kernels round every intermediate result in float32 and float64. In lower precisions they round only the operands of
/// products.
bool rounds_every_step(Precision precision) { return precision == Precision::f64 || precision == Precision::f32; }

double passages(Precision precision) { return rounds_every_step(precision) ? 4 : precision == Precision::tf32 ? 2 : 1; }

/// Calls told(i) for every i < n, in parallel if the loop takes long. `cost` is the time of a call, as in in_pieces().
template <class Told> void each_of(size_t n, size_t cost, const Told &told) {
  in_pieces(
      n,
      [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) told(i);
      },
      cost);
}

bool whole(double x) {
  constexpr double shift = 0x1.8p52; // x + shift has no fraction; faster than a call of nearbyint()
  return std::fabs(x) < 0x1p51 ? x + shift - shift == x : x == std::nearbyint(x);
}

/// Moves each number x up or down by rounding(x). Zeros are not moved. With `counts`, whole numbers are not moved
/// either: in a state they are counts of steps, which kernels keep exactly. values[i] gets the sign with index first +
/// i.
void move(Numbers &values, const Signs &sign, Precision precision, bool counts, size_t first = 0) {
  constexpr size_t cost = 16; // higher than the time of one number, so that threads share a state of a few MiB
  const HalfSpacing half(precision);
  // Indexed by the bit of the sign: a branch on a random sign would be mispredicted half of the time.
  const double factors[] = {passages(precision), -passages(precision)};
  in_pieces(
      values.size(),
      [&](size_t begin, size_t end) {
        while (begin < end) {
          const size_t bit = (first + begin) % 64, stop = std::min(end, begin + 64 - bit);
          std::uint64_t minus = sign.minus((first + begin) / 64) >> bit;
          for (; begin < stop; ++begin, minus >>= 1) {
            const double x = values[begin];
            const bool kept = x == 0 || (counts && whole(x));
            values[begin] = kept ? x : x + factors[minus & 1] * half(x);
          }
        }
      },
      cost);
}

/// Moves decays [heads, T, width], which are factors in [0,1]. The logarithm of each decay moves by its rounding().
/// Kernels also round G_t, the sum of the logarithms since the start of the chunk, to float32 (float64 if the precision
/// is f64), so G_t moves by half a spacing of this type in addition. The first decay gets the sign with index `start`.
void move_decays(Numbers &decays, const Signs &sign, const Signs &sum_sign, Precision precision, size_t T, size_t width,
                 int chunk, size_t start) {
  each_of(decays.size() / T, 16 * T, [&](size_t lane) {
    const size_t first = lane / width * T * width + lane % width;
    std::uint64_t minus = 0, sum_minus = 0;
    double sum = 0, moved = 0; // G_{t-1} and its error
    for (size_t t = 0; t < T; ++t) {
      const size_t i = start + lane * T + t;
      if (t == 0 || i % 64 == 0) minus = sign.minus(i / 64), sum_minus = sum_sign.minus(i / 64);
      const auto signed_by = [i](std::uint64_t signs, double error) { return signs >> i % 64 & 1 ? -error : error; };
      double &x = decays[first + t * width];
      if (t % size_t(chunk) == 0) sum = moved = 0;
      if (!(x > 0)) continue; // a decay of 0 stays 0: its logarithm is -inf
      const double log = std::log(x), before = moved;
      sum += log;
      moved = signed_by(sum_minus, half_spacing(sum, precision == Precision::f64 ? precision : Precision::f32));
      const double error = (log == 0 ? 0 : signed_by(minus, rounding(log, precision))) + moved - before;
      x = std::min(1.0, std::exp(log + error));
    }
  });
}

} // namespace

double rounding(double x, Precision precision) { return passages(precision) * half_spacing(x, precision); }

CheckCase disturbed(const CheckCase &problem, Precision precision, int draw, int chunk, size_t first) {
  CheckCase moved = problem;
  const Shape &n = problem.given.shape;
  const auto signs = [&](const std::string &array) { return Signs(draw, array); };
  const auto before = [&](const Numbers &own) { return first * (own.size() / n.heads()); }; // numbers of earlier heads
  for (Tensor tensor : all_tensors) {
    const std::string name = name_of(tensor);
    const Precision type = problem.types.used(name, precision);
    Numbers &own = moved.given[tensor];
    if (facts_of(tensor).decay)
      move_decays(own, signs(name), signs("sums of " + name), type, size_t(n.T), size_t(width_of(tensor, n)), chunk,
                  before(own));
    else
      move(own, signs(name), type, false, before(own));
  }
  const Precision kept = problem.types.used("state", precision);
  Numbers &state = moved.given.state, &d_o = moved.weights.o, &d_state = moved.weights.state;
  move(state, signs("state"), kept, true, before(state));
  move(d_o, signs("do"), precision, false, before(d_o));
  move(d_state, signs("dstate"), kept, false, before(d_state));
  return moved;
}

namespace {

/// Number of steps between two disturbances of the state. Kernels of low precision round the state between chunks, so a
/// segment is a chunk. Kernels in float32 and float64 round it at every step, so segments have at most eight steps.
int steps_of_segment(Precision precision, int chunk) {
  return rounds_every_step(precision) ? std::min(chunk, 8) : chunk;
}

PartList disturbed_results(const CheckCase &problem, Precision precision, int draw, int chunk, size_t first) {
  int handovers = 0;
  return in_segments(disturbed(problem, precision, draw, chunk, first), steps_of_segment(precision, chunk),
                     [&](Numbers &numbers, const std::string &what) {
                       move(numbers, Signs(draw, what + " handed over " + std::to_string(++handovers)),
                            problem.types.used("state", precision), what == "state",
                            first * (numbers.size() / problem.given.shape.heads()));
                     });
}

PartList undisturbed_results(const CheckCase &problem, Precision precision, int chunk) {
  return in_segments(problem, steps_of_segment(precision, chunk), [](Numbers &, const std::string &) {});
}

/// The size below which errors of this part count as zero. It is the smallest normal number of the type in which
/// kernels keep sums (float32; float64 for f64), times the part's largest element if this element exceeds 1.
double underflow(const Part &part, Precision precision) {
  double largest = 1;
  for (double x : part.values)
    if (std::isfinite(x)) largest = std::max(largest, std::fabs(x));
  return std::ldexp(largest, precision == Precision::f64 ? -1022 : -126);
}

/// For each row of `width` numbers: the sum of the squared numbers. With `factors`, each number is first multiplied by
/// its factor.
Numbers row_squares(const Numbers &values, size_t width, const Numbers *factors = nullptr) {
  Numbers squares(values.size() / width, 0.0);
  each_of(squares.size(), width, [&](size_t row) {
    for (size_t i = row * width; i < (row + 1) * width; ++i) {
      const double x = factors ? values[i] * (*factors)[i] : values[i];
      squares[row] += x * x;
    }
  });
  return squares;
}

/// For each row, adds (a - b)^2 / noise_draws, summed over the row, to the element of `sums`. Differences that are NaN
/// or infinite are skipped unless `all` is set. `sums` has all heads. `a` has some of them, from head `first` on; `b`
/// has all heads or those of `a`.
void add_squares(Numbers &sums, const Part &a, const Part &b, bool all, size_t first = 0) {
  const size_t row = first * a.rows, skipped = b.heads == a.heads ? 0 : row;
  each_of(a.heads * a.rows, a.columns, [&](size_t i) {
    const double *x = &a.values[i * a.columns], *y = &b.values[(skipped + i) * a.columns];
    for (size_t j = 0; j < a.columns; ++j)
      if (const double error = x[j] - y[j]; all || std::isfinite(error)) sums[row + i] += error * error / noise_draws;
  });
}

/// The terms of a gradient may cancel: for instance, the terms of dq cancel where softmax sees only one key. The
/// rounding errors of the terms do not cancel. This function estimates the size of the terms and adds their rounding to
/// the noise:
/// - A number x_t of step t scales a contribution to o_t, so the terms of dx_t have the size of do_t o_t / x_t.
/// - The gradient of a score has the two terms do_t v_t and do_t o_t, so dq_t also has these terms, times the largest
///   key up to t. dk_t also has the term do_t v_t times q_t.
/// - Kernels sum the gradients of the logarithms of decays over the later steps of the chunk. They sum the gradient of
///   w in the same way, because w is a rotation in some layers.
/// - Where outputs are weighted means, a decay or beta scales the weighted sum and the sum of weights alike. Then the
///   terms of a decay cancel at every later step that the decay reaches, and the terms of beta_t cancel at step t.
void add_cancelled_terms(Noise &noise, const CheckCase &problem, const PartList &definition, Precision precision,
                         int chunk) {
  const Shape &n = problem.given.shape;
  const size_t T = size_t(n.T), Dv = size_t(n.Dv);
  const Numbers outputs = row_squares(find_part(definition, "o")->values, Dv, &problem.weights.o),
                scores = row_squares(problem.given.v, Dv, &problem.weights.o),
                q = row_squares(problem.given.q, size_t(n.Dk)), k = row_squares(problem.given.k, size_t(n.Dk));
  const double unit = rounding(1, precision), square_unit = unit * unit;
  const Numbers &beta = problem.given.beta; // beta_t scales the score of key t
  const auto strength = [&](size_t row) { return beta.empty() ? 1 : beta[row] * beta[row]; };
  Numbers reached(k.size()); // squared norm of the largest beta_i k_i with i <= t
  for (size_t row = 0; row < k.size(); ++row)
    reached[row] = std::max(strength(row) * k[row], row % T == 0 ? 0.0 : reached[row - 1]);
  for (Tensor tensor : all_tensors) {
    const auto part = std::find_if(noise.begin(), noise.end(), [&](const PartNoise &one) {
      return one.name == std::string("d") + name_of(tensor);
    });
    if (part == noise.end() || problem.given[tensor].empty()) continue;
    const bool decay = facts_of(tensor).decay, summed = decay || tensor == Tensor::w;
    const bool in_factors = decay && !problem.log_gates; // the gradient is with respect to the decay, not its logarithm
    const bool mean = problem.variant.traits.repeats == Repeats::mean;
    const double width = width_of(tensor, n);
    const Numbers own = row_squares(problem.given[tensor], size_t(width));
    double sum = 0;
    for (size_t row = n.heads() * T; row-- > 0;) {
      const size_t t = row % T;
      const bool ends_a_chunk = t + 1 == T || (t + 1) % size_t(chunk) == 0;
      const bool goes_on = in_factors ? t + 1 < T && own[row + 1] > 0 : summed && !ends_a_chunk;
      sum = outputs[row] + (goes_on ? sum : 0);
      const double square = decay && !in_factors ? width : own[row];
      if (square > 0 && (!in_factors || mean) &&
          (tensor != Tensor::beta || mean)) // outputs that are sums are linear in beta
        part->rows[row] += square_unit * sum * (decay ? width * width : 1.0) / square;
      if (tensor == Tensor::q) part->rows[row] += square_unit * (scores[row] + outputs[row]) * reached[row];
      if (tensor == Tensor::k) part->rows[row] += square_unit * scores[row] * strength(row) * q[row];
    }
  }
}

double rms_of_head(const Part &part, size_t head) {
  const size_t size = part.rows * part.columns;
  double squares = 0;
  for (size_t i = head * size; i < (head + 1) * size; ++i) squares += part.values[i] * part.values[i];
  return std::sqrt(squares / double(size));
}

/// If the noise of a row is estimated from fewer than 32 numbers, raises the squared noise of the row to at least its
/// mean over this row and its neighbours.
void pool(Numbers &squares, const Part &part) {
  const size_t backed = part.columns * size_t(noise_draws), radius = backed >= 32 ? 0 : (32 / backed + 1) / 2;
  if (radius == 0) return;
  const Numbers own = squares;
  for (size_t i = 0; i < own.size(); ++i) {
    const size_t head = i / part.rows, row = i % part.rows;
    const size_t begin = row < radius ? 0 : row - radius, end = std::min(part.rows, row + radius + 1);
    double sum = 0;
    for (size_t j = begin; j < end; ++j) sum += own[head * part.rows + j];
    squares[i] = std::max(own[i], sum / double(end - begin));
  }
}

} // namespace

std::vector<Numbers> float32_rounding(const CheckCase &problem, const PartList &definition) {
  std::vector<Numbers> squares;
  for (const Part &part : definition) squares.emplace_back(part.heads * part.rows, 0.0);
  const bool backward = bool(find_form(problem.variant, backward_form(problem.variant)).vjp);
  over_heads(problem, [&](const CheckCase &own, size_t first) {
    for (int draw = 0; draw < noise_draws; ++draw) {
      CheckCase moved = disturbed(own, Precision::f32, draw, own.given.shape.T, first);
      const auto round = [](Numbers &values) {
        each_of(values.size(), 1, [&](size_t i) { values[i] = rounded(values[i], Precision::f32); });
      };
      for (Tensor tensor : all_tensors) round(moved.given[tensor]);
      round(moved.given.state), round(moved.weights.o), round(moved.weights.state);
      if (!backward) moved.weights = {};
      const PartList coarse = results_in(moved, Real::f32), fine = results_in(moved, Real::f64);
      for (size_t p = 0; p < definition.size(); ++p)
        if (const Part *rough =
                find_part(coarse, definition[p].name)) // a difference that is not finite is not rounding
          add_squares(squares[p], *rough, *find_part(fine, definition[p].name), false, first);
    }
  });
  return squares;
}

Noise noise_of(const CheckCase &problem, const PartList &definition, const std::vector<Numbers> &measured,
               Precision precision, int chunk) {
  const Shape &n = problem.given.shape;
  chunk = std::clamp(chunk, 1, n.T);
  Noise noise;
  for (const Part &part : definition) noise.push_back({part.name, Numbers(part.heads * part.rows, 0.0), precision});
  over_heads(problem, [&](const CheckCase &own, size_t first) {
    // Disturbed gradients come from the layer's backward pass, but the definition's gradients often come from the tape.
    // Their difference would count a fault of the backward pass as noise. So the undisturbed gradients also come from
    // the backward pass.
    const PartList undisturbed = own.wants_gradient() ? undisturbed_results(own, precision, chunk) : PartList{};
    for (int draw = 0; draw < noise_draws; ++draw) {
      const PartList moved = disturbed_results(own, precision, draw, chunk, first);
      for (size_t p = 0; p < definition.size(); ++p) {
        const Part *other = find_part(moved, definition[p].name), *right = find_part(undisturbed, definition[p].name);
        if (other) add_squares(noise[p].rows, *other, right ? *right : definition[p], true, first);
      }
    }
  });
  // Adds the change of the tape's gradients when inputs are rounded in float64. It is large where the terms of a
  // derivative cancel, such as 1 - tanh(x)^2 at large x.
  if (problem.wants_gradient() && takes_tapes(problem, noise_draws))
    for (int draw = 0; draw < noise_draws; ++draw) {
      const PartList moved = definition_of(disturbed(problem, Precision::f64, draw, chunk));
      for (size_t p = 0; p < definition.size(); ++p)
        if (definition[p].name[0] == 'd')
          add_squares(noise[p].rows, *find_part(moved, definition[p].name), definition[p], true);
    }
  if (rounds_every_step(precision)) // a gradient passes through the chunk twice: forward and backward
    for (PartNoise &part : noise)
      if (part.name[0] == 'd')
        for (double &square : part.rows) square *= 4;
  if (problem.wants_gradient()) add_cancelled_terms(noise, problem, definition, precision, chunk);
  const Variant &variant = problem.variant;
  const double solves = variant.solved_condition ? variant.solved_condition(problem.given, problem.params) : 0;
  const Precision sums = precision == Precision::f64 ? precision : Precision::f32; // the type of sums and solves
  const double terms = std::sqrt(double(n.T) + n.Dk); // roundings of a sum add up as a random walk
  const double spacing = half_spacing(1, sums) / half_spacing(1, Precision::f32), n_terms = accumulated_terms(n, chunk);
  for (size_t p = 0; p < definition.size(); ++p) {
    const Part &part = definition[p];
    const double least = underflow(part, precision);
    const Precision written = problem.types.written(part.name, precision);
    Numbers solved(part.heads), bound(part.heads); // per head: error of linear solves, and (n eps kappa)^2
    for (size_t head = 0; head < part.heads; ++head) {
      // Elimination rounds each element Dk times. A backward pass solves twice.
      const double passes = part.name[0] == 'd' ? 2 : 1;
      solved[head] = passes * solves * std::sqrt(double(n.Dk)) * rounding(rms_of_head(part, head), sums);
      const auto first = noise[p].rows.begin() + std::ptrdiff_t(head * part.rows);
      const double response = *std::max_element(first, first + std::ptrdiff_t(part.rows));
      bound[head] = n_terms * n_terms * (response + double(part.columns) * solved[head] * solved[head]);
    }
    each_of(part.heads * part.rows, 8 * part.columns, [&](size_t row) {
      const size_t head = row / part.rows;
      double &square = noise[p].rows[row];
      square += std::min(bound[head], spacing * spacing * measured[p][row]);
      for (size_t i = row * part.columns; i < (row + 1) * part.columns; ++i) {
        const double own = half_spacing(part.values[i], written), sum = terms * half_spacing(part.values[i], sums);
        square += own * own + sum * sum + solved[head] * solved[head] + least * least;
      }
      square /= double(part.columns);
    });
    pool(noise[p].rows, part);
    for (double &square : noise[p].rows) square = std::isnan(square) ? HUGE_VAL : std::sqrt(square);
  }
  return noise;
}

} // namespace recollect
