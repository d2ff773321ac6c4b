// SPDX-License-Identifier: Apache-2.0
// The descriptor of a layer whose memory follows the delta rule.
#pragma once
#include "harness/core/variant.hpp"

namespace recollect::variants {

/// Descriptor fields that most of these layers share: beta is the step size of a write, and with beta = 1 a write at a
/// unit key replaces what the memory returned for it.
inline Variant delta_variant() {
  Variant v;
  v.family = "delta rule";
  v.traits.zero_step_keeps = true;
  v.traits.zero_key_keeps = true;
  v.traits.repeats = Repeats::last;
  return v;
}

} // namespace recollect::variants
