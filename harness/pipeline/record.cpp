// SPDX-License-Identifier: Apache-2.0
#include "harness/pipeline/record.hpp"
#include "harness/core/error.hpp"
#include "harness/core/text.hpp"
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <hdf5.h>
#include <hdf5_hl.h>
#include <set>

namespace recollect {
namespace {

/// Closes any kind of HDF5 identifier.
class Handle {
public:
  Handle(hid_t id, const std::string &what) : id_(id) {
    if (id < 0) input_error(what);
  }
  Handle(const Handle &) = delete;
  Handle &operator=(const Handle &) = delete;
  ~Handle() { H5Idec_ref(id_); }
  operator hid_t() const { return id_; }

private:
  hid_t id_;
};

void require_written(herr_t status, const std::string &path) {
  if (status < 0) input_error("cannot write " + path + " (is there space left?)");
}

/// A file under construction, at PATH.partial until it is complete.
class NewFile {
public:
  explicit NewFile(const std::string &path) : path_(path), partial_(path + ".partial") {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); // our one-line errors replace the library's stack dumps
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored))
      input_error("cannot write " + path + ": it exists and is not a regular file");
    id_ = H5Fcreate(partial_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    if (id_ < 0) input_error("cannot create " + partial_ + ": check that its folder exists and is writable");
  }
  NewFile(const NewFile &) = delete;
  ~NewFile() {
    if (id_ >= 0) H5Fclose(id_);
  }
  operator hid_t() const { return id_; }
  const std::string &path() const { return path_; }
  void flush() { require_written(H5Fflush(id_, H5F_SCOPE_LOCAL), path_); }
  void finish() {
    flush();
    const herr_t closed = H5Fclose(id_);
    id_ = -1;
    require_written(closed, path_);
    if (std::rename(partial_.c_str(), path_.c_str()) != 0) input_error("cannot rename " + partial_ + " to " + path_);
  }
  void abandon() {
    if (id_ >= 0) H5Fclose(id_);
    id_ = -1;
    std::remove(partial_.c_str());
  }

private:
  std::string path_, partial_;
  hid_t id_ = -1;
};

struct Column {
  std::string name;
  size_t width; // bytes of text; 0: a double; 1: a 64-bit integer
};
constexpr size_t real_column = 0, integer_column = 1;

using Cell = std::pair<double, std::string>; // the number or the text, as the column's kind says
Cell text(const std::string &t) { return {0, t}; }
Cell real(double x) { return {x, ""}; }

size_t bytes(const Column &c) { return c.width <= integer_column ? 8 : c.width; }

/// A compound dataset that grows by rows.
class Table {
public:
  Table(const NewFile &file, std::string name, std::vector<Column> columns)
      : file_(file), name_(std::move(name)), columns_(std::move(columns)) {
    std::vector<const char *> names;
    std::vector<hid_t> types;
    for (const Column &c : columns_) {
      offsets_.push_back(size_);
      sizes_.push_back(bytes(c));
      size_ += bytes(c);
      names.push_back(c.name.c_str());
      if (c.width > integer_column) {
        owned_.push_back(H5Tcopy(H5T_C_S1));
        H5Tset_size(owned_.back(), c.width);
      }
      types.push_back(c.width == real_column      ? H5T_NATIVE_DOUBLE
                      : c.width == integer_column ? H5T_NATIVE_INT64
                                                  : owned_.back());
    }
    require_written(H5TBmake_table(name_.c_str(), file_, name_.c_str(), columns_.size(), 0, size_, names.data(),
                                   offsets_.data(), types.data(), 256, nullptr, 0, nullptr),
                    file_.path());
  }
  ~Table() {
    for (hid_t type : owned_) H5Tclose(type);
  }
  void append(const std::vector<std::vector<Cell>> &rows) {
    if (rows.empty()) return;
    std::vector<char> buffer(rows.size() * size_);
    for (size_t r = 0; r < rows.size(); ++r)
      for (size_t c = 0; c < columns_.size(); ++c) {
        char *target = &buffer[r * size_ + offsets_[c]];
        const Cell &cell = rows[r].at(c);
        const std::int64_t whole = std::int64_t(cell.first);
        if (columns_[c].width == real_column)
          std::memcpy(target, &cell.first, 8);
        else if (columns_[c].width == integer_column)
          std::memcpy(target, &whole, 8);
        else
          std::memcpy(target, cell.second.data(), std::min(cell.second.size(), columns_[c].width - 1));
      }
    require_written(
        H5TBappend_records(file_, name_.c_str(), rows.size(), size_, offsets_.data(), sizes_.data(), buffer.data()),
        file_.path());
  }

private:
  const NewFile &file_;
  std::string name_;
  std::vector<Column> columns_;
  std::vector<size_t> offsets_, sizes_;
  std::vector<hid_t> owned_;
  size_t size_ = 0;
};

