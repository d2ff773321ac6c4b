// SPDX-License-Identifier: Apache-2.0
#include "harness/files/results.hpp"
#include "harness/core/claim_version.hpp"
#include "harness/core/error.hpp"
#include "harness/core/packing.hpp"
#include "harness/core/text.hpp"
#include "harness/files/digest.hpp"
#include "harness/system/child.hpp"
#include <algorithm>
#include <cmath>

namespace recollect {
namespace {

constexpr Kind whole = Kind::whole, integer = Kind::integer, real = Kind::real, text = Kind::text;
const char *const schema = "recollect results";

std::vector<Table> empty_run_tables() {
  return {{"plan",
           {{"case", integer},
            {"variant", text},
            {"family", text},
            {"form", text},
            {"task", text},
            {"real", text},
            {"chunk", integer},
            {"seed", whole},
            {"headline", text},
            {"better", text},
            {"chance", real},
            {"ceiling", real},
            {"setting", text},
            {"experiment", text}},
           {}},
          {"parameters", {{"case", integer}, {"owner", text}, {"name", text}, {"value", real}, {"text", text}}, {}},
          {"records",
           {{"case", integer},
            {"B", integer},
            {"H", integer},
            {"T", integer},
            {"Dk", integer},
            {"Dv", integer},
            {"status", text},
            {"reason", text},
            {"state_bytes", real},
            {"flops", real}},
           {}},
          {"experiments", {{"experiment", text}, {"title", text}, {"printed", text}}, {}},
          {"choices", {{"case", integer}, {"owner", text}, {"name", text}, {"value", real}}, {}},
          {"metrics", {{"case", integer}, {"metric", text}, {"value", real}}, {}},
          {"samples", {{"case", integer}, {"repetition", integer}, {"seconds", real}}, {}}};
}

std::vector<Table> empty_verify_tables() {
  return {
      {"claim_plan", {{"finding", integer}, {"claim", text}, {"effort", text}, {"seed", whole}, {"point", text}}, {}},
      {"claims",
       {{"finding", integer},
        {"claim", text},
        {"point", integer},
        {"role", text},
        {"rival", text},
        {"label", text},
        {"parameters", text},
        {"measured", real},
        {"predicted", real},
        {"standard_error", real},
        {"tolerance", real},
        {"sensitivity", real},
        {"relation", text},
        {"verdict", text},
        {"claim_verdict", text},
        {"expected", text},
        {"passed", integer}},
       {}},
      {"claim_parameters",
       {{"finding", integer}, {"claim", text}, {"point", integer}, {"name", text}, {"value", real}, {"text", text}},
       {}},
      {"claim_texts",
       {{"finding", integer},  {"claim", text},  {"source", text},   {"statement", text}, {"exact", text},
        {"explanation", text}, {"scope", text},  {"reason", text},   {"condition", text}, {"paragraph", text},
        {"conditions", text},  {"next", text},   {"answer", text},   {"system", text},    {"verdict", text},
        {"expected", text},    {"covers", text}, {"variants", text}, {"passed", integer}, {"seconds", real},
        {"version", integer}},
       {}}};
}

void add_parameters(Table &table, int index, const std::string &owner, const Params &params) {
  for (const auto &[name, value] : params) table.add(index, owner, name, value.number, value.text);
}

/// The enumerator whose name is `name`; only the first `count` enumerators are tried.
template <class Enum> Enum named(const std::string &name, int count) {
  for (int i = 0; i < count; ++i)
    if (name == name_of(static_cast<Enum>(i))) return static_cast<Enum>(i);
  input_error("the file has an unknown value: " + name);
}

} // namespace

Results Results::planned(const std::vector<Case> &plan, Facts meta) {
  Results r;
  r.meta = std::move(meta), r.tables_ = empty_run_tables();
  for (const Case &c : plan) {
    const Metric &headline = c.task->metrics.at(0);
    const Ends ends = c.task->ends ? c.task->ends(c.task_params) : Ends{std::nan(""), std::nan("")};
    r.table("plan").add(c.index, c.variant->name, c.variant->family, c.form->name, c.task->name, name_of(c.real),
                        c.chunk, c.seed, headline.name, name_of(headline.better), ends.chance, ends.ceiling,
                        name_of(c.setting), c.experiment);
    add_parameters(r.table("parameters"), c.index, c.variant->name, c.variant_params);
    add_parameters(r.table("parameters"), c.index, c.task->name, c.task_params);
  }
  return r;
}

void Results::describe(const std::string &experiment, const std::string &title, const std::string &printed) {
  table("experiments").add(experiment, title, printed);
}

Results Results::planned(const std::vector<Measurement> &plan, Facts meta) {
  Results r;
  r.meta = std::move(meta), r.tables_ = empty_verify_tables();
  for (size_t i = 0; i < plan.size(); ++i) {
    const Protocol &p = plan[i].protocol;
    r.table("claim_plan").add(i, plan[i].claim->id, p.full() ? "full" : "quick", p.seed, p.point ? p.point->str() : "");
  }
  return r;
}

namespace {

/// Whether the table belongs to the plan. These tables are complete before any result is added.
bool of_plan(const Table &t) {
  for (const char *name : {"plan", "parameters", "claim_plan", "training_plan", "training_parameters"})
    if (t.name == name) return true;
  return false;
}

struct Contents {
  Facts meta;
  std::vector<Table> tables;
};

Contents read_here(const std::string &path) {
  const Hdf5File file(path);
  if (file.schema() != schema || file.schema_version() < 1) input_error(path + " is no results file of recollect");
  if (file.schema_version() > schema_version)
    input_error(path + " has schema_version " + std::to_string(file.schema_version()) + ", this program reads up to " +
                std::to_string(schema_version));
  Contents contents{file.meta(), {}};
  std::uint64_t sum = digest(contents.meta);
  for (const std::string &name : file.tables()) {
    contents.tables.push_back(file.table(name));
    sum += digest(contents.tables.back());
  }
  if (file.schema_version() >= 4 && sum != file.stored_digest())
    input_error(path + " is damaged: its contents are not those that were written");
  return contents;
}

/// The facts, and the tables that `wanted` accepts, as bytes.
template <class Wanted> std::string packed(const Facts &meta, const std::vector<Table> &tables, const Wanted &wanted) {
  Packer pack;
  pack << std::uint64_t(meta.size());
  for (const auto &[name, value] : meta) pack << name << value;
  pack << std::uint64_t(std::count_if(tables.begin(), tables.end(), wanted));
  for (const Table &table : tables) {
    if (!wanted(table)) continue;
    pack << table.name << std::uint64_t(table.columns.size());
    for (const Column &c : table.columns) pack << c.name << int(c.kind);
    pack << std::uint64_t(table.rows.size());
    for (const auto &row : table.rows)
      for (const Cell &cell : row) std::visit([&](const auto &value) { pack << value; }, cell);
  }
  return std::move(pack.bytes);
}

Cell unpacked_cell(Kind kind, Unpacker &unpack) {
  switch (kind) {
  case Kind::whole:
    return unpack.next<std::uint64_t>();
  case Kind::integer:
    return unpack.next<std::int64_t>();
  case Kind::real:
    return unpack.next<double>();
  default:
    return unpack.next<std::string>();
  }
}

Contents unpacked(const std::string &bytes) {
  Unpacker unpack(bytes);
  Contents contents;
  contents.meta.resize(unpack.next<std::uint64_t>());
  for (auto &[name, value] : contents.meta) unpack >> name >> value;
  contents.tables.resize(unpack.next<std::uint64_t>());
  for (Table &table : contents.tables) {
    unpack >> table.name;
    table.columns.resize(unpack.next<std::uint64_t>());
    for (Column &c : table.columns) {
      unpack >> c.name;
      c.kind = Kind(unpack.next<int>());
    }
    table.rows.resize(unpack.next<std::uint64_t>());
    for (auto &row : table.rows)
      for (const Column &c : table.columns) row.push_back(unpacked_cell(c.kind, unpack));
  }
  return contents;
}

} // namespace

Results Results::read(const std::string &path) {
  return unpacked(reading_in_child(path, [&] {
    const Contents contents = read_here(path);
    return recollect::packed(contents.meta, contents.tables, [](const Table &) { return true; });
  }));
}

std::string Results::packed() const {
  return recollect::packed(meta, tables_, [](const Table &t) { return !of_plan(t); });
}

Results Results::unpacked(const std::string &bytes) {
  Contents contents = recollect::unpacked(bytes);
  Results r;
  r.meta = std::move(contents.meta), r.tables_ = std::move(contents.tables);
  r.find_done();
  return r;
}

void Results::find_done() {
  for (const auto &[name, key] :
       {std::pair("records", "case"), std::pair("claim_texts", "finding"), std::pair("trained", "run")})
    if (const Table *t = find(name); t && t->find(key) >= 0)
      for (size_t row = 0; row < t->rows.size(); ++row) done_.insert(size_t(t->get<std::int64_t>(row, key)));
}

namespace {
/// Whether the table's first column is the index of a case, a finding or a run.
bool by_index(const Table &t) { return t.name != "experiments" && t.name != "trained_statements"; }
} // namespace

Results Results::merged(const std::vector<Results> &parts, const std::vector<std::string> &names) {
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!fact(parts[i].meta, "plan_digest").empty())
      input_error("cannot merge " + names[i] +
                  ": it is one rank's part of an unfinished run, which --resume completes");
    for (const Table &t : parts[i].tables_)
      if (t.name == "training_plan" || (by_index(t) && (t.columns.empty() || t.columns[0].kind != integer)))
        input_error("cannot merge " + names[i] + ": it was not written by run or verify");
  }
  Results together = parts.at(0);
  std::map<size_t, std::string> owner;
  for (size_t done : together.done_) owner[done] = names[0];
  for (size_t i = 1; i < parts.size(); ++i) {
    const std::string difference = together.differs_from(parts[i]);
    if (!difference.empty()) input_error("cannot merge " + names[0] + " and " + names[i] + ": " + difference);
    for (size_t done : parts[i].done_) {
      const auto [place, fresh] = owner.emplace(done, names[i]);
      if (!fresh)
        input_error("cannot merge " + place->second + " and " + names[i] + ": both have case " + std::to_string(done));
    }
    for (const Table &part : parts[i].tables_)
      if (const Table *into = together.find(part.name); into && !(into->columns == part.columns))
        input_error("cannot merge " + names[0] + " and " + names[i] + ": their tables " + part.name + " differ");
    together.absorb(parts[i]);
  }
  together.sort();
  return together;
}

