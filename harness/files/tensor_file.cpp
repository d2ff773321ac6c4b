// SPDX-License-Identifier: Apache-2.0
#include "harness/files/tensor_file.hpp"
#include "harness/core/error.hpp"
#include "harness/core/packing.hpp"
#include "harness/core/text.hpp"
#include "harness/files/npy.hpp"
#include "harness/files/results.hpp"
#include "harness/files/safetensors.hpp"
#include "harness/system/child.hpp"
#include "harness/system/files.hpp"
#include "harness/system/memory.hpp"
#include <memory>
#include <zip.h>

namespace recollect {
namespace {

bool ends_with(const std::string &text, const std::string &ending) {
  return text.size() >= ending.size() && text.compare(text.size() - ending.size(), ending.size(), ending) == 0;
}

bool is_safetensors(const std::string &path) { return ends_with(path, ".safetensors"); }

void check_rank(const NumericArray &array, const Wanted &w, const std::string &where) {
  if (w.rank && array.dims.size() != w.rank)
    input_error(where + " has " + std::to_string(array.dims.size()) + " dimensions, needs " + w.needs);
  for (std::uint64_t n : array.dims)
    if (n < 1 || n > 0x7fffffff)
      input_error(where + " has a size of " + std::to_string(n) + ", needs " + w.needs +
                  " with sizes from 1 to 2^31 - 1");
}

using Archive = std::unique_ptr<zip_t, void (*)(zip_t *)>;

Archive open_npz(const std::string &path) {
  int problem = 0;
  Archive archive(zip_open(path.c_str(), ZIP_RDONLY | ZIP_CHECKCONS, &problem), zip_discard);
  if (!archive) input_error(path + " is not a readable .npz file");
  return archive;
}

std::string member(zip_t *archive, zip_int64_t index, const std::string &where) {
  zip_stat_t stat;
  if (zip_stat_index(archive, zip_uint64_t(index), 0, &stat) != 0 || !(stat.valid & ZIP_STAT_SIZE))
    input_error(where + " cannot be read");
  if (stat.size > memory_limit()) input_error(where + " is more than --memory allows");
  const std::unique_ptr<zip_file_t, int (*)(zip_file_t *)> file(zip_fopen_index(archive, zip_uint64_t(index), 0),
                                                                zip_fclose);
  std::string bytes;
  char block[1 << 16];
  while (file && bytes.size() < stat.size) {
    const zip_int64_t n = zip_fread(file.get(), block, sizeof block);
    if (n <= 0) break;
    bytes.append(block, size_t(n));
  }
  // The library compares the checksum only when it reads at the end.
  if (!file || bytes.size() != stat.size || zip_fread(file.get(), block, 1) != 0)
    input_error(where + " cannot be read: the file is damaged");
  return bytes;
}

} // namespace

Arrays read_npz(const std::string &path, const std::vector<Wanted> &wanted) {
  const Archive archive = open_npz(path);
  Arrays arrays;
  for (const Wanted &w : wanted) {
    const zip_int64_t index = zip_name_locate(archive.get(), (w.name + ".npy").c_str(), 0);
    if (index < 0) continue;
    const std::string where = path + ": array " + w.name;
    arrays[w.name] = parse_npy(member(archive.get(), index, where), where, w.whole);
    check_rank(arrays[w.name], w, where);
  }
  return arrays;
}

namespace {

Arrays read_hdf5(const std::string &path, const std::vector<Wanted> &wanted) {
  const Hdf5File file(path);
  Arrays arrays;
  for (const Wanted &w : wanted)
    if (file.has(w.name)) arrays[w.name] = file.array(w.name, w.rank, w.needs, w.whole);
  return arrays;
}

/// The format is parsed by our own code, so no child process is needed in case a library crashes.
Arrays read_safetensors(const std::string &path, const std::vector<Wanted> &wanted) {
  const Safetensors file(read_regular_file(path), path);
  Arrays arrays;
  for (const Wanted &w : wanted)
    if (file.has(w.name)) check_rank(arrays[w.name] = file.array(w.name), w, path + ": tensor " + w.name);
  return arrays;
}

Arrays read_here(const std::string &path, const std::vector<Wanted> &wanted) {
  if (ends_with(path, ".npz")) return read_npz(path, wanted);
  if (!ends_with(path, ".npy")) return read_hdf5(path, wanted);
  const Wanted &only = wanted.at(0);
  Arrays arrays{{only.name, parse_npy(read_regular_file(path), path)}};
  check_rank(arrays[only.name], only, path);
  return arrays;
}

std::vector<std::string> names_in_npz(const std::string &path) {
  const Archive archive = open_npz(path);
  std::vector<std::string> names;
  for (zip_int64_t i = 0; i < zip_get_num_entries(archive.get(), 0); ++i) {
    const char *entry = zip_get_name(archive.get(), zip_uint64_t(i), 0);
    const std::string name = entry ? entry : "";
    names.push_back(ends_with(name, ".npy") ? name.substr(0, name.size() - 4) : name);
  }
  return names;
}

/// A zip archive of uncompressed .npy members, as numpy.savez makes it.
std::string npz_bytes(const Arrays &arrays, Real real) {
  zip_error_t problem;
  zip_source_t *memory = zip_source_buffer_create(nullptr, 0, 0, &problem);
  zip_t *archive = memory ? zip_open_from_source(memory, ZIP_TRUNCATE, &problem) : nullptr;
  if (!archive) input_error("cannot build an .npz file in memory");
  zip_source_keep(memory); // must outlive the archive, so that it can be read
  std::vector<std::string> members;
  members.reserve(arrays.size());
  for (const auto &[name, array] : arrays) {
    members.push_back(npy_bytes(array, real));
    zip_source_t *source = zip_source_buffer(archive, members.back().data(), members.back().size(), 0);
    const zip_int64_t index = zip_file_add(archive, (name + ".npy").c_str(), source, ZIP_FL_ENC_UTF_8);
    if (index < 0 || zip_set_file_compression(archive, zip_uint64_t(index), ZIP_CM_STORE, 0) != 0)
      input_error("cannot build an .npz file in memory");
  }
  if (zip_close(archive) != 0) input_error("cannot build an .npz file in memory");
  zip_stat_t stat;
  zip_source_stat(memory, &stat);
  std::string bytes(size_t(stat.size), '\0');
  zip_source_open(memory);
  const bool whole = zip_source_read(memory, bytes.data(), bytes.size()) == zip_int64_t(bytes.size());
  zip_source_close(memory);
  zip_source_free(memory);
  if (!whole) input_error("cannot build an .npz file in memory");
  return bytes;
}

std::string hdf5_bytes(const Arrays &arrays, Real real, const Facts &meta) {
  Hdf5Image image;
  image.attributes("recollect output", schema_version, meta);
  for (const auto &[name, array] : arrays) image.array(name, array.data, array.dims, real);
  return image.bytes();
}

} // namespace

Arrays read_arrays(const std::string &path, const std::vector<Wanted> &wanted) {
  require_regular_file(path);
  if (is_safetensors(path)) return read_safetensors(path, wanted);
  Arrays found;
  reading_in_child(
      path,
      [&](const Send &send) {
        const Arrays arrays = read_here(path, wanted);
        Packer pack(send);
        pack << std::uint64_t(arrays.size());
        for (const auto &[name, array] : arrays) pack << name << array.dims << array.data << array.type;
      },
      [&](const Receive &receive) {
        Unpacker unpack(receive);
        for (auto left = unpack.next<std::uint64_t>(); left > 0; --left) {
          NumericArray &array = found[unpack.next<std::string>()];
          unpack >> array.dims >> array.data >> array.type;
        }
      });
  return found;
}

std::vector<std::string> array_names(const std::string &path) {
  require_regular_file(path);
  if (ends_with(path, ".npy")) return {};
  if (is_safetensors(path)) return Safetensors(read_regular_file(path), path).names();
  const std::string bytes = reading_in_child(path, [&] {
    const auto names = ends_with(path, ".npz") ? names_in_npz(path) : Hdf5File(path).datasets();
    Packer pack;
    pack << std::uint64_t(names.size());
    for (const std::string &name : names) pack << name;
    return std::move(pack.bytes);
  });
  Unpacker unpack(bytes);
  std::vector<std::string> names(size_t(unpack.next<std::uint64_t>()));
  for (std::string &name : names) name = unpack.next<std::string>();
  return names;
}

Facts read_meta(const std::string &path) {
  if (is_safetensors(path)) return Safetensors(read_regular_file(path), path).meta();
  if (ends_with(path, ".npz") || ends_with(path, ".npy")) return {};
  const std::string bytes = reading_in_child(path, [&] {
    const Facts facts = Hdf5File(path).meta();
    Packer pack;
    pack << std::uint64_t(facts.size());
    for (const auto &[name, value] : facts) pack << name << value;
    return std::move(pack.bytes);
  });
  Unpacker unpack(bytes);
  Facts facts(size_t(unpack.next<std::uint64_t>()));
  for (auto &[name, value] : facts) unpack >> name >> value;
  return facts;
}

void write_arrays(const std::string &path, const Arrays &arrays, Real real, const Facts &meta) {
  if (ends_with(path, ".npy")) input_error("cannot write " + path + ": several arrays need .npz, .safetensors or HDF5");
  if (is_safetensors(path)) return OutputFile(path).publish(safetensors_bytes(arrays, real, meta));
  OutputFile(path).publish(in_child("writing " + path, [&] {
    return ends_with(path, ".npz") ? npz_bytes(arrays, real) : hdf5_bytes(arrays, real, meta);
  }));
}

} // namespace recollect
