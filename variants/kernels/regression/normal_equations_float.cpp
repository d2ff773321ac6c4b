// SPDX-License-Identifier: Apache-2.0
// Lines of normal_equations_algebra.hpp.
#ifdef __CUDACC__
#include "variants/kernels/regression/normal_equations_algebra.hpp"
namespace recollect::engine {
RECOLLECT_SCHEDULES(, variants::ByFactorisation<float>)
} // namespace recollect::engine
#endif
