// SPDX-License-Identifier: Apache-2.0
// A user's arrays in files: which ones exist, their names, and the order of their dimensions.
#pragma once
#include "harness/core/variant.hpp"
#include "harness/files/convention.hpp"
#include "harness/files/tensor_file.hpp"

namespace recollect {

using Dims = std::vector<std::uint64_t>;
std::string text_of(const Dims &dims);

struct UsersArray {
  Dims dims;
  std::vector<double> data;
  std::string name;      // in the file
  std::string type = ""; // type in the file: f64, f32, f16 or bf16
};
/// By the layer's names (names_in_files): q, beta, state, do, dq ...
using UsersArrays = std::map<std::string, UsersArray>;

/// Names of a layer's inputs in this convention, including cu_seqlens, parameters of gates, do and dfinal_state.
std::vector<std::string> input_names(const Variant &variant, const Convention &convention);
/// Names of a layer's results for these inputs: o, final_state, and the gradient of every given input.
std::vector<std::string> result_names(const UsersArrays &inputs);

/// Reads the named arrays that the file contains, in the file's layout. Input error if one occurs under two names. A
/// .npy file contains the first of the names.
UsersArrays read_users(const std::string &path, const std::vector<std::string> &names, const Convention &convention);
/// Writes arrays, already in the convention's layout, as `real`.
void write_users(const std::string &path, UsersArrays arrays, const Convention &convention, Real real,
                 const Facts &meta);

/// Converts [B,H,T,D] and states [rows,columns] from the convention's order, and back. Input error if an array has the
/// wrong number of dimensions.
UsersArrays in_layer_order(UsersArrays in_file, const Convention &convention);
UsersArrays in_file_order(UsersArrays in_layer, const Convention &convention);
/// The arrays without data: names, types and dimensions.
UsersArrays shapes_of(const UsersArrays &arrays);
/// Like in_layer_order(), but without a copy where the orders agree; else `converted` holds the copy.
const UsersArrays &seen_in_layer_order(const UsersArrays &in_file, const Convention &convention,
                                       UsersArrays &converted);
/// Dimensions of an array in a file, from those in the layer's order.
Dims dims_in_file(const std::string &name, const Dims &in_layer, const Convention &convention);

/// Input error for an array of the file whose name is not in `known`; the message lists the nearest known name and all
/// of them. `who` says what they are: "an input of linear".
void refuse_unknown(const std::string &path, const std::vector<std::string> &known, const std::string &who);
/// All names that these arrays may have in files.
std::vector<std::string> all_names_in_files(const std::vector<std::string> &names, const Convention &convention);

} // namespace recollect
