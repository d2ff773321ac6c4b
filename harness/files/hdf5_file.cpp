// SPDX-License-Identifier: Apache-2.0
#include "harness/core/text.hpp"
#include "harness/files/hdf5_library.hpp"
#include "harness/system/files.hpp"
#include "harness/system/memory.hpp"
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <new>

namespace recollect {
using namespace hdf5;

struct Hdf5File::Contents {
  hid_t file = -1;
  std::uint64_t size = 0;
  ~Contents() {
    if (file >= 0) H5Fclose(file);
  }
};

namespace {

std::string shape_text(const std::vector<std::uint64_t> &dims) {
  std::vector<std::string> parts;
  for (std::uint64_t d : dims) parts.push_back(std::to_string(d));
  return "[" + join(parts, ",") + "]";
}

/// Whether an object is in this file itself, and no soft or external link leads to it.
bool plainly_there(hid_t file, const std::string &name) {
  std::string path;
  for (const std::string &part : split(name, '/')) {
    path += (path.empty() ? "" : "/") + part;
    H5L_info_t link;
    if (H5Lexists(file, path.c_str(), H5P_DEFAULT) <= 0 || H5Lget_info(file, path.c_str(), &link, H5P_DEFAULT) < 0 ||
        link.type != H5L_TYPE_HARD)
      return false;
  }
  return true;
}

struct Dataset {
  Handle set, type;
  std::vector<std::uint64_t> dims;
  std::uint64_t count; // product of dims
};

/// A bound that exceeds the largest compression ratio of deflate, 1032.
constexpr std::uint64_t largest_compression = 1100;

/// Opens a dataset that is stored entirely in this file. Before anything is allocated, the declared size of the data is
/// compared with the bytes stored in the file, and the size in memory with --memory; `cell` gives the size of one
/// element in memory.
Dataset open_dataset(const Hdf5File &owner, hid_t file, std::uint64_t file_size, const std::string &name,
                     const std::string &needs, const std::function<std::uint64_t(hid_t)> &cell) {
  const std::string where = owner.path() + ": dataset " + name, wanted = needs.empty() ? "" : ", needs " + needs;
  if (!plainly_there(file, name)) input_error(where + " is absent or a link elsewhere" + wanted);
  Handle set(H5Dopen2(file, name.c_str(), H5P_DEFAULT), where + " is not a readable dataset" + wanted);
  const Handle creation(H5Dget_create_plist(set), where + " cannot be read: the file is damaged");
  const H5D_layout_t layout = H5Pget_layout(creation);
  if (layout == H5D_VIRTUAL || H5Pget_external_count(creation) > 0)
    input_error(where + " keeps its data in other files" + wanted);
  const Handle space(H5Dget_space(set), where + " has no readable shape");
  Handle type(H5Dget_type(set), where + " has no readable type");
  std::vector<hsize_t> dims(size_t(std::max(0, H5Sget_simple_extent_ndims(space))));
  if (H5Sget_simple_extent_type(space) == H5S_NULL || H5Sget_simple_extent_dims(space, dims.data(), nullptr) < 0)
    input_error(where + " has no readable shape" + wanted);
  Dataset d{std::move(set), std::move(type), {dims.begin(), dims.end()}, 1};
  for (std::uint64_t n : d.dims) d.count = saturating_product(d.count, n);

  const std::uint64_t declared = saturating_product(d.count, H5Tget_size(d.type));
  const std::uint64_t stored = std::min<std::uint64_t>(H5Dget_storage_size(d.set), file_size);
  const bool filtered = layout == H5D_CHUNKED && H5Pget_nfilters(creation) > 0;
  if (declared > saturating_product(stored, filtered ? largest_compression : 1))
    input_error(where + " declares " + shape_text(d.dims) + ", more than the file holds: it is truncated or damaged");
  if (saturating_product(d.count, cell(d.type)) > memory_limit())
    input_error(where + " declares " + shape_text(d.dims) + ", more than --memory allows");
  return d;
}

std::string read_text(hid_t object, const char *name) {
  if (H5Aexists(object, name) <= 0) return "";
  const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
  if (attribute < 0) return "";
  const Handle open(attribute, ""), type(H5Aget_type(attribute), ""), space(H5Aget_space(attribute), "");
  if (H5Tget_class(type) != H5T_STRING || H5Sget_simple_extent_npoints(space) != 1) return "";
  if (H5Tis_variable_str(type) > 0) {
    char *text = nullptr;
    if (H5Aread(attribute, text_type(), &text) < 0 || !text) return "";
    const std::string copy = text;
    H5free_memory(text);
    return copy;
  }
  std::string text(H5Tget_size(type), '\0');
  if (text.size() > 1 << 20 || H5Aread(attribute, type, text.data()) < 0) return "";
  return text.c_str();
}

std::uint64_t read_whole(hid_t object, const char *name) {
  std::uint64_t value = 0;
  if (H5Aexists(object, name) <= 0) return 0;
  const hid_t id = H5Aopen(object, name, H5P_DEFAULT);
  if (id < 0) return 0;
  const Handle attribute(id, ""), space(H5Aget_space(id), ""), type(H5Aget_type(id), "");
  const bool readable = H5Sget_simple_extent_npoints(space) == 1 && H5Tget_class(type) == H5T_INTEGER;
  return readable && H5Aread(attribute, H5T_NATIVE_UINT64, &value) >= 0 ? value : 0;
}

/// Memory for the variable-length texts of a table. A writer stores each text once, so a valid table has at most as
/// many bytes of text as the file. At most `left` further bytes are allocated; this stops a damaged file whose rows all
/// point at one long text.
struct Texts {
  std::uint64_t left;
  std::vector<std::unique_ptr<char[]>> kept;

