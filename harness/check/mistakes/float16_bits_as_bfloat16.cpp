// SPDX-License-Identifier: Apache-2.0
// The 16 bits of a float16 number (5 bits of exponent) are read as a bfloat16 number (8 bits of exponent).
#include "harness/check/remake.hpp"
#include <algorithm>
#include <cmath>

namespace recollect::mistakes {
namespace {

/// A float16 number of magnitude 2^e (1 + m / 1024) has the bits (e + 15) and m. bfloat16 reads the same bits as an
/// 8-bit exponent and a 7-bit significand.
double reread(double x) {
  const double size = std::min(std::fabs(x), 65504.0);
  const int exponent = size < 0x1p-14 ? -15 : std::ilogb(size);
  const double significand = exponent == -15 ? size / 0x1p-24 : (std::ldexp(size, -exponent) - 1) * 1024;
  const long bits = long(exponent + 15) * 1024 + std::lrint(significand), high = bits / 128, low = bits % 128;
  const double read = high ? std::ldexp(1 + double(low) / 128, int(high) - 127) : std::ldexp(double(low), -133);
  return std::copysign(read, x);
}

} // namespace

Mistake float16_bits_as_bfloat16() {
  Mistake m;
  m.what = "float16 numbers are read as bfloat16: the same bits, another number";
  m.shows = "every output: 1 is read as 2^-7, 0.5 as 2^-15, 0.1 as 5e-11";
  m.reports = {"flashinfer #4219"};
  m.misread = [](const CheckCase &problem) -> std::vector<Misread> {
    return {{"float16 bits of q, k, v are read as bfloat16", [&problem] {
               Sequence other = problem.given;
               for (Tensor tensor : {Tensor::q, Tensor::k, Tensor::v})
                 for (double &x : other[tensor]) x = reread(x);
               return other;
             }}};
  };
  return m;
}

} // namespace recollect::mistakes
