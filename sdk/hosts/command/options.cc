#include "sdk/hosts/command/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>

#include "sdk/hosts/system/failure.h"

namespace hostler::machines {
namespace {

constexpr const char* kFooter =
    "'hostler-hosts COMMAND --help' describes one command. list, info, create, destroy, console "
    "and\n"
    "end ask the keeper of --folder, else that of the file that HOSTLER_HOSTS names.";

void add_keeper_options(CLI::App& command, Options& options, bool is_root) {
  command.add_option("--port", options.keeper.port, "Of the machines' sshd")
      ->check(CLI::Range(is_root ? 1 : 1024, 65535));
  command.add_option("--max", options.keeper.machines_max, "At most so many machines at once")
      ->check(CLI::Range(1, kMachinesMax));
}

void add_run(CLI::App& app, Options& options, bool is_root) {
  CLI::App* const run = app.add_subcommand(
      "run", "Start a keeper, then the command after --; end all machines when it ends");
  options.network = is_root ? "bridge" : "loopback";
  run->add_option("--network", options.network, "bridge (root only) or loopback")
      ->check(is_root ? CLI::IsMember({"bridge", "loopback"}) : CLI::IsMember({"loopback"}));
  add_keeper_options(*run, options, is_root);
}

void add_serve(CLI::App& app, Options& options, bool is_root) {
  CLI::App* const serve = app.add_subcommand("serve", "Run a keeper until it is told to end");
  serve->add_option("--folder", options.folder, "For hosts.json, with its address")->required();
  serve->add_flag("--until-eof", options.until_eof, "End when standard input ends, too");
  add_keeper_options(*serve, options, is_root);
}

void add_create(CLI::App& app, Options& options) {
  CLI::App* const create = app.add_subcommand("create", "Make a machine and print its record");
  create->add_option("--key", options.key, "Makes the request safe to repeat")->required();
  create
      ->add_option("--authorized-keys", options.key_files, "Keys that may log in; repeat for more")
      ->allow_extra_args(false);
  create->add_option("--host-key", options.host_key_file, "A private key of OpenSSH");
  create->add_option("--user-data", options.user_data_file, "A script that begins with #!");
  create->add_option("--tag", options.tag_texts, "K=V; repeat for more")
      ->allow_extra_args(false)
      ->check([](const std::string& text) {
        return text.find('=') == std::string::npos ? "K=V is needed" : "";
      });
}

void add_asking(CLI::App& app, Options& options) {
  app.add_subcommand("list", "Print all machines");
  app.add_subcommand("info", "Print what the keeper is");
  app.add_subcommand("end", "End the keeper and all machines");
  for (const auto& [name, text] : {std::pair("destroy", "End a machine"),
                                   std::pair("console", "Print what a machine has printed")})
    app.add_subcommand(name, text)->add_option("id", options.id, "E.g. h-1")->required();
  add_create(app, options);
  for (const char* name : {"list", "info", "end", "destroy", "console", "create"})
    app.get_subcommand(name)->add_option("--folder", options.folder, "That of `serve`");
}

}  // namespace

Options read_options(std::vector<std::string> words, bool is_root) {
  Options options;
  const auto dashes = std::find(words.begin(), words.end(), "--");
  if (dashes != words.end()) options.program.assign(std::next(dashes), words.end());
  const bool has_dashes = dashes != words.end();
  words.erase(dashes, words.end());
  CLI::App app{"Makes machines for tests of cloud drivers.", "hostler-hosts"};
  app.require_subcommand(1)->footer(kFooter);
  app.add_subcommand("probe", "Print what is possible here");
  add_run(app, options, is_root);
  add_serve(app, options, is_root);
  add_asking(app, options);
  try {
    std::reverse(words.begin(), words.end());  // as CLI11 wants them
    app.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    const auto chosen = app.get_subcommands();
    options.help = chosen.empty() ? app.help() : chosen.front()->help();
    return options;
  } catch (const CLI::ParseError& error) {
    const auto unknown = app.remaining();
    const bool has_command = !app.get_subcommands().empty();
    throw Failure("usage", has_command || unknown.empty() ? error.what()
                                                          : "there is no command " + unknown[0]);
  }
  options.command = app.get_subcommands().front()->get_name();
  options.keeper.bridge = options.command == "run" && options.network == "bridge";
  if (has_dashes != (options.command == "run") || (has_dashes && options.program.empty()))
    throw Failure("usage", "run needs -- and a command, and no other command takes it");
  for (const std::string& text : options.tag_texts) {
    const auto equals = text.find('=');
    options.tags.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return options;
}

}  // namespace hostler::machines
