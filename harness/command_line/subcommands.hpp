// SPDX-License-Identifier: Apache-2.0
// Each subcommand has an add_ function in a file NAME_command.cpp (some files have several). The function declares the
// flags and returns the function that runs the subcommand. Everything else (exit codes, errors, suggestions) is in
// cli.cpp.
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace recollect {

using Words = std::vector<std::string>;

/// Runs a subcommand after its flags were parsed. `command_line` is recorded in /meta of results files. Returns the
/// exit status.
using Action = std::function<int(const Words &command_line)>;

Action add_list(CLI::App &app);
Action add_plan(CLI::App &app);
Action add_run(CLI::App &app);
Action add_verify(CLI::App &app);
Action add_bench(CLI::App &app);
Action add_train(CLI::App &app);
Action add_forward(CLI::App &app);
Action add_sample(CLI::App &app);
Action add_check(CLI::App &app);
Action add_report(CLI::App &app);
Action add_explain(CLI::App &app);
Action add_diff(CLI::App &app);
Action add_merge(CLI::App &app);
Action add_crate(CLI::App &app);
Action add_info(CLI::App &app);
Action add_serve(CLI::App &app);
Action add_help(CLI::App &app);

std::string version();

} // namespace recollect
