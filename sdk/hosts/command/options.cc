#include "sdk/hosts/command/options.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "sdk/hosts/system/failure.h"

namespace hostler::machines {

const char* const kUsage =
    "usage: hostler-hosts probe\n"
    "       hostler-hosts run [--network bridge|loopback] [--port N] [--max N] -- COMMAND...\n"
    "       hostler-hosts serve --folder F [--port N] [--max N] [--until-eof]\n"
    "       hostler-hosts create [--folder F] --key TEXT [--authorized-keys FILE]...\n"
    "                     [--host-key FILE] [--user-data FILE] [--tag K=V]...\n"
    "       hostler-hosts list|info|end [--folder F]\n"
    "       hostler-hosts destroy|console [--folder F] ID\n";

namespace {

[[noreturn]] void wrong_usage(const std::string& problem) { throw Failure("usage", problem); }

/// The options of each command.
const std::map<std::string, std::set<std::string>>& options_by_command() {
  static const std::map<std::string, std::set<std::string>> all = {
      {"probe", {}},
      {"run", {"--network", "--port", "--max"}},
      {"serve", {"--folder", "--port", "--max", "--until-eof"}},
      {"create", {"--folder", "--key", "--authorized-keys", "--host-key", "--user-data", "--tag"}},
      {"list", {"--folder"}},
      {"info", {"--folder"}},
      {"end", {"--folder"}},
      {"destroy", {"--folder"}},
      {"console", {"--folder"}}};
  return all;
}

int number_of(const std::string& name, const std::string& text, int min, int max) {
  int number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end || number < min || number > max)
    wrong_usage(name + " is `" + text + "`; needed: " + std::to_string(min) + " to " +
                std::to_string(max));
  return number;
}

void take(Options& options, const std::string& name, const std::string& value, bool is_root) {
  constexpr int kPortMax = 65535;
  if (name == "--network") {
    if (value != "bridge" && value != "loopback")
      wrong_usage("--network is `" + value + "`; needed: bridge or loopback");
    options.keeper.bridge = value == "bridge";
    if (options.keeper.bridge && !is_root)
      wrong_usage("--network bridge needs root; leave it out, or run as root");
  } else if (name == "--port") {
    options.keeper.port = number_of(name, value, is_root ? 1 : 1024, kPortMax);
  } else if (name == "--max") {
    options.keeper.machines_max = number_of(name, value, 1, kMachinesMax);
  } else if (name == "--folder") {
    options.folder = value;
  } else if (name == "--key") {
    options.key = value;
  } else if (name == "--authorized-keys") {
    options.key_files.push_back(value);
  } else if (name == "--host-key") {
    options.host_key_file = value;
  } else if (name == "--user-data") {
    options.user_data_file = value;
  } else {
    const auto equals = value.find('=');
    if (equals == std::string::npos) wrong_usage("--tag needs K=V");
    options.tags.emplace_back(value.substr(0, equals), value.substr(equals + 1));
  }
}

void check_complete(const Options& options) {
  const bool needs_id = options.command == "destroy" || options.command == "console";
  if (needs_id && options.id.empty()) wrong_usage(options.command + " needs the id of a machine");
  if (options.command == "run" && options.program.empty())
    wrong_usage("run needs -- and a command");
  if (options.command == "serve" && options.folder.empty()) wrong_usage("serve needs --folder");
  if (options.command == "create" && options.key.empty()) wrong_usage("create needs --key");
}

}  // namespace

Options read_options(const std::vector<std::string>& words, bool is_root) {
  Options options;
  if (words.empty()) wrong_usage("a command is missing");
  options.command = words[0];
  const auto known = options_by_command().find(options.command);
  if (known == options_by_command().end()) wrong_usage("`" + options.command + "` is unknown");
  options.keeper.bridge = options.command == "run" && is_root;
  const bool takes_id = options.command == "destroy" || options.command == "console";
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--" && options.command == "run") {
      options.program.assign(words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words.end());
      break;
    }
    if (takes_id && options.id.empty() && word.compare(0, 1, "-") != 0) {
      options.id = word;
      continue;
    }
    if (known->second.count(word) == 0)
      wrong_usage("`" + word + "` is no option of " + options.command);
    if (word == "--until-eof") {
      options.until_eof = true;
      continue;
    }
    if (i + 1 == words.size()) wrong_usage(word + " needs a value");
    take(options, word, words[++i], is_root);
  }
  check_complete(options);
  return options;
}

}  // namespace hostler::machines