void Results::absorb(const Results &other) {
  for (const Table &part : other.tables_) {
    if (!by_index(part) || of_plan(part)) continue;
    if (!find(part.name)) tables_.push_back({part.name, part.columns, {}});
    auto &rows = table(part.name).rows;
    const auto of = [](const auto &row) { return size_t(std::get<std::int64_t>(row[0])); };
    rows.erase(std::remove_if(rows.begin(),
                              rows.end(), // drops rows of runs that `other` has finished and these results have not
                              [&](const auto &row) { return other.has(of(row)) && !has(of(row)); }),
               rows.end());
    for (const auto &row : part.rows)
      if (!has(of(row))) rows.push_back(row);
  }
  done_.insert(other.done_.begin(), other.done_.end());
}

void Results::sort() {
  const auto before = [](const auto &a, const auto &b) {
    return std::get<std::int64_t>(a[0]) < std::get<std::int64_t>(b[0]);
  };
  for (Table &t : tables_)
    if (by_index(t) && !std::is_sorted(t.rows.begin(), t.rows.end(), before))
      std::stable_sort(t.rows.begin(), t.rows.end(), before);
}

void Results::add(const Record &record) {
  const int c = record.case_index;
  const Shape &n = record.shape;
  done_.insert(size_t(c));
  table("records").add(c, n.B, n.H, n.T, n.Dk, n.Dv, record.status, record.reason, record.state_bytes, record.flops);
  for (const Chosen &one : record.chosen) table("choices").add(c, one.owner, one.name, one.value);
  for (const auto &[name, value] : record.score.metrics) table("metrics").add(c, name, value);
  for (size_t i = 0; i < record.seconds.size(); ++i) table("samples").add(c, i, record.seconds[i]);
  for (const auto &[name, curve] : record.score.series) {
    const std::string path = "series/" + name;
    if (!find(path)) tables_.push_back({path, {{"case", integer}, {"step", integer}, {"value", real}}, {}});
    for (size_t i = 0; i < curve.size(); ++i) table(path).add(c, i, curve[i]);
  }
}