void write_attribute(hid_t object, const char *name, const std::string &value, const std::string &path) {
  const Handle type(H5Tcopy(H5T_C_S1), "HDF5 is out of memory");
  H5Tset_size(type, value.size() + 1);
  const Handle space(H5Screate(H5S_SCALAR), "HDF5 is out of memory");
  const Handle attribute(H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT), "cannot write " + path);
  require_written(H5Awrite(attribute, type, value.c_str()), path);
}

void write_header(const NewFile &file, const std::string &schema, const Facts &meta) {
  write_attribute(file, "schema", schema, file.path());
  require_written(H5LTset_attribute_int(file, "/", "schema_version", &schema_version, 1), file.path());
  const Handle group(H5Gcreate2(file, "/meta", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "cannot write " + file.path());
  for (const auto &[name, value] : meta) write_attribute(group, name.c_str(), value, file.path());
}

void parameter_rows(std::vector<std::vector<Cell>> &rows, std::vector<Cell> key, const std::string &owner,
                    const Params &params) {
  for (const auto &[name, value] : params) {
    std::vector<Cell> row = key;
    for (const Cell &cell : {text(owner), text(name), real(value.number), text(value.text)}) row.push_back(cell);
    rows.push_back(std::move(row));
  }
}

} // namespace

struct ResultFile::Contents {
  NewFile file;
  std::unique_ptr<Table> records, metrics, samples;
  std::map<std::string, std::unique_ptr<Table>> series;
  explicit Contents(const std::string &path) : file(path) {}
};

ResultFile::ResultFile(const std::string &path, const Facts &meta) : contents_(new Contents(path)) {
  write_header(contents_->file, "recollect results", meta);
}
ResultFile::~ResultFile() = default;

