#include <algorithm>

#include "core/usage/usage.h"

namespace hostler::usage {
namespace {

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? char(c - 32) : c; });
  return text;
}

/// Escapes text for roff: a leading . or ' would be a command, and a bare - may become a hyphen.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool at_start = out.empty() || out.back() == '\n';
    if (at_start && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out;
}

std::string bold(const std::string& text) { return "\\fB" + plain(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + plain(text) + "\\fR"; }

/// Text with paragraphs that are separated by empty lines.
std::string paragraphs(const std::string& text) {
  std::string out = plain(text);
  for (std::size_t at = 0; (at = out.find("\n\n", at)) != std::string::npos;)
    out.replace(at, 2, "\n.PP\n");
  return out + "\n";
}

std::string term(const std::string& name, const std::string& text) {
  return ".TP\n" + name + "\n" + plain(text) + "\n";
}

std::string synopsis(const std::string& program, const Command& command, bool is_program) {
  std::string out = bold(is_program ? program : program + " " + command.name);
  if (!command.options.empty()) out += " [" + italic("OPTION") + "...]";
  for (const Argument& argument : command.arguments) {
    const std::string one = italic(argument.value) + (argument.many ? "..." : "");
    out += argument.needed ? " " + one : " [" + one + "]";
  }
  if (!command.below.empty() && command.needs_below) out += " " + italic("COMMAND") + " ...";
  return out + "\n";
}

std::string options(const Command& command) {
  std::string out;
  for (const Argument& argument : command.arguments)
    out += term(italic(argument.value), argument.help);
  for (const Option& option : command.options) {
    std::string name = bold(option.name);
    if (!option.short_name.empty()) name = bold(option.short_name) + ", " + name;
    if (!option.value.empty()) name += " " + italic(option.value);
    out += term(name, option.help);
  }
  return out;
}

/// Writes all commands that can be given without a subcommand.
void write_commands(const std::string& program, const Command& command, std::string& out) {
  for (const Command& one : command.below) {
    if (one.below.empty() || !one.needs_below)
      out += ".SS " + one.name + "\n" + synopsis(program, one, false) + ".PP\n" + plain(one.help) +
             ".\n" + options(one);
    write_commands(program, one, out);
  }
}

}  // namespace

std::string man_page(const Command& program, int section, const std::string& version,
                     const std::vector<Section>& sections, const std::string& see_also) {
  std::string out = ".TH " + upper(program.name) + " " + std::to_string(section) + " \"\" \"" +
                    program.name + " " + version + "\" \"hostler's manual\"\n";
  out += ".SH NAME\n" + program.name + " \\- " + plain(program.help) + "\n";
  out += ".SH SYNOPSIS\n" + synopsis(program.name, program, true);
  if (!program.more.empty()) out += ".SH DESCRIPTION\n" + paragraphs(program.more);
  out += ".SH OPTIONS\n" + options(program);
  if (!program.below.empty()) out += ".SH COMMANDS\n";
  write_commands(program.name, program, out);
  for (const Section& one : sections) {
    out += ".SH " + upper(one.title) + "\n";
    for (const auto& [name, text] : one.terms) out += term(bold(name), text);
  }
  return out + ".SH SEE ALSO\n" + see_also + "\n";
}

}  // namespace hostler::usage
