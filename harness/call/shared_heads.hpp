// SPDX-License-Identifier: Apache-2.0
// Arrays with fewer heads than the layer. The H heads of the layer share the `heads` heads of an array; `heads` divides
// H. Head i of the layer uses head i / (H / heads) of the array, or i % heads if the convention interleaves heads.
#pragma once
#include <algorithm>
#include <vector>

namespace recollect {

/// The head of the array that head i of H uses.
inline size_t shared_head(size_t i, size_t heads, size_t H, bool interleaved) {
  return interleaved ? i % heads : i / (H / heads);
}

/// [B,heads,size] -> [B,H,size]: repeats each head of the array for all heads of the layer that use it.
inline std::vector<double> for_every_head(std::vector<double> data, size_t B, size_t heads, size_t H,
                                          bool interleaved) {
  if (heads == H || data.empty()) return data;
  const size_t size = data.size() / (B * heads);
  std::vector<double> all(B * H * size);
  for (size_t b = 0; b < B; ++b)
    for (size_t i = 0; i < H; ++i)
      std::copy_n(&data[(b * heads + shared_head(i, heads, H, interleaved)) * size], size, &all[(b * H + i) * size]);
  return all;
}

/// Adjoint of for_every_head(), [B,H,size] -> [B,heads,size]: head j of the result is the sum over all heads of the
/// layer that use head j of the array.
inline std::vector<double> summed_over_sharing(std::vector<double> all, size_t B, size_t heads, size_t H,
                                               bool interleaved) {
  if (heads == H || all.empty()) return all;
  const size_t size = all.size() / (B * H);
  std::vector<double> sums(B * heads * size, 0.0);
  for (size_t b = 0; b < B; ++b)
    for (size_t i = 0; i < H; ++i)
      for (size_t j = 0; j < size; ++j)
        sums[(b * heads + shared_head(i, heads, H, interleaved)) * size + j] += all[(b * H + i) * size + j];
  return sums;
}

/// [B,H,size] -> [B,heads,size]: keeps the first of every H / heads consecutive heads.
inline std::vector<double> first_of_sharing(const std::vector<double> &all, size_t B, size_t heads, size_t H) {
  const size_t size = all.size() / (B * H);
  std::vector<double> some(B * heads * size);
  for (size_t b = 0; b < B; ++b)
    for (size_t i = 0; i < heads; ++i)
      std::copy_n(&all[(b * H + i * (H / heads)) * size], size, &some[(b * heads + i) * size]);
  return some;
}

} // namespace recollect