void ResultFile::write_plan(const std::vector<Case> &plan) {
  const NewFile &file = contents_->file;
  Table table(file, "plan",
              {{"case", integer_column},
               {"variant", 48},
               {"family", 32},
               {"form", 24},
               {"task", 48},
               {"real", 8},
               {"chunk", integer_column},
               {"seed", integer_column}});
  Table parameters(file, "parameters",
                   {{"case", integer_column}, {"owner", 48}, {"name", 32}, {"value", real_column}, {"text", 32}});
  std::vector<std::vector<Cell>> rows, values;
  for (const Case &c : plan) {
    rows.push_back({real(c.index), text(c.variant->name), text(c.variant->family), text(c.form->name),
                    text(c.task->name), text(name_of(c.real)), real(c.chunk), real(double(c.seed))});
    parameter_rows(values, {real(c.index)}, c.variant->name, c.variant_params);
    parameter_rows(values, {real(c.index)}, c.task->name, c.task_params);
  }
  table.append(rows);
  parameters.append(values);
  contents_->records.reset(new Table(file, "records",
                                     {{"case", integer_column},
                                      {"B", integer_column},
                                      {"H", integer_column},
                                      {"T", integer_column},
                                      {"Dk", integer_column},
                                      {"Dv", integer_column},
                                      {"status", 16},
                                      {"reason", 240}}));
  contents_->metrics.reset(
      new Table(file, "metrics", {{"case", integer_column}, {"metric", 48}, {"value", real_column}}));
  contents_->samples.reset(
      new Table(file, "samples", {{"case", integer_column}, {"repetition", integer_column}, {"seconds", real_column}}));
  Handle(H5Gcreate2(file, "/series", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "cannot write " + file.path());
  contents_->file.flush();
}

void ResultFile::append(const Record &r) {
  const Cell key = real(r.case_index);
  contents_->records->append({{key, real(r.shape.B), real(r.shape.H), real(r.shape.T), real(r.shape.Dk),
                               real(r.shape.Dv), text(r.status), text(r.reason)}});
  std::vector<std::vector<Cell>> rows;
  for (const auto &[name, value] : r.score.metrics) rows.push_back({key, text(name), real(value)});
  contents_->metrics->append(rows);
  rows.clear();
  for (size_t i = 0; i < r.seconds.size(); ++i) rows.push_back({key, real(double(i)), real(r.seconds[i])});
  contents_->samples->append(rows);
  for (const auto &[name, curve] : r.score.series) {
    auto &table = contents_->series[name];
    if (!table)
      table.reset(new Table(contents_->file, "/series/" + name,
                            {{"case", integer_column}, {"step", integer_column}, {"value", real_column}}));
    rows.clear();
    for (size_t i = 0; i < curve.size(); ++i) rows.push_back({key, real(double(i)), real(curve[i])});
    table->append(rows);
  }
  contents_->file.flush();
}

void ResultFile::write_claims(const std::vector<Finding> &findings) {
  size_t widest = 64;
  for (const Finding &f : findings)
    for (const Point &p : f.points) widest = std::max(widest, p.params.str().size() + 1);
  const NewFile &file = contents_->file;
  Table claims(file, "claims",
               {{"claim", 64},
                {"point", integer_column},
                {"role", 16},
                {"rival", 8},
                {"label", 128},
                {"parameters", widest},
                {"measured", real_column},
                {"predicted", real_column},
                {"standard_error", real_column},
                {"tolerance", real_column},
                {"sensitivity", real_column},
                {"relation", 12},
                {"verdict", 24},
                {"claim_verdict", 24},
                {"expected", 24},
                {"passed", integer_column}});
  Table parameters(file, "claim_parameters",
                   {{"claim", 64}, {"point", integer_column}, {"name", 32}, {"value", real_column}, {"text", 128}});
  Table texts(file, "claim_texts",
              {{"claim", 64},
               {"source", 160},
               {"statement", 1024},
               {"exact", 1536},
               {"explanation", 2048},
               {"scope", 16},
               {"reason", 24},
               {"system", 8},
               {"verdict", 24},
               {"expected", 24},
               {"covers", 1024},
               {"variants", 1024},
               {"passed", integer_column},
               {"seconds", real_column}});
  std::vector<std::vector<Cell>> rows, values, described;
  for (const Finding &f : findings) {
    const Claim &c = *f.claim;
    described.push_back({text(c.id), text(c.source), text(c.statement), text(c.exact), text(c.explanation),
                         text(name_of(c.scope)), text(name_of(c.reason)), text(system_of(c)), text(name_of(f.verdict)),
                         text(name_of(c.expected)), text(join(c.covers, " ")), text(join(c.variants, " ")),
                         real(f.passed), real(f.seconds)});
    for (size_t i = 0; i < f.points.size(); ++i) {
      const Point &p = f.points[i];
      rows.push_back({text(c.id), real(double(i)), text(name_of(p.role)), text(name_of(p.rival)), text(p.label),
                      text(p.params.str()), real(p.measured), real(p.predicted), real(p.standard_error),
                      real(p.tolerance), real(sensitivity(p)), text(name_of(p.relation)), text(name_of(p.verdict)),
                      text(name_of(f.verdict)), text(name_of(c.expected)), real(f.passed)});
      for (const auto &[name, value] : p.params)
        values.push_back({text(c.id), real(double(i)), text(name), real(value.number), text(value.text)});
    }
  }
  claims.append(rows);
  parameters.append(values);
  texts.append(described);
  contents_->file.flush();
}

void ResultFile::finish() {
  contents_->records.reset(), contents_->metrics.reset(), contents_->samples.reset();
  contents_->series.clear();
  contents_->file.finish();
}

namespace {

std::string shape_text(const std::vector<hsize_t> &dims) {
  std::vector<std::string> parts;
  for (hsize_t d : dims) parts.push_back(std::to_string(d));
  return "[" + join(parts, ",") + "]";
}

struct Dataset {
  std::vector<hsize_t> dims;
  std::vector<double> data;
};

Dataset read_dataset(hid_t file, const std::string &path, const std::string &name, const std::string &needs,
                     size_t rank) {
  const std::string where = path + ": dataset " + name;
  const Handle set(H5Dopen2(file, name.c_str(), H5P_DEFAULT), where + " is not a readable dataset, needs " + needs);
  const Handle space(H5Dget_space(set), where + " has no readable shape");
  Dataset d;
  d.dims.resize(std::max(0, H5Sget_simple_extent_ndims(space)));
  H5Sget_simple_extent_dims(space, d.dims.data(), nullptr);
  const Handle type(H5Dget_type(set), where + " has no readable type");
  if (H5Tget_class(type) != H5T_FLOAT)
    input_error(where + " is of " + (H5Tget_class(type) == H5T_INTEGER ? "an integer" : "a non-numeric") +
                " type, needs floating point " + needs);
  if (d.dims.size() != rank) input_error(where + " has shape " + shape_text(d.dims) + ", needs " + needs);
  size_t count = 1;
  for (hsize_t n : d.dims) count *= n;
  if (count == 0)
    input_error(where + " has shape " + shape_text(d.dims) + ", needs " + needs + " with every size at least 1");
  d.data.resize(count);
  if (H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, d.data.data()) < 0)
    input_error(where + " cannot be read: the file is damaged");
  return d;
}

} // namespace

