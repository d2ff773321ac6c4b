// SPDX-License-Identifier: Apache-2.0
// Inputs that kernels trip over.
#pragma once
#include "harness/core/variant.hpp"

namespace recollect {

/// The kinds of `sample`, the first being the default:
///   random         unit keys, N(0,1) values, gates in (0.8, 1), beta in (0.2, 1)
///   ragged         the same, one step shorter where T is a multiple of 8: no chunk length fits
///   tiny-gates     gates of 10^-u, u uniform in (0, 6) at every fourth step
///   repeated-keys  one key at every step, plus 1% noise: the ill-conditioned end
///   long           sixteen times as many steps
///   large-norm     keys and queries of norm about sqrt(Dk), where softmax saturates and delta rules are unstable
const std::vector<std::string> &sample_kinds();

/// Only what the variant takes, w and gates among it; no initial state. Usage error for an unknown kind.
Sequence sample(const Variant &variant, Shape shape, const std::string &kind, std::uint64_t seed);

} // namespace recollect
