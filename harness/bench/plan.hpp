// SPDX-License-Identifier: Apache-2.0
// The plan of a benchmark: which forms of which layers are timed, at which shapes, on which inputs.
#pragma once
#include "harness/call/packed.hpp"
#include "harness/core/execution_options.hpp"
#include "harness/core/registry.hpp"
#include "harness/numerics/sampling.hpp"

namespace recollect {

struct BenchShape {
  Shape shape;
  std::string texts = ""; // lengths of packed texts, such as "1000,0,24"; "": not packed
  int qk_heads = 0;       // number of heads of q and k; 0: as many as v has
};

struct BenchRequest : ExecutionOptions {
  BenchRequest() { real = Real::f32; }
  std::vector<std::string> variants{"all"}, forms{"fast"};
  std::vector<BenchShape> shapes;
  Assignments settings;
  std::vector<std::string> without; // optional inputs that are not given
  SamplingRule rule;                // how many samples of a case are enough
  std::uint64_t seed = 1;
  std::string along;     // "auto", "scan", "chain": all ranks share each sequence (along_ranks.hpp); "": they do not
  bool backward = false; // time the forms' backward passes
};

struct BenchCase : ExecutionOptions {
  int index = 0;
  const Variant *variant = nullptr;
  const Form *form = nullptr;
  Params params;
  Shape shape;
  std::uint64_t seed = 1;
  std::vector<std::string> without = {};
  std::string along = ""; // as in BenchRequest
  bool backward = false;
  std::string texts = ""; // as in BenchShape
  int qk_heads = 0;       // as in BenchShape
  bool packed() const { return !texts.empty() || qk_heads > 0; }
};
/// The name of a case: "variant/form/B:4/H:16/T:4096/Dk:64/Dv:64/f32", where f32 is the type of the arrays. Settings
/// that differ from the defaults follow: "/backward", "/math:tf32" (precision of products of float32 arrays),
/// "/streaming", "/without:lambda", "/texts:1000,0,24", "/qk_heads:4" and "/ranks_along_T:4".
std::string name_of(const BenchCase &c);
/// Rounds each number to the nearest number of a 16-bit type. Does nothing for other types.
void round_to(Real real, std::vector<double> &numbers);
/// The tensors of a timed case: q, k, v and the layer's other inputs. q, k, v and w are rounded to the case's type.
Sequence inputs_of(const BenchCase &c);
/// The inputs of a timed case, with its packed texts and grouped heads, and for a backward pass with do and dstate.
LayerInputs layer_inputs_of(const BenchCase &c);

/// A case for every form that was asked for, of every variant, at every shape. Usage error for unknown names.
std::vector<BenchCase> bench_plan(const BenchRequest &request);
/// Replaces a dimension of every shape by each of several values. `sweep` is, for instance, "T=1024:65536:*2". Usage
/// error for an unknown dimension.
std::vector<BenchShape> swept(const std::vector<BenchShape> &shapes, const std::string &sweep);
/// Parses "B,H,T,Dk,Dv".
Shape parse_shape(const std::string &text);
/// Parses `text`, the contents of the file named `file`. Each line is a shape, which texts and qk-heads may follow:
/// "1,16,96,64,64 texts=64,32 qk-heads=4". # begins a comment. Usage error if there is no shape.
std::vector<BenchShape> shapes_of(const std::string &text, const std::string &file);

} // namespace recollect
