#include <algorithm>

#include "core/usage/usage.h"

/// Generates a complete script that needs no library of bash and contains every command and option.
namespace hostler::usage {
namespace {

// compgen -W expands its words like the shell. So only plain words of the daemon's answer are used.
constexpr const char* kHead = R"(# bash completion for PROGRAM, printed by: PROGRAM completion bash
# Words from the daemon: if it does not answer within a second, there are none.
_PROGRAM_list() {
  timeout 1 "${COMP_WORDS[0]}" "${own[@]}" "$@" 2>/dev/null | sed -n '2,$s/^\([A-Za-z0-9_.-]*\) .*/\1/p'
}
_PROGRAM_files() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen "$1" -- "$word")
}
_PROGRAM() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command= words= i
  local -a own=() line=()
  COMPREPLY=()
  if [ "$before" = = ]; then before=${COMP_WORDS[COMP_CWORD - 2]}; fi
  if [ "$word" = = ]; then before=${COMP_WORDS[COMP_CWORD - 1]} word=; fi
  read -ra line <<<"$COMP_LINE"  # COMP_WORDS has URLs in pieces
  for ((i = 1; i < ${#line[@]}; ++i)); do
    case ${line[i]} in
OWN_OPTIONS    esac
  done
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "$command ${COMP_WORDS[i]}" in
      *" --") compopt -o bashdefault -o default 2>/dev/null; return ;;
)";
constexpr const char* kTail = R"(  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -F _PROGRAM PROGRAM
)";

std::string replaced(std::string text, std::string_view old, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(old, at)) != std::string::npos; at += by.size())
    text.replace(at, old.size(), by);
  return text;
}

/// "list" of "driver list".
std::string last_word(const std::string& name) { return name.substr(name.rfind(' ') + 1); }

class Script {
 public:
  Script(const Command& program, const Completions& completions)
      : program_(program), completions_(completions) {}

  std::string text() {
    out_ = replaced(kHead, "OWN_OPTIONS", own_options());
    commands(program_);
    out_ += "    esac\n  done\n  case \"$command $before\" in\n";
    values(program_, true);
    for (const auto& [action, patterns] : cases_) one_case("    ", patterns, action);
    out_ += "    *) case \"$word $command\" in\n";
    option_names(program_, true);
    arguments(program_, true);
    out_ += "    esac ;;\n";
    return replaced(out_ + kTail, "PROGRAM", program_.name);
  }

 private:
  void one_case(const char* indent, const std::string& patterns, const std::string& action) {
    out_ += indent + patterns + ") " + action + " ;;\n";
  }

  /// The options of the program itself name the daemon: queries for words must use the same
  /// options.
  [[nodiscard]] std::string own_options() const {
    std::string apart, joined;
    for (const Option& option : program_.options) {
      if (option.value.empty()) continue;
      apart += (apart.empty() ? "      " : "|") + option.name;
      joined += (joined.empty() ? "      " : "|") + option.name + "=*";
    }
    if (apart.empty()) return "";
    return apart + ") own+=(\"${line[i]}\" \"${line[i + 1]}\") ;;\n" + joined +
           ") own+=(\"${line[i]}\") ;;\n";
  }

  void commands(const Command& command) {
    for (const Command& below : command.below) {
      const bool is_first = below.name.find(' ') == std::string::npos;
      one_case("      ", "\"" + (is_first ? " " : std::string()) + below.name + "\"",
               "command=\"" + below.name + "\"");
      commands(below);
    }
  }

  /// The shell code that completes a value of this name.
  [[nodiscard]] std::string action(const std::string& value) const {
    const auto is_in = [&](const std::vector<std::string>& list) {
      return std::ranges::find(list, value) != list.end();
    };
    if (is_in(completions_.files)) return "_PROGRAM_files -f; return";
    if (is_in(completions_.folders)) return "_PROGRAM_files -d; return";
    std::string words;
    if (const auto found = completions_.words.find(value); found != completions_.words.end())
      words = found->second;
    if (const auto found = completions_.asked.find(value); found != completions_.asked.end())
      for (const auto& question : found->second)
        words += (words.empty() ? "$(_PROGRAM_list " : " $(_PROGRAM_list ") + question + ")";
    return words.empty() ? "return" : "words=\"" + words + "\"";
  }

  /// Groups the options that take a value by the code that completes the value.
  void values(const Command& command, bool is_program) {
    for (const Option& option : command.options) {
      if (option.value.empty()) continue;
      // Options of the program itself are allowed with every command.
      const std::string before = is_program ? "*\" " : "\"" + command.name + " ";
      std::string patterns = before + option.name + "\"";
      if (!option.short_name.empty()) patterns += "|" + before + option.short_name + "\"";
      const auto same = std::ranges::find(cases_, action(option.value),
                                          &std::pair<std::string, std::string>::first);
      if (same == cases_.end())
        cases_.emplace_back(action(option.value), patterns);
      else
        same->second += "|" + patterns;
    }
    for (const Command& below : command.below) values(below, false);
  }

  void option_names(const Command& command, bool is_program) {
    std::string names;
    for (const Option& option : command.options) names += " " + option.name;
    if (!is_program)
      for (const Option& option : program_.options)
        if (!option.value.empty()) names += " " + option.name;
    one_case("      ", "-*\" " + (is_program ? std::string() : command.name) + "\"",
             "words=\"" + names.substr(std::min<std::size_t>(1, names.size())) + "\"");
    for (const Command& below : command.below) option_names(below, false);
  }

  void arguments(const Command& command, bool is_program) {
    const std::string pattern = "*\" " + (is_program ? std::string() : command.name) + "\"";
    std::string names;
    for (const Command& below : command.below)
      names += (names.empty() ? "" : " ") + last_word(below.name);
    if (!names.empty())
      one_case("      ", pattern, "words=\"" + names + "\"");
    else if (!command.arguments.empty())
      one_case("      ", pattern, action(command.arguments.front().value));
    for (const Command& below : command.below) arguments(below, false);
  }

  const Command& program_;
  const Completions& completions_;
  std::vector<std::pair<std::string, std::string>> cases_;  ///< Action and its patterns.
  std::string out_;
};

}  // namespace

std::string bash_completion(const Command& program, const Completions& completions) {
  return Script(program, completions).text();
}

}  // namespace hostler::usage
