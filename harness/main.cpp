// SPDX-License-Identifier: Apache-2.0
#include "cli.hpp"

int main(int argc, char **argv) { return recollect::run_command_line(argc, argv); }
