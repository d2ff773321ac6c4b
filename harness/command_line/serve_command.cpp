// SPDX-License-Identifier: Apache-2.0 The command `serve`: runs commands one after another in one process, for the
// Python package. For each command it reads a line of JSON, {"args": [...]}, with the words of the command line. It
// answers with a line of JSON, {"status": ..., "out": ..., "err": ...}. Kokkos is started only once, and the references
// of `check` are kept for later commands.
#include "harness/command_line/cli.hpp"
#include "harness/command_line/flags.hpp"
#include "harness/command_line/subcommands.hpp"
#include "harness/device/backend.hpp"
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <iostream>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace recollect {
namespace {

/// Keeps standard output for answers. Whatever a command or a library prints on standard output in another way is
/// discarded.
class Answers {
public:
  Answers() : descriptor_(dup(STDOUT_FILENO)) {
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0 || nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0)
      input_error("serve cannot set standard output aside");
    close(nowhere);
  }
  ~Answers() { close(descriptor_); }
  Answers(const Answers &) = delete;
  Answers &operator=(const Answers &) = delete;
  /// Writes an answer. False if the reader has closed the pipe; input error if writing fails in another way.
  bool send(const std::string &line) const {
    for (size_t done = 0; done < line.size();) {
      const ssize_t n = write(descriptor_, line.data() + done, line.size() - done);
      if (n < 0 && errno == EPIPE) return false;
      if (n <= 0) input_error("serve cannot write its answer");
      done += size_t(n);
    }
    return true;
  }

private:
  int descriptor_;
};

Words arguments_of(const std::string &line) {
  static const Words served{"list", "sample", "forward", "check", "info"};
  const nlohmann::json request = nlohmann::json::parse(line, nullptr, false);
  const bool has_words = request.is_object() && request.contains("args") && request["args"].is_array() &&
                         !request["args"].empty() &&
                         std::all_of(request["args"].begin(), request["args"].end(),
                                     [](const nlohmann::json &word) { return word.is_string(); });
  if (!has_words) usage_error("serve takes lines of JSON such as {\"args\": [\"check\", \"linear\"]}");
  const Words words = request["args"].get<Words>();
  if (std::find(served.begin(), served.end(), words[0]) == served.end())
    usage_error("serve runs " + join(served, ", ") + "; got '" + words[0] + "'");
  return words;
}

Captured answer(const std::string &line) {
  try {
    return run_captured(arguments_of(line));
  } catch (const Error &failure) {
    return {failure.code, "", "recollect: " + printable(failure.what()) + "\n"};
  }
}

int serve() {
  const Answers answers;
  const Backend backend;
  for (std::string line; std::getline(std::cin, line);) {
    const Captured found = answer(line);
    const nlohmann::json said{{"status", found.status}, {"out", found.out}, {"err", found.err}};
    if (!answers.send(said.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) + "\n")) return exit_ok;
  }
  if (std::ferror(stdin)) input_error("serve cannot read standard input");
  return exit_ok;
}

} // namespace

Action add_serve(CLI::App &app) {
  CLI::App &c =
      *app.add_subcommand("serve", "run commands given as lines of JSON, all in one process (for the Python package)");
  example(c, "recollect serve");
  return [](const Words &) { return serve(); };
}

} // namespace recollect
