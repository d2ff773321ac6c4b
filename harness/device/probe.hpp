// SPDX-License-Identifier: Apache-2.0
// Runs the building blocks of kernels alone on the device, for tests and to measure how many digits a precision loses.
#pragma once
#include "harness/core/types.hpp"

namespace recollect {

/// best: what tile.hpp chooses for the device. plain: the plain loops (tile/portable.hpp), which no CPU and few GPUs
/// use.
enum class Loops { best, plain };

/// The product A[m,k] B[k,n] by tile::gemm, row-major. If `transposed`, B is given as its transpose [n,k].
std::vector<double> tile_product(int m, int n, int k, const std::vector<double> &A, const std::vector<double> &B,
                                 bool transposed, Real real, Math math = Math::exact, Loops loops = Loops::best);
/// (I + L)^{-1} X by tile::solve_unit_lower: L [n,n], X [n,columns]. With plain loops n is at most 16.
std::vector<double> tile_solve(int n, int columns, const std::vector<double> &L, const std::vector<double> &X,
                               Real real, Loops loops = Loops::best);
/// The x_t [n,F] of tile::solve_prefixes: k, q [n,F], alpha [n] or empty, H [F,F] before the first step.
std::vector<double> tile_prefixes(int n, int F, double ridge, const std::vector<double> &alpha,
                                  const std::vector<double> &k, const std::vector<double> &q,
                                  const std::vector<double> &H, Real real, Loops loops = Loops::best);
/// math::exp of every element.
std::vector<double> device_exp(const std::vector<double> &x, Real real);

} // namespace recollect
