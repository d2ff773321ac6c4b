// SPDX-License-Identifier: Apache-2.0
// The cost of a layer's definition in products. The definition runs on a number type that counts
// (harness/core/counted.hpp). Products that do not depend on the widths, such as a scale, cancel in differences between
// widths, so the rest can be compared with a law exactly.
#pragma once
#include "harness/call/forward.hpp"
#include "harness/core/registry.hpp"
#include "harness/numerics/inputs.hpp"
#include <cstdint>

namespace recollect::theory {
/// Multiplications and divisions of one pass over one head of T tokens.
inline double products(const std::string &variant, int T, int Dk, int Dv, const Assignments &set = {}) {
  const Variant &v = find_variant(variant);
  return double(counted_work(v, random_sequence({1, 1, T, Dk, Dv}, 1), variant_params(v, set)).products);
}
/// The term c Dk Dv of the number of products, which has the form a + b Dk + b' Dv + c Dk Dv.
inline double products_by_area(const std::string &variant, int T, int Dk, int Dv) {
  return products(variant, T, 2 * Dk, 2 * Dv) - products(variant, T, 2 * Dk, Dv) - products(variant, T, Dk, 2 * Dv) +
         products(variant, T, Dk, Dv);
}
/// b Dk + b' Dv + 2 c Dk Dv, with b, b' and c as in products_by_area().
inline double products_by_widths(const std::string &variant, int T, int Dk, int Dv) {
  return products(variant, T, 2 * Dk, Dv) + products(variant, T, Dk, 2 * Dv) - 2 * products(variant, T, Dk, Dv);
}
/// The coefficient c, if at Dk = Dv = d a token takes a + b d + c d^2 products.
inline double products_by_square(const std::string &variant, int T, int d, const Assignments &set = {}) {
  const double second = products(variant, T, d, d, set) - 2 * products(variant, T, 2 * d, 2 * d, set) +
                        products(variant, T, 3 * d, 3 * d, set);
  return second / (2.0 * d * d * T);
}
} // namespace recollect::theory
