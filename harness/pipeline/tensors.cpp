// SPDX-License-Identifier: Apache-2.0
#include "harness/pipeline/tensors.hpp"
#include "harness/core/child.hpp"
#include "harness/core/error.hpp"
#include "harness/core/files.hpp"
#include "harness/core/packing.hpp"
#include "harness/core/text.hpp"
#include "harness/pipeline/results.hpp"
#include <array>

namespace recollect {

namespace {

Sequence read_here(const std::string &path, const std::vector<Input> &inputs) {
  const Hdf5File file(path);
  for (const char *name : {"q", "k", "v"})
    if (!file.has(name))
      input_error(path + ": dataset " + name + " is absent, needs [B,H,T," + (*name == 'v' ? "Dv" : "Dk") + "]");
  NumericArray q = file.array("q", 4, "[B,H,T,Dk]"), v = file.array("v", 4, "[B,H,T,Dv]");
  Sequence s;
  s.shape = {int(q.dims[0]), int(q.dims[1]), int(q.dims[2]), int(q.dims[3]), int(v.dims[3])};
  const std::vector<std::uint64_t> keys = q.dims, steps(q.dims.begin(), q.dims.end() - 1);
  std::vector<std::uint64_t> values = keys;
  values[3] = v.dims[3];
  const auto matching = [&](const std::string &name, NumericArray array, const std::vector<std::uint64_t> &dims) {
    if (array.dims != dims) {
      std::vector<std::string> has, needs;
      for (std::uint64_t n : array.dims) has.push_back(std::to_string(n));
      for (std::uint64_t n : dims) needs.push_back(std::to_string(n));
      input_error(path + ": dataset " + name + " has shape [" + join(has, ",") + "], needs [" + join(needs, ",") +
                  "] to match q");
    }
    return std::move(array.data);
  };
  s.v = matching("v", std::move(v), values);
  s.q = std::move(q.data);
  s.k = matching("k", file.array("k", 4, "[B,H,T,Dk]"), keys);
  for (const Input &input : inputs)
    if (file.has(input.name))
      s.input(input.name) = input.per_step() ? matching(input.name, file.array(input.name, 3, "[B,H,T]"), steps)
                                             : matching(input.name, file.array(input.name, 4, "[B,H,T,Dk]"), keys);
  if (file.has("state")) s.state = file.array("state", 4, "[B,H,rows,columns]").data;
  return s;
}

/// Every array of a sequence, in one order for packing and unpacking.
template <class S> auto arrays(S &s) {
  return std::array{&s.q, &s.k, &s.v, &s.beta, &s.alpha, &s.lambda, &s.w, &s.state};
}

} // namespace

Sequence read_sequence(const std::string &path, const std::vector<Input> &inputs) {
  const std::string bytes = in_child("reading " + path, [&] {
    const Sequence s = read_here(path, inputs);
    Packer pack;
    pack << s.shape.B << s.shape.H << s.shape.T << s.shape.Dk << s.shape.Dv;
    for (const auto *array : arrays(s)) pack << *array;
    return pack.bytes;
  });
  Unpacker unpack(bytes);
  Sequence s;
  unpack >> s.shape.B >> s.shape.H >> s.shape.T >> s.shape.Dk >> s.shape.Dv;
  for (auto *array : arrays(s)) unpack >> *array;
  return s;
}

void write_output(const std::string &path, const Sequence &sequence, const Output &output, Real real,
                  const Facts &meta) {
  const auto sizes = [&](std::initializer_list<int> dims) {
    return std::vector<std::uint64_t>(dims.begin(), dims.end());
  };
  const Shape &n = sequence.shape;
  const std::string bytes = in_child("writing " + path, [&] {
    Hdf5Image image;
    image.attributes("recollect output", schema_version, meta);
    image.array("o", output.o, sizes({n.B, n.H, n.T, n.Dv}), real);
    if (output.state_shape.size())
      image.array("state", output.state, sizes({n.B, n.H, output.state_shape.rows, output.state_shape.columns}), real);
    return image.bytes();
  });
  OutputFile(path).publish(bytes);
}

} // namespace recollect
