// SPDX-License-Identifier: Apache-2.0
#include "harness/command_line/flags.hpp"
#include "harness/command_line/subcommands.hpp"
#include <iostream>

namespace recollect {

Action add_help(CLI::App &app) {
  const auto name = std::make_shared<std::string>();
  CLI::App &c = *app.add_subcommand("help", "print the commands, or the options of one command with an example");
  c.add_option("command", *name, "the name of a command");
  example(c, "recollect help run");
  return [name, &app](const Words &) {
    std::vector<std::string> known;
    for (const CLI::App *command : app.get_subcommands([](const CLI::App *) { return true; }))
      known.push_back(command->get_name());
    if (!name->empty() && std::find(known.begin(), known.end(), *name) == known.end())
      usage_error("unknown command '" + *name + "'" + suggestion(*name, known));
    const CLI::App *const about = name->empty() ? &app : app.get_subcommand(*name);
    std::cout << app.get_formatter()->make_help(about, name->empty() ? "recollect" : "recollect " + *name,
                                                CLI::AppFormatMode::Normal);
    return int(exit_ok);
  };
}

} // namespace recollect