void Results::add(size_t index, const Finding &f) {
  const Claim &c = *f.claim;
  done_.insert(index);
  table("claim_texts")
      .add(index, c.id, c.source, c.statement, c.exact, c.explanation, name_of(c.scope), name_of(c.reason), c.condition,
           c.reading.paragraph, c.reading.conditions, c.reading.next, c.reading.answer, system_of(c),
           name_of(f.verdict), name_of(c.expected), join(c.covers, " "), join(c.variants, " "), f.passed, f.seconds,
           version_of(c));
  for (size_t i = 0; i < f.points.size(); ++i) {
    const Point &p = f.points[i];
    table("claims").add(index, c.id, i, name_of(p.role), name_of(p.rival), p.label, p.params.str(), p.measured,
                        p.predicted, p.standard_error, p.tolerance, sensitivity(p), name_of(p.relation),
                        name_of(p.verdict), name_of(f.verdict), name_of(c.expected), f.passed);
    for (const auto &[name, value] : p.params)
      table("claim_parameters").add(index, c.id, i, name, value.number, value.text);
  }
}

Results Results::of(std::vector<Table> tables, Facts meta) {
  Results r;
  r.meta = std::move(meta), r.tables_ = std::move(tables);
  return r;
}

void Results::add(const std::vector<Table> &tables) {
  for (const Table &one : tables) table(one.name) = one;
  find_done();
}

