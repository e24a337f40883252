#include "core/cli/command_line.h"

#include <string_view>
#include <utility>

#include "core/cli/gpus.h"
#include "core/model/vcpus.h"

namespace hostler::cli {
namespace {

constexpr const char* kEmptyValue = "its value must not be empty";

bool is_id(const std::string& kind, const std::string& text) {
  return text.starts_with(kind + "-") && text.size() > kind.size() + 1 &&
         text.find_first_not_of("0123456789", kind.size() + 1) == std::string::npos;
}

}  // namespace

CLI::App* add(CLI::App& app, Chosen& chosen, const char* name, const char* help, Run run) {
  CLI::App* command = app.add_subcommand(name, help);
  command->callback([&chosen, run = std::move(run)] {
    if (!chosen.with_daemon) chosen.with_daemon = run;
  });
  return command;
}

CLI::App* add_list(CLI::App& app, Arguments& a, Chosen& chosen, const char* name, const char* help,
                   int (*list)(Client&, bool)) {
  CLI::App* c =
      add(app, chosen, name, help, [&a, list](Client& client) { return list(client, a.json); });
  c->add_flag("--json", a.json, "Print JSON");
  return c;
}

void add_limit(CLI::App* command, int& limit) {
  command
      ->add_option("--limit", limit,
                   "Show at most N rows, up to 10000 (" + std::to_string(limit) + ")")
      ->type_name("N")
      ->check(within(1, 10000));
}

CLI::Validator one_of(std::vector<std::string> words) {
  return CLI::Validator(CLI::IsMember(std::move(words))).description("");
}

CLI::Validator within(int min, int max) {
  return CLI::Validator(CLI::Range(min, max)).description("");
}

CLI::Validator amount_of_vcpus() {
  const auto problem = [](const std::string& text) {
    const auto read = hostler::model::parse_vcpus(text);
    return read ? std::string() : read.error().message;
  };
  return {problem, ""};
}

CLI::Validator number_of_gpus() {
  const auto problem = [](const std::string& text) {
    const auto read = parse_gpus(text);
    return read ? std::string() : read.error().message;
  };
  return {problem, ""};
}

CLI::Validator positive() {
  const auto problem = [](const std::string& text) {
    const bool is_number = text.find_first_not_of("0123456789") == std::string::npos;
    const bool is_positive = is_number && text.find_first_not_of('0') != std::string::npos;
    return is_positive ? std::string() : "a number from 1 on is needed, not " + text;
  };
  return {problem, ""};
}

CLI::Validator id_of(const std::string& kind) {
  const auto problem = [kind](const std::string& text) {
    return is_id(kind, text) ? std::string() : "'" + text + "' is no id like " + kind + "-42";
  };
  return {problem, ""};
}

CLI::Validator work_id() {
  const auto problem = [](const std::string& text) {
    return is_id("j", text) || is_id("l", text) ? std::string()
                                                : "'" + text + "' is no id like j-42 or l-3";
  };
  return {problem, ""};
}

void refuse_empty_values(CLI::App& app) {
  const CLI::Validator filled(
      [](const std::string& text) { return std::string(text.empty() ? kEmptyValue : ""); }, "");
  for (CLI::Option* option : app.get_options())
    if (option->get_expected_min() > 0 && option->get_name() != "command") option->check(filled);
  for (CLI::App* command : app.get_subcommands(nullptr)) refuse_empty_values(*command);
}

void refuse_empty_values(int argc, const char* const* argv) {
  for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i) {
    const std::string_view word = argv[i];
    if (word.starts_with("--") && word.find('=') == word.size() - 1)
      throw CLI::ValidationError(std::string(word.substr(0, word.size() - 1)), kEmptyValue);
  }
}

CLI::Validator whole_number() {
  const auto problem = [](const std::string& text) {
    const bool good = !text.empty() && text.size() <= 18 &&
                      text.find_first_not_of("0123456789") == std::string::npos;
    return good ? std::string() : "a whole number of at most 18 digits is needed, not " + text;
  };
  return {problem, ""};
}

}  // namespace hostler::cli
