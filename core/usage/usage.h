#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): theirs
class App;
}

/// How a program is used, as a value: what --help says, made into a man page and into completion
/// for shells. No I/O, any thread.
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
  std::string help;  ///< Its first line.
  std::string more;  ///< What follows it; may be empty.
  std::vector<Option> options;
  std::vector<Argument> arguments;
  std::vector<Command> below;
};

/// What is to be known beside the arguments, in --help and in the man page.
struct Section {
  std::string title;                                       ///< "Exit status"
  std::vector<std::pair<std::string, std::string>> terms;  ///< {"0", "done"}
};

/// How --help is laid out. Before commands are added below it, which take it over.
void lay_out_help(CLI::App& app);

/// What CLI11 was told, but for what is hidden (of the group "").
Command command_of(const CLI::App& app);

/// For the end of --help.
std::string help_text(const std::vector<Section>& sections);

/// In roff, for `man`. `section` is the manual's: 1 or 8.
std::string man_page(const Command& program, int section, const std::string& version,
                     const std::vector<Section>& sections, const std::string& see_also);

/// How values are completed, by their names: "FILE", "JOB". Others are not.
struct Completions {
  std::map<std::string, std::string> words;  ///< "on_demand spot"
  /// What lists them: the program's own arguments, for a table with the words in its first column.
  std::map<std::string, std::vector<std::string>> asked;
  std::vector<std::string> files;    ///< Values that are files.
  std::vector<std::string> folders;  ///< Values that are folders.
};
/// For bash: to be sourced, or kept where bash-completion looks.
std::string bash_completion(const Command& program, const Completions& completions);

}  // namespace hostler::usage
