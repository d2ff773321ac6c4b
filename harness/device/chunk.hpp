// SPDX-License-Identifier: Apache-2.0
// What the engine (engine.hpp) passes to an algebra: a chunk, a part of the state, an affine map.
#pragma once
#include "harness/device/launch_space.hpp"
#include <cstddef>

namespace recollect {

/// Steps first ... first + n - 1 of a head.
struct Chunk {
  size_t head;
  int first, n;
};

/// Part number `index` of a state that is divided into `count` parts. In this kernel, `turn` chunks have been applied
/// to the part so far.
struct Part {
  int index, count, turn = 0;
  /// `all` items are divided among the parts. This is the index of this part's first item: a multiple of `grain`, or
  /// `all` if the part has no items.
  KOKKOS_FUNCTION int begin(int all, int grain = 1) const {
    const std::ptrdiff_t grains = (all - 1) / grain + 1, at = grains * index / count * grain;
    return at < all ? int(at) : all;
  }
  KOKKOS_FUNCTION int end(int all, int grain = 1) const { return Part{index + 1, count}.begin(all, grain); }
};

/// The map x -> factor x + added.
template <class Real> struct Affine {
  Real factor = 1, added = 0;
  KOKKOS_FUNCTION Real operator()(Real x) const { return factor * x + added; }
};

} // namespace recollect
