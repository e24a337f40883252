#include <CLI/CLI.hpp>

#include "core/usage/usage.h"

namespace hostler::usage {
namespace {

Option option_of(const CLI::Option& option) {
  Option out;
  if (!option.get_snames().empty()) out.short_name = "-" + option.get_snames().front();
  if (!option.get_lnames().empty()) out.name = "--" + option.get_lnames().front();
  if (option.get_items_expected_max() > 0) out.value = option.get_type_name();
  out.help = option.get_description();
  return out;
}

Argument argument_of(const CLI::Option& option) {
  return {.value = option.get_type_name(),
          .help = option.get_description(),
          .needed = option.get_required(),
          .many = option.get_items_expected_max() > 1};
}

Command read(const CLI::App& app, const std::string& name) {
  Command out;
  out.name = name;
  const std::string description = app.get_description();
  const std::size_t end = std::min(description.find("\n\n"), description.size());
  out.help = description.substr(0, end);
  if (end != description.size()) out.more = description.substr(end + 2);
  out.needs_below = app.get_require_subcommand_min() > 0;
  while (out.more.ends_with('\n')) out.more.pop_back();
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    if (option->get_positional())
      out.arguments.push_back(argument_of(*option));
    else
      out.options.push_back(option_of(*option));
  }
  for (const CLI::App* below : app.get_subcommands(nullptr)) {
    if (below->get_group().empty()) continue;
    const bool is_program = app.get_parent() == nullptr;
    out.below.push_back(
        read(*below, is_program ? below->get_name() : name + " " + below->get_name()));
  }
  return out;
}

/// Without the "Excludes: --a --b ..." that the formatter of CLI11 adds to options.
class HelpFormatter final : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_items_expected_max() == 0) return {};
    return " " + option->get_type_name() + (option->get_items_expected_max() > 1 ? " ..." : "");
  }
  std::string make_option_usage(const CLI::Option* argument) const override {
    const std::string value =
        argument->get_type_name() + (argument->get_items_expected_max() > 1 ? "..." : "");
    return argument->get_required() ? value : "[" + value + "]";
  }
};

}  // namespace

void lay_out_help(CLI::App& app) { app.formatter(std::make_shared<HelpFormatter>()); }

Command command_of(const CLI::App& app) { return read(app, app.get_name()); }

}  // namespace hostler::usage
