// SPDX-License-Identifier: Apache-2.0
#include "harness/bench/peers.hpp"
#include "build_config.hpp"
#include "harness/core/error.hpp"
#include "harness/core/text.hpp"
#include "harness/device/stopwatch.hpp"
#include "harness/system/files.hpp"
#include "harness/system/subprocess.hpp"
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

namespace recollect {
namespace {

using json = nlohmann::json;
namespace fs = std::filesystem;

struct TemporaryFolder {
  std::string path;
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "recollect-peers-XXXXXX").string();
    if (!mkdtemp(pattern.data())) input_error("cannot make a folder for the peers' tensors in " + pattern);
    path = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};

template <class Real> std::string as_bytes(const std::vector<double> &values) {
  const std::vector<Real> cast(values.begin(), values.end());
  return std::string(reinterpret_cast<const char *>(cast.data()), cast.size() * sizeof(Real));
}

/// Writes the tensors of the case as q.bin, k.bin ...: raw row-major float64, or float32, which also holds 16-bit
/// numbers exactly. Writes expected.bin in float64.
void write_tensors(const PeerCase &asked, const std::string &folder) {
  for (Tensor tensor : all_tensors) {
    const std::vector<double> &data = (*asked.inputs)[tensor];
    if (!data.empty())
      write_file(folder + "/" + name_of(tensor) + ".bin",
                 asked.bench_case->real == Real::f64 ? as_bytes<double>(data) : as_bytes<float>(data));
  }
  write_file(folder + "/expected.bin", as_bytes<double>(asked.expected));
}

json names_given(const Sequence &s) {
  json given = json::array();
  for (Tensor tensor : all_tensors)
    if (!s[tensor].empty()) given.push_back(name_of(tensor));
  return given;
}

std::string python_with_torch() {
  const std::string has_both =
      "from importlib.util import find_spec as f; raise SystemExit(not (f('torch') and f('numpy')))";
  for (const std::string candidate : {"python3", RECOLLECT_PYTHON, "/usr/bin/python3"})
    if (!candidate.empty() && run_quietly({candidate, "-c", has_both}) == 0) return candidate;
  input_error("--peers needs a python3 with PyTorch and NumPy, but none was found");
}

/// The case's parameters that differ from the layer's defaults, such as {"kappa1": "softmax", "tau": 0.5}.
json set_parameters(const BenchCase &c) {
  json set = json::object();
  const Params defaults = resolve(c.variant->params, {}, c.variant->name);
  for (const auto &[name, value] : c.params)
    if (!value.text.empty() && value.text != defaults.text(name))
      set[name] = value.text;
    else if (value.number == value.number && value.number != defaults.real(name)) // NaN means "automatic"
      set[name] = value.number;
  return set;
}

json description(const PeerCase &asked, const std::string &folder) {
  const BenchCase &c = *asked.bench_case;
  const Shape &n = c.shape;
  return {{"ask", "case"},
          {"folder", folder},
          {"variant", c.variant->name},
          {"form", c.form->name},
          {"shape", {n.B, n.H, n.T, n.Dk, n.Dv}},
          {"real", name_of(c.real)},
          {"math", name_of(c.math)},
          {"chunk", c.chunk},
          {"given", names_given(*asked.inputs)},
          {"starts", starts_of_texts(c.texts, n.T)},
          {"qk_heads", c.qk_heads ? c.qk_heads : n.H},
          {"backward", c.backward},
          {"parameters", set_parameters(c)},
          {"expected_steps", asked.expected_steps},
          {"clock", default_clock()}};
}

/// If the relative error of a peer's output, |o - definition| / |definition|, is below this number, the peer computes
/// the same layer. Rounding is much smaller (2^-11 in TF32, 2^-9 in bfloat16), and mistakes to be found, such as a
/// gate, scale or strength that is left out, are larger (about 1).
constexpr double same_layer = 0.1;

} // namespace

