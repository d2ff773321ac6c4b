// SPDX-License-Identifier: Apache-2.0
// Runs the built program as a user would, for tests of exit codes, messages and files.
#pragma once
#include "programs.hpp"
#include <array>
#include <cstdio>
#include <filesystem>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace recollect {

struct Outcome {
  int status = -1;
  std::string out, err;
};

/// A fresh folder, removed at the end of the scope.
class Folder {
public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "recollect-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string &name) const { return path_ + "/" + name; }

private:
  std::string path_;
};

inline std::string read_file(const std::string &path) {
  std::string text;
  if (FILE *file = std::fopen(path.c_str(), "rb")) {
    std::array<char, 4096> buffer;
    while (const size_t n = std::fread(buffer.data(), 1, buffer.size(), file)) text.append(buffer.data(), n);
    std::fclose(file);
  }
  return text;
}

/// `program` with `arguments` (shell syntax).
inline Outcome run_program(const std::string &arguments, const std::string &program = RECOLLECT_PROGRAM) {
  const Folder folder;
  const int raw = std::system(
      ("'" + program + "' " + arguments + " >'" + (folder / "out") + "' 2>'" + (folder / "err") + "'").c_str());
  return {WIFEXITED(raw) ? WEXITSTATUS(raw) : -1, read_file(folder / "out"), read_file(folder / "err")};
}

} // namespace recollect