Sequence read_sequence(const std::string &path, const std::vector<Input> &inputs) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  if (!std::filesystem::exists(path)) input_error("no such file: " + path);
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), path + " is not a readable HDF5 file");
  const auto present = [&](const char *name) { return H5Lexists(file, name, H5P_DEFAULT) > 0; };
  for (const char *name : {"q", "k", "v"})
    if (!present(name))
      input_error(path + ": dataset " + name + " is absent, needs [B,H,T," + (*name == 'v' ? "Dv" : "Dk") + "]");
  Sequence s;
  Dataset q = read_dataset(file, path, "q", "[B,H,T,Dk]", 4), v = read_dataset(file, path, "v", "[B,H,T,Dv]", 4);
  s.shape = {int(q.dims[0]), int(q.dims[1]), int(q.dims[2]), int(q.dims[3]), int(v.dims[3])};
  const std::vector<hsize_t> keys = q.dims, steps(q.dims.begin(), q.dims.end() - 1);
  std::vector<hsize_t> values = keys;
  values[3] = v.dims[3];
  const auto expect = [&](const std::string &name, const Dataset &d, const std::vector<hsize_t> &dims) {
    if (d.dims != dims)
      input_error(path + ": dataset " + name + " has shape " + shape_text(d.dims) + ", needs " + shape_text(dims) +
                  " to match q");
  };
  expect("v", v, values);
  s.q = std::move(q.data), s.v = std::move(v.data);
  const auto read = [&](const std::string &name, std::vector<double> &into, const std::vector<hsize_t> &dims) {
    Dataset d = read_dataset(file, path, name, dims.size() == 3 ? "[B,H,T]" : "[B,H,T,Dk]", dims.size());
    expect(name, d, dims);
    into = std::move(d.data);
  };
  read("k", s.k, keys);
  for (const Input &input : inputs)
    if (present(input.name.c_str())) read(input.name, s.input(input.name), input.per_step() ? steps : keys);
  if (present("state")) s.state = read_dataset(file, path, "state", "[B,H,rows,columns]", 4).data;
  return s;
}

void write_output(const std::string &path, const Sequence &sequence, const Output &output, Real real,
                  const Facts &meta) {
  NewFile file(path);
  try {
    write_header(file, "recollect output", meta);
    const Shape &n = sequence.shape;
    const auto write = [&](const char *name, const std::vector<double> &data, std::vector<hsize_t> dims) {
      const Handle space(H5Screate_simple(int(dims.size()), dims.data(), nullptr), "HDF5 is out of memory");
      const hid_t type = real == Real::f32 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
      const Handle set(H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                       "cannot write " + path);
      require_written(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data.data()), path);
    };
    write("o", output.o, {hsize_t(n.B), hsize_t(n.H), hsize_t(n.T), hsize_t(n.Dv)});
    if (output.state_shape.size())
      write("state", output.state,
            {hsize_t(n.B), hsize_t(n.H), hsize_t(output.state_shape.rows), hsize_t(output.state_shape.columns)});
    file.finish();
  } catch (...) {
    file.abandon();
    throw;
  }
}

} // namespace recollect
