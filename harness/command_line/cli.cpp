// SPDX-License-Identifier: Apache-2.0
// Finds the subcommand and runs it. Turns every error into an exit status and one line on standard error.
#include "harness/command_line/cli.hpp"
#include "build_config.hpp"
#include "harness/command_line/heartbeat.hpp"
#include "harness/command_line/subcommands.hpp"
#include "harness/command_line/table.hpp"
#include "harness/core/error.hpp"
#include "harness/core/text.hpp"
#include "harness/system/files.hpp"
#include "harness/system/memory.hpp"
#include "harness/system/ranks.hpp"
#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <optional>
#include <sstream>
#include <unistd.h>

namespace recollect {
namespace {

struct Subcommand {
  const char *name;
  Action (*add)(CLI::App &);
};
const Subcommand subcommands[] = {{"list", add_list},       {"plan", add_plan},       {"run", add_run},
                                  {"verify", add_verify},   {"bench", add_bench},     {"train", add_train},
                                  {"forward", add_forward}, {"sample", add_sample},   {"check", add_check},
                                  {"report", add_report},   {"explain", add_explain}, {"diff", add_diff},
                                  {"merge", add_merge},     {"crate", add_crate},     {"info", add_info},
                                  {"serve", add_serve},     {"help", add_help}};

/// Wraps help to the terminal's width.
struct FoldedHelp : CLI::Formatter {
  std::string make_help(const CLI::App *app, std::string name, CLI::AppFormatMode mode) const override {
    return folded(CLI::Formatter::make_help(app, name, mode));
  }
};

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return printable(text);
}

/// CLI11 reports an unknown subcommand or flag as an extra argument. This function names the nearest known subcommand
/// or flag instead.
void check_words(int argc, char **argv, CLI::App &app) {
  std::vector<std::string> names;
  for (const Subcommand &s : subcommands) names.push_back(s.name);
  if (argc < 2) usage_error("no command given; one of " + join(names, ", "));
  const std::string first = argv[1];
  if (first[0] != '-' && std::find(names.begin(), names.end(), first) == names.end())
    usage_error("unknown command '" + first + "'" + suggestion(first, names));
  if (first[0] == '-') return;
  std::vector<std::string> flags;
  for (const CLI::Option *option : app.get_subcommand(first)->get_options())
    for (const std::string &name : option->get_lnames()) flags.push_back("--" + name);
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i], flag = word.substr(0, word.find('='));
    if (word == "--") break; // only file names follow
    if (word.rfind("--", 0) == 0 && word.size() > 2 && std::find(flags.begin(), flags.end(), flag) == flags.end())
      usage_error(first + " has no flag " + flag + suggestion(flag, flags));
  }
}

/// `alone` is false for a command run by `serve`, which uses standard error itself.
int parse_and_run(int argc, char **argv, bool alone) {
  CLI::App app{"recollect: benchmarks and verifies associative memory in sequence models", "recollect"};
  app.formatter(std::make_shared<FoldedHelp>());
  app.set_version_flag("--version", version());
  app.require_subcommand(1);
  std::vector<Action> actions;
  for (const Subcommand &s : subcommands) actions.push_back(s.add(app));
  try {
    check_words(argc, argv, app);
    app.parse(argc, argv);
  } catch (const CLI::Success &help) {
    return app.exit(help);
  } catch (const CLI::ExtrasError &failure) {
    const std::string said = one_line(failure.what());
    usage_error(said +
                (said.find(": -") == std::string::npos ? "" : " (a file's name that begins with a dash: ./-NAME)"));
  } catch (const CLI::ParseError &failure) {
    usage_error(one_line(failure.what()));
  }
  for (size_t i = 0; i < actions.size(); ++i)
    if (app.got_subcommand(subcommands[i].name)) {
      const std::string name = subcommands[i].name;
      std::optional<Heartbeat> heartbeat;
      if (alone && name != "serve")
        heartbeat.emplace("recollect " + name); // serve waits for requests, so it has no heartbeat
      return actions[i](Words(argv, argv + argc));
    }
  return exit_usage;
}

/// A library may end the program itself: the OpenMP runtime calls exit(1), and an exception that leaves a noexcept
/// function calls terminate(). Such an end gets the exit status of an environment error, because status 1 would mean a
/// failed claim.
bool finished = false;
void end_like_an_environment_failure() {
  std::atexit([] {
    if (!finished) _exit(exit_input);
  });
  std::set_terminate([] {
    const char said[] = "recollect: a library ended the program, most likely because memory ran out\n";
    if (write(STDERR_FILENO, said, sizeof said - 1) < 0) _exit(exit_input);
    _exit(exit_input);
  });
}

int finish(int status) {
  ranks::leave(false, status);
  finished = true;
  return status;
}

/// Ends this rank after an error. A usage error occurs on all ranks, because they read the same command line: rank 0
/// prints it and returns its status, and the others return 0. Any other error is printed by its rank and ends all
/// ranks.
int finish_with(int status, const char *what) {
  const bool of_all = status == exit_usage, mine = !of_all || ranks::rank() == 0;
  if (mine) std::cerr << "recollect: " << one_line(what) << std::endl;
  finished = true;
  ranks::leave(!of_all, status);
  return mine ? status : exit_ok;
}

/// Captures a stream's output as text while it lives.
class Capture {
public:
  explicit Capture(std::ostream &stream) : stream_(stream), before_(stream.rdbuf(text_.rdbuf())) {}
  ~Capture() { stream_.rdbuf(before_); }
  Capture(const Capture &) = delete;
  Capture &operator=(const Capture &) = delete;
  std::string text() const { return text_.str(); }

private:
  std::ostringstream text_;
  std::ostream &stream_;
  std::streambuf *before_;
};

/// Restores the memory limit at the end of its scope, so that --memory applies to one command of `serve` only.
class MemoryLimit {
public:
  MemoryLimit() = default;
  ~MemoryLimit() { set_memory_limit(before_); }
  MemoryLimit(const MemoryLimit &) = delete;
  MemoryLimit &operator=(const MemoryLimit &) = delete;

private:
  const std::uint64_t before_ = memory_limit();
};

} // namespace

std::string version() { return "recollect " RECOLLECT_VERSION; }

int run_command_line(int argc, char **argv) {
  open_standard_descriptors();
  signal(SIGXFSZ, SIG_IGN); // beyond ulimit -f, write() then fails and the program goes on
  end_like_an_environment_failure();
  try {
    const int status = parse_and_run(argc, argv, true);
    if (!std::cout.flush()) input_error("cannot write standard output");
    return finish(status);
  } catch (const Error &failure) {
    return finish_with(failure.code, failure.what());
  } catch (const std::exception &failure) { // out of memory, no device, a failed kernel: an error of the environment
    return finish_with(exit_input, failure.what());
  }
}

Captured run_captured(const std::vector<std::string> &words) {
  std::vector<std::string> all{"recollect"};
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char *> argv;
  for (std::string &word : all) argv.push_back(word.data());
  argv.push_back(nullptr);
  const MemoryLimit limit;
  const Capture out(std::cout), err(std::cerr);
  const auto failed = [&](int status, const char *what) {
    return Captured{status, out.text(), err.text() + "recollect: " + one_line(what) + "\n"};
  };
  try {
    const int status = parse_and_run(int(all.size()), argv.data(), false);
    return {status, out.text(), err.text()};
  } catch (const Error &failure) {
    return failed(failure.code, failure.what());
  } catch (const std::exception &failure) {
    return failed(exit_input, failure.what());
  }
}

} // namespace recollect