struct Peers::Process {
  Process(double seconds, double milliseconds) : first_call(seconds), tuning(milliseconds) {}

  double first_call, tuning;
  std::string python = python_with_torch(), script = RECOLLECT_SOURCE_DIR "/bench/peers.py";
  std::unique_ptr<Dialogue> dialogue; // one process for many cases, because PyTorch takes seconds to start

  /// The answer of the Python process. If the process has ended, the status is "failed", and the next question starts a
  /// new process.
  json ask(const json &question) {
    if (!dialogue) dialogue = std::make_unique<Dialogue>(std::vector<std::string>{python, script});
    std::string said;
    if (dialogue->ask(question.dump(), said)) return json::parse(said);
    dialogue.reset();
    return {{"status", "failed"}, {"reason", "the process of bench/peers.py ended"}};
  }

  /// A row for each peer of the case, not yet timed.
  std::vector<BenchResult> names(const PeerCase &asked, const std::string &folder) {
    json question = description(asked, folder);
    question["tuning"] = tuning;
    const json answer = ask(question);
    if (!answer.contains("peers"))
      input_error(script + " did not answer for " + name_of(*asked.bench_case) + ": run it alone to see why");
    std::vector<BenchResult> rows;
    for (const json &peer : answer.at("peers")) {
      BenchResult r;
      r.bench_case = asked.bench_case, r.source = peer.at("source"), r.storage = peer.at("storage");
      rows.push_back(r);
    }
    return rows;
  }

  /// Copies the status of an answer to the row. Returns false if the peer failed. The process then ends, because it may
  /// be unable to use the GPU after an error; the next question starts a new one.
  bool keep(const json &answer, BenchResult &row) {
    row.status = answer.at("status"), row.reason = answer.at("reason");
    if (row.status == "failed") dialogue.reset();
    return row.status != "failed";
  }
};

Peers::Peers(double first_call, double tuning) : process_(new Process(first_call, tuning)) {}
Peers::~Peers() = default;

std::vector<BenchResult> Peers::enter(const PeerCase &asked, const std::function<void(const std::string &)> &told) {
  const std::string name = name_of(*asked.bench_case);
  const TemporaryFolder folder;
  told(name + ": starting the peers' Python");
  std::vector<BenchResult> rows = process_->names(asked, folder.path);
  if (rows.empty()) return rows;
  write_tensors(asked, folder.path);
  for (bool again = true; again;) {
    again = false;
    for (size_t i = 0; i < rows.size() && !again; ++i) {
      if (rows[i].status != "ok") continue; // this peer failed in an earlier round
      told(name + ": first call of " + rows[i].source + ", which may compile and tune");
      if (process_->keep(process_->ask({{"ask", "ready"}, {"peer", i}, {"limit", process_->first_call}}), rows[i]))
        continue;
      again = true; // peers that were ready are gone with the old process, so all must get ready again
      process_->names(asked, folder.path);
    }
  }
  return rows;
}

std::vector<Sample> Peers::take(size_t peer, size_t count, BenchResult &row) {
  const json answer = process_->ask({{"ask", "take"}, {"peer", peer}, {"count", count}});
  std::vector<Sample> samples;
  if (answer.at("status") == "ok")
    for (const json &one : answer.at("samples")) samples.push_back({one.at(0), one.at(1)});
  else
    process_->keep(answer, row);
  return samples;
}

void Peers::finish(size_t peer, BenchResult &row) {
  const json answer = process_->ask({{"ask", "finish"}, {"peer", peer}});
  if (answer.at("status") != "ok") {
    process_->keep(answer, row);
    return;
  }
  row.method = answer.at("method");
  if (answer.at("error").is_null()) return; // the output is not compared
  row.error = answer.at("error");
  if (row.error < same_layer) return; // false for NaN
  row.status = "wrong", row.seconds.clear(), row.timing = {};
  row.reason = "its output is off by " + number(row.error) + " of the definition's norm: it computes something else";
}

} // namespace recollect
