#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sdk/hosts/keeper/keeper.h"

namespace hostler::machines {

/// A command line of hostler-hosts, checked.
struct Options {
  std::string command;
  KeeperSettings keeper;
  std::string folder;  ///< Empty: not given.
  bool until_eof = false;
  std::vector<std::string> program;  ///< Of `run`.
  std::string id;
  std::string key, host_key_file, user_data_file;
  std::vector<std::string> key_files;
  std::vector<std::pair<std::string, std::string>> tags;
};

/// Throws a Failure `usage` that says what is wrong.
Options read_options(const std::vector<std::string>& words, bool is_root);

extern const char* const kUsage;

}  // namespace hostler::machines
