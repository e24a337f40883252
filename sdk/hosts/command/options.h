#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sdk/hosts/keeper/keeper.h"

namespace hostler::machines {

/// A command line of hostler-hosts, checked.
struct Options {
  std::string help;     ///< To be printed, and nothing else done; empty: there was no --help.
  std::string command;  ///< "run"
  KeeperSettings keeper;
  std::string folder;  ///< Empty: not given.
  bool until_eof = false;
  std::vector<std::string> program;  ///< Of `run`.
  std::string id;
  std::string key, host_key_file, user_data_file;
  std::string network;
  std::vector<std::string> key_files, tag_texts;
  std::vector<std::pair<std::string, std::string>> tags;
};

/// Throws a Failure `usage` that says what is wrong.
Options read_options(std::vector<std::string> words, bool is_root);

}  // namespace hostler::machines
