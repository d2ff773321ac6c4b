// SPDX-License-Identifier: Apache-2.0
// Causal masks of attention.
#pragma once

namespace recollect::variants {

/// The keys that query t sees: i < t, i <= t, or all of them.
enum class CausalMask { earlier, through_self, everything };

} // namespace recollect::variants
