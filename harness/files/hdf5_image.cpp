// SPDX-License-Identifier: Apache-2.0
#include "harness/files/digest.hpp"
#include "harness/files/hdf5_library.hpp"
#include <algorithm>
#include <cstring>

namespace recollect {
using namespace hdf5;
namespace {

void write_attribute(hid_t object, const std::string &name, hid_t type, const void *value) {
  const Handle space(H5Screate(H5S_SCALAR), no_memory);
  const Handle attribute(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), no_memory);
  require(H5Awrite(attribute, type, value), no_memory);
}
void write_text(hid_t object, const std::string &name, const std::string &value) {
  const char *pointer = value.c_str();
  write_attribute(object, name, text_type(), &pointer);
}

void write_cell(char *target, const Cell &cell) {
  std::visit(
      [&](const auto &value) {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>) {
          const char *pointer = value.c_str();
          std::memcpy(target, &pointer, sizeof pointer);
        } else {
          std::memcpy(target, &value, sizeof value);
        }
      },
      cell);
}

} // namespace

struct Hdf5Image::Contents {
  hid_t file = -1;
  std::uint64_t digest = 0;
  ~Contents() {
    if (file >= 0) H5Fclose(file);
  }
};

Hdf5Image::Hdf5Image() : contents_(new Contents) {
  start_library();
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), no_memory);
  require(H5Pset_fapl_core(access, 1 << 20, false), no_memory); // grows in steps of 1 MiB; never written to disk
  require(H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST), no_memory);
  contents_->file = H5Fcreate("in memory", H5F_ACC_TRUNC, H5P_DEFAULT, access);
  require(herr_t(contents_->file < 0 ? -1 : 0), no_memory);
}
Hdf5Image::~Hdf5Image() = default;

void Hdf5Image::attributes(const std::string &schema, int schema_version, const Facts &meta) {
  write_text(contents_->file, "schema", schema);
  write_attribute(contents_->file, "schema_version", H5T_NATIVE_INT, &schema_version);
  const Handle group(H5Gcreate2(contents_->file, "/meta", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), no_memory);
  for (const auto &[name, value] : meta) write_text(group, name, value);
  contents_->digest += digest(meta);
}

void Hdf5Image::table(const Table &table) {
  const Handle text = text_type();
  const Handle row(H5Tcreate(H5T_COMPOUND, cell_bytes * table.columns.size()), no_memory);
  for (size_t c = 0; c < table.columns.size(); ++c) {
    const Column &column = table.columns[c];
    require(H5Tinsert(row, column.name.c_str(), cell_bytes * c,
                      column.kind == Kind::text ? hid_t(text) : number_type(column.kind)),
            no_memory);
  }
  std::vector<char> buffer(table.rows.size() * table.columns.size() * cell_bytes);
  char *target = buffer.data();
  for (const auto &cells : table.rows)
    for (const Cell &cell : cells) write_cell(target, cell), target += cell_bytes;

  const hsize_t rows = table.rows.size(), unlimited = H5S_UNLIMITED;
  const hsize_t chunk = std::clamp<hsize_t>(rows, 1, 4096);
  const Handle space(H5Screate_simple(1, &rows, &unlimited), no_memory);
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE), no_memory), links(H5Pcreate(H5P_LINK_CREATE), no_memory);
  require(H5Pset_chunk(creation, 1, &chunk), no_memory);
  require(H5Pset_shuffle(creation), no_memory); // groups the bytes of a column, so that they compress well
  require(H5Pset_deflate(creation, 1), no_memory);
  require(H5Pset_fletcher32(creation), no_memory);
  require(H5Pset_create_intermediate_group(links, 1), no_memory);
  const Handle set(H5Dcreate2(contents_->file, table.name.c_str(), row, space, links, creation, H5P_DEFAULT),
                   no_memory);
  contents_->digest += digest(table);
  if (rows) require(H5Dwrite(set, row, H5S_ALL, H5S_ALL, H5P_DEFAULT, buffer.data()), no_memory);
}

void Hdf5Image::array(const std::string &name, const std::vector<double> &data, const std::vector<std::uint64_t> &dims,
                      Real real) {
  const std::vector<hsize_t> extent(dims.begin(), dims.end());
  const Handle space(H5Screate_simple(int(extent.size()), extent.data(), nullptr), no_memory);
  const hid_t type = real == Real::f64 ? H5T_NATIVE_DOUBLE : H5T_NATIVE_FLOAT;
  const Handle set(H5Dcreate2(contents_->file, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                   no_memory);
  require(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data.data()), no_memory);
}

std::string Hdf5Image::bytes() const {
  write_attribute(contents_->file, "digest", H5T_NATIVE_UINT64, &contents_->digest);
  require(H5Fflush(contents_->file, H5F_SCOPE_LOCAL), no_memory);
  const ssize_t size = H5Fget_file_image(contents_->file, nullptr, 0);
  if (size <= 0) input_error(no_memory);
  std::string image(size_t(size), '\0');
  if (H5Fget_file_image(contents_->file, image.data(), image.size()) != size) input_error(no_memory);
  return image;
}

} // namespace recollect
