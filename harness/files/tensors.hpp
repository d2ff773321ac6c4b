// SPDX-License-Identifier: Apache-2.0
// A user's arrays in files: which arrays a layer has, what they are called, and the order of their dimensions.
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
  std::string name;      // name in the file
  std::string type = ""; // type in the file: f64, f32, f16 or bf16
};
/// The layer's name of an array (q, beta, state, do, dq, ...: see names_in_files) -> the array.
using UsersArrays = std::map<std::string, UsersArray>;

/// Names of a layer's inputs in this convention, including cu_seqlens, gate parameters, do and dfinal_state.
std::vector<std::string> input_names(const Variant &variant, const Convention &convention);
/// Names of a layer's results for these inputs: o, final_state, and the gradient of every given input.
std::vector<std::string> result_names(const UsersArrays &inputs);

/// Reads those of the named arrays that the file contains, in the layout of the file. A .npy file contains one array
/// without a name, which gets the first of `names`. Input error if an array occurs under two names.
UsersArrays read_users(const std::string &path, const std::vector<std::string> &names, const Convention &convention);
/// Writes arrays, which must already have the convention's layout. q, k, v, w, o and their gradients are numbers of
/// type `real`, all other arrays of type wide_of(real).
void write_users(const std::string &path, UsersArrays arrays, const Convention &convention, Real real,
                 const Facts &meta);

/// in_layer_order() converts arrays from the convention's order of dimensions to the layer's, [B,H,T,D] and states
/// [rows,columns]; in_file_order() converts them back. Input error if an array has the wrong number of dimensions.
UsersArrays in_layer_order(UsersArrays in_file, const Convention &convention);
UsersArrays in_file_order(UsersArrays in_layer, const Convention &convention);
/// The arrays with their names, types and dimensions, but without data.
UsersArrays shapes_of(const UsersArrays &arrays);
/// Like in_layer_order(), but makes no copy if both orders agree. If they differ, the copy is in `converted`.
const UsersArrays &seen_in_layer_order(const UsersArrays &in_file, const Convention &convention,
                                       UsersArrays &converted);
/// The dimensions that an array has in a file, given its dimensions in the layer's order.
Dims dims_in_file(const std::string &name, const Dims &in_layer, const Convention &convention);

/// find() returns the array with this name, or null if it is absent. spoken() returns the words for this array in a
/// message: "dataset g".
const UsersArray *find(const UsersArrays &arrays, const std::string &name);
std::string spoken(const UsersArrays &arrays, const std::string &name);
Dims dims_of(std::initializer_list<int> sizes);
/// The dimensions [B,heads,T,width], or [B,heads,T] if the tensor has one number per step.
Dims over_steps(Tensor tensor, int heads, const Shape &shape);
/// The number of heads of an array [B,heads,T,...].
inline int heads_in(const UsersArray &array) { return int(array.dims.at(1)); }
/// The number of heads of an array [B,heads,T,...] or of a parameter [heads,...]. Input error if it does not divide H.
int checked_heads(const UsersArrays &arrays, const std::string &name, int H);
/// Input error if the array, which is in the layer's order, has other dimensions than `needed`. The message gives both
/// in the order of the file.
void check_dims(const UsersArrays &arrays, const std::string &name, const Dims &needed, const std::string &why,
                const Convention &convention);

/// Input error if an array of the file has a name that is not in `known`. The message has the nearest known name and a
/// list of all known names. `who` says in the message what the known arrays are: "an input of linear".
void refuse_unknown(const std::string &path, const std::vector<std::string> &known, const std::string &who);
/// All names that these arrays may have in files.
std::vector<std::string> all_names_in_files(const std::vector<std::string> &names, const Convention &convention);

} // namespace recollect
