#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): theirs
class App;
}

/// The usage of a program as a value: the content of --help, from which the man page and the shell
/// completion are generated. No I/O, any thread.
namespace hostler::usage {

struct Option {
  std::string short_name;  ///< "-o"; may be empty.
  std::string name;        ///< "--output"
  std::string value;       ///< "FOLDER"; empty: a flag.
  std::string help;
};
struct Argument {
  std::string value;  ///< "JOB"
  std::string help;
  bool needed = false, many = false;
};
struct Command {
  std::string name;  ///< "hostler", "driver list"
  std::string help;  ///< First line of the description.
  std::string more;  ///< The rest of the description; may be empty.
  std::vector<Option> options;
  std::vector<Argument> arguments;
  std::vector<Command> below;
  bool needs_below = true;  ///< If there are commands below it: one of them must be given.
};

/// A section of --help and of the man page that is not about arguments.
struct Section {
  std::string title;                                       ///< "Exit status"
  std::vector<std::pair<std::string, std::string>> terms;  ///< {"0", "done"}
};

/// Sets the layout of --help. Call it before commands are added to `app`, because they copy the
/// layout.
void lay_out_help(CLI::App& app);

/// Reads the usage from CLI11, without hidden commands and options (those of the group "").
Command command_of(const CLI::App& app);

/// The sections as text for the end of --help.
std::string help_text(const std::vector<Section>& sections);

/// The man page in roff. `section` is the section of the manual, 1 or 8.
std::string man_page(const Command& program, int section, const std::string& version,
                     const std::vector<Section>& sections, const std::string& see_also);

/// How to complete a value. Keys are the names of values in --help, e.g. "FILE" or "JOB"; values
/// that are not listed here are not completed.
struct Completions {
  std::map<std::string, std::string> words;  ///< The allowed words: "on_demand spot".
  /// Arguments with which the program prints a table; its first column has the allowed words.
  std::map<std::string, std::vector<std::string>> asked;
  std::vector<std::string> files;    ///< Values that are files.
  std::vector<std::string> folders;  ///< Values that are folders.
};
/// A completion script for bash, to be sourced or installed for bash-completion.
std::string bash_completion(const Command& program, const Completions& completions);

}  // namespace hostler::usage
