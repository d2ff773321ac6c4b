// SPDX-License-Identifier: Apache-2.0
// normal_equations.hpp as algebras for the engine (harness/device/engine.hpp), one for each solver.
#pragma once
#include "variants/kernels/regression/conjugate_gradients.hpp"
#include "variants/kernels/regression/normal_equations.hpp"
#include "variants/kernels/regression/prefix_regression.hpp"

namespace recollect::variants {
template <class Real> using ByFactorisation = PrefixRegressionAlgebra<Real, Factorisations>;
template <class Real> using ByConjugateGradients = PrefixRegressionAlgebra<Real, ConjugateGradients>;
} // namespace recollect::variants

#ifdef __CUDACC__
namespace recollect::engine { // compiled separately: cmake/instances.cmake
RECOLLECT_SCHEDULES(extern, variants::ByFactorisation<float>)
RECOLLECT_SCHEDULES(extern, variants::ByFactorisation<double>)
RECOLLECT_SCHEDULES(extern, variants::ByConjugateGradients<float>)
RECOLLECT_SCHEDULES(extern, variants::ByConjugateGradients<double>)
} // namespace recollect::engine
#endif