size_t Results::missing() const {
  size_t missing = 0;
  for (const char *name : {"plan", "claim_plan", "training_plan"})
    if (const Table *plan = find(name))
      for (size_t i = 0; i < plan->rows.size(); ++i) missing += !done_.count(i);
  return missing;
}

std::vector<std::string> Results::statuses() const {
  std::vector<std::string> all;
  const Table &records = table("records");
  for (size_t row = 0; row < records.rows.size(); ++row) all.push_back(records.get<std::string>(row, "status"));
  return all;
}

std::map<int, double> Results::headlines(const std::vector<Case> &plan) const {
  std::map<int, double> found;
  if (done_.empty()) return found;
  std::map<std::int64_t, std::string> wanted;
  for (const Case &c : plan) wanted[c.index] = c.task->metrics.at(0).name;
  const Table &metrics = table("metrics");
  for (size_t row = 0; row < metrics.rows.size(); ++row)
    if (const auto index = metrics.get<std::int64_t>(row, "case");
        metrics.get<std::string>(row, "metric") == wanted[index])
      found[int(index)] = metrics.get<double>(row, "value");
  return found;
}

Finding Results::finding(size_t index, const Claim &claim) const {
  Finding f;
  f.claim = &claim;
  const Table &texts = table("claim_texts"), &points = table("claims"), &parameters = table("claim_parameters");
  const auto ours = [&](const Table &t, size_t row) {
    return t.get<std::int64_t>(row, "finding") == std::int64_t(index);
  };
  for (size_t row = 0; row < points.rows.size(); ++row) {
    if (!ours(points, row)) continue;
    const auto word = [&](const char *column) { return points.get<std::string>(row, column); };
    const auto number = [&](const char *column) { return points.get<double>(row, column); };
    Point p;
    p.role = named<Role>(word("role"), 5), p.rival = named<RivalKind>(word("rival"), 3), p.label = word("label");
    p.measured = number("measured"), p.predicted = number("predicted"), p.standard_error = number("standard_error");
    p.tolerance = number("tolerance"), p.relation = named<Point::Relation>(word("relation"), 3);
    p.verdict = named<Verdict>(word("verdict"), 6);
    f.points.push_back(p);
  }
  for (size_t row = 0; row < parameters.rows.size(); ++row) {
    if (!ours(parameters, row)) continue;
    Params &into = f.points.at(size_t(parameters.get<std::int64_t>(row, "point"))).params;
    const std::string &name = parameters.get<std::string>(row, "name"),
                      &value = parameters.get<std::string>(row, "text");
    value.empty() ? into.set(name, parameters.get<double>(row, "value")) : into.set(name, value);
  }
  for (size_t row = 0; row < texts.rows.size(); ++row) {
    if (!ours(texts, row)) continue;
    f.verdict = named<Verdict>(texts.get<std::string>(row, "verdict"), 6);
    f.passed = texts.get<std::int64_t>(row, "passed") != 0;
    f.seconds = texts.get<double>(row, "seconds");
  }
  return f;
}

std::string Results::image() const {
  return in_child("building a results file", [&] {
    Hdf5Image image;
    image.attributes(schema, schema_version, meta);
    for (const Table &t : tables_) image.table(t);
    return image.bytes();
  });
}

std::string Results::differs_from(const Results &other) const {
  for (const char *name : {"seed", "version", "git_commit", "git_dirty"})
    if (fact(meta, name) != fact(other.meta, name))
      return std::string(name) + " " + fact(meta, name) + " there, " + fact(other.meta, name) + " here";
  return plan_digest() == other.plan_digest() ? "" : "another plan";
}

std::string Results::plan_digest() const {
  const std::string known = fact(meta, "plan_digest");
  if (!known.empty()) return known;
  std::uint64_t sum = 0;
  for (const Table &t : tables_)
    if (of_plan(t)) sum += digest(t);
  return std::to_string(sum);
}

void Results::leave_out_plan() {
  meta.emplace_back("plan_digest", plan_digest());
  tables_.erase(std::remove_if(tables_.begin(), tables_.end(), of_plan), tables_.end());
}

Table &Results::table(const std::string &name) {
  return const_cast<Table &>(static_cast<const Results *>(this)->table(name));
}
const Table &Results::table(const std::string &name) const {
  if (const Table *found = find(name)) return *found;
  input_error("the file has no table " + name);
}
const Table *Results::find(const std::string &name) const {
  for (const Table &t : tables_)
    if (t.name == name) return &t;
  return nullptr;
}

} // namespace recollect