  static void *allocate(size_t bytes, void *self) {
    Texts &texts = *static_cast<Texts *>(self);
    if (bytes > texts.left) return nullptr;
    texts.left -= bytes;
    try {
      texts.kept.push_back(std::make_unique<char[]>(bytes));
    } catch (const std::bad_alloc &) { // exceptions must not pass through the C library
      return nullptr;
    }
    return texts.kept.back().get();
  }
  static void free(void *, void *) {} // freed together with `kept`
};

/// One field of a table while it is read: its kind, and its type in memory.
struct Field {
  Kind kind;
  Handle type;
  size_t size, offset;
};

Field field_of(hid_t row, unsigned index, size_t offset, const std::string &where) {
  const Handle type(H5Tget_member_type(row, index), where + " has a field that cannot be read");
  const auto number = [&](Kind kind) {
    return Field{kind, Handle(H5Tcopy(number_type(kind)), no_memory), cell_bytes, offset};
  };
  switch (H5Tget_class(type)) {
  case H5T_INTEGER:
    return number(H5Tget_sign(type) == H5T_SGN_NONE ? Kind::whole : Kind::integer);
  case H5T_FLOAT:
    return number(Kind::real);
  case H5T_STRING: // text that is neither ASCII nor UTF-8 would be refused by other readers
    if (const H5T_cset_t set = H5Tget_cset(type); set != H5T_CSET_ASCII && set != H5T_CSET_UTF8)
      input_error(where + " has a text of no known encoding: the file is damaged");
    if (H5Tis_variable_str(type) > 0) return {Kind::text, text_type(), sizeof(char *), offset};
    return {Kind::text, Handle(H5Tcopy(type), no_memory), H5Tget_size(type), offset};
  default:
    input_error(where + " has a field that is neither a number nor a text");
  }
}

Cell read_cell(const Field &field, const char *data) {
  if (field.kind == Kind::text) {
    if (H5Tis_variable_str(field.type) <= 0) return std::string(data, strnlen(data, field.size));
    const char *text = nullptr;
    std::memcpy(&text, data, sizeof text);
    return std::string(text ? text : "");
  }
  const auto as = [&](auto value) {
    std::memcpy(&value, data, sizeof value);
    return Cell(value);
  };
  return field.kind == Kind::whole     ? as(std::uint64_t())
         : field.kind == Kind::integer ? as(std::int64_t())
                                       : as(double());
}

} // namespace

Hdf5File::Hdf5File(const std::string &path) : path_(path), contents_(new Contents) {
  start_library();
  require_regular_file(path);
  contents_->size = std::filesystem::file_size(path);
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), no_memory);
  contents_->file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, access);
  if (contents_->file < 0) input_error(path + " is not a readable HDF5 file");
}
Hdf5File::~Hdf5File() = default;

bool Hdf5File::has(const std::string &name) const { return H5Lexists(contents_->file, name.c_str(), H5P_DEFAULT) > 0; }
std::string Hdf5File::schema() const { return read_text(contents_->file, "schema"); }
int Hdf5File::schema_version() const { return int(read_whole(contents_->file, "schema_version")); }
std::uint64_t Hdf5File::stored_digest() const { return read_whole(contents_->file, "digest"); }

Facts Hdf5File::meta() const {
  Facts facts;
  if (!plainly_there(contents_->file, "meta")) return facts;
  const hid_t id = H5Gopen2(contents_->file, "meta", H5P_DEFAULT);
  if (id < 0) return facts;
  const Handle group(id, "");
  const int count = H5Aget_num_attrs(group);
  for (int i = 0; i < count; ++i) {
    char name[256] = "";
    if (H5Aget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, hsize_t(i), name, sizeof name, H5P_DEFAULT) >= 0)
      facts.emplace_back(name, read_text(group, name));
  }
  return facts;
}

namespace {

/// Calls visit(name, type of object, object) for every link in the root and, with `depth` 1, in its groups.
void visit_objects(hid_t file, const std::string &path, const std::string &folder, int depth,
                   const std::function<void(const std::string &, H5I_type_t, hid_t)> &visit) {
  const hid_t id = H5Gopen2(file, folder.empty() ? "/" : folder.c_str(), H5P_DEFAULT);
  if (id < 0) return;
  const Handle group(id, "");
  H5G_info_t info;
  if (H5Gget_info(group, &info) < 0) return;
  for (hsize_t i = 0; i < info.nlinks; ++i) {
    char link[512] = "";
    if (H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, link, sizeof link, H5P_DEFAULT) < 0) continue;
    const std::string name = (folder.empty() ? "" : folder + "/") + link;
    if (!plainly_there(file, name)) continue;
    const hid_t object = H5Oopen(file, name.c_str(), H5P_DEFAULT);
    if (object < 0) input_error(path + ": " + name + " cannot be read: the file is damaged");
    const Handle opened(object, "");
    const H5I_type_t type = H5Iget_type(object);
    if (type == H5I_GROUP && depth > 0) visit_objects(file, path, name, depth - 1, visit);
    visit(name, type, object);
  }
}

} // namespace

std::vector<std::string> Hdf5File::tables() const {
  std::vector<std::string> names;
  visit_objects(contents_->file, path_, "", 1, [&](const std::string &name, H5I_type_t kind, hid_t object) {
    if (kind != H5I_DATASET) return;
    const Handle type(H5Dget_type(object), path_ + ": dataset " + name + " has no readable type");
    if (H5Tget_class(type) == H5T_COMPOUND) names.push_back(name);
  });
  return names;
}

std::vector<std::string> Hdf5File::datasets() const {
  std::vector<std::string> names;
  visit_objects(contents_->file, path_, "", 0, [&](const std::string &name, H5I_type_t kind, hid_t) {
    if (kind == H5I_DATASET) names.push_back(name);
  });
  return names;
}

Table Hdf5File::table(const std::string &name) const {
  const std::string where = path_ + ": dataset " + name;
  const Dataset d =
      open_dataset(*this, contents_->file, contents_->size, name, "", [](hid_t row) { return H5Tget_size(row) + 64; });
  if (H5Tget_class(d.type) != H5T_COMPOUND || d.dims.size() != 1) input_error(where + " is not a table");
  Table table{name, {}, {}};
  std::vector<Field> fields;
  size_t width = 0;
  for (int i = 0; i < H5Tget_nmembers(d.type); ++i) {
    char *field = H5Tget_member_name(d.type, unsigned(i));
    fields.push_back(field_of(d.type, unsigned(i), width, where));
    width += fields.back().size;
    table.columns.push_back({field ? field : "", fields.back().kind});
    H5free_memory(field);
  }
  if (fields.empty() || d.count == 0) return table;
  const Handle row(H5Tcreate(H5T_COMPOUND, width), no_memory);
  for (size_t c = 0; c < fields.size(); ++c)
    require(H5Tinsert(row, table.columns[c].name.c_str(), fields[c].offset, fields[c].type), no_memory);
  std::vector<char> buffer(d.count * width);
  Texts texts{contents_->size + d.count * fields.size(), {}}; // + 1 byte for the terminating zero of each text
  const Handle transfer(H5Pcreate(H5P_DATASET_XFER), no_memory);
  require(H5Pset_vlen_mem_manager(transfer, Texts::allocate, &texts, Texts::free, nullptr), no_memory);
  // By default the library clears two conversion buffers of 1 MiB for each table. It needs space for two rows only.
  if (constexpr size_t enough = 64 << 10; std::max(width, H5Tget_size(d.type)) <= enough / 4)
    require(H5Pset_buffer(transfer, enough, nullptr, nullptr), no_memory);
  if (H5Dread(d.set, row, H5S_ALL, H5S_ALL, transfer, buffer.data()) < 0)
    input_error(where + " cannot be read: the file is damaged");
  table.rows.reserve(d.count);
  for (std::uint64_t r = 0; r < d.count; ++r) {
    table.rows.emplace_back();
    for (const Field &field : fields) table.rows.back().push_back(read_cell(field, &buffer[r * width + field.offset]));
  }
  return table;
}

NumericArray Hdf5File::array(const std::string &name, size_t rank, const std::string &needs, bool whole) const {
  const std::string where = path_ + ": dataset " + name;
  const Dataset d =
      open_dataset(*this, contents_->file, contents_->size, name, needs, [](hid_t) { return sizeof(double); });
  if (H5Tget_class(d.type) != H5T_FLOAT && !(whole && H5Tget_class(d.type) == H5T_INTEGER))
    input_error(where + " is of " + (H5Tget_class(d.type) == H5T_INTEGER ? "an integer" : "a non-numeric") +
                " type, needs floating point " + needs);
  if (rank && d.dims.size() != rank) input_error(where + " has shape " + shape_text(d.dims) + ", needs " + needs);
  if (d.count == 0)
    input_error(where + " has shape " + shape_text(d.dims) + ", needs " + needs + " with every size at least 1");
  for (std::uint64_t n : d.dims)
    if (n > std::uint64_t(std::numeric_limits<int>::max()))
      input_error(where + " has shape " + shape_text(d.dims) + ", needs " + needs + " with sizes below 2^31");
  NumericArray array{d.dims, std::vector<double>(d.count)};
  const size_t bytes = H5Tget_size(d.type);
  if (H5Tget_class(d.type) == H5T_FLOAT) array.type = bytes == 8 ? "f64" : bytes == 4 ? "f32" : bytes == 2 ? "f16" : "";
  if (H5Dread(d.set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, array.data.data()) < 0)
    input_error(where + " cannot be read: the file is damaged");
  return array;
}

} // namespace recollect
