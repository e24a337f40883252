#include <signal.h>

#include <cstdio>
#include <exception>

#include "core/cli/command_line.h"
#include "core/cli/manual.h"

/// Parses the arguments of `hostler`. The other files implement the commands.
namespace {

using namespace hostler::cli;
namespace usage = hostler::usage;

void add_site_commands(CLI::App& app, Arguments& a, Chosen& chosen) {
  CLI::App* config =
      app.add_subcommand("config", "Check a configuration, or compare it with that in use")
          ->require_subcommand(1);
  CLI::App* c = config->add_subcommand("check", "List all errors in a configuration");
  c->add_option("file", a.file, "The file")->type_name("FILE")->required();
  c->add_flag("--json", a.json, "Print JSON");
  c->callback(
      [&a, &chosen] { chosen.without_daemon = [&a] { return config_check(a.file, a.json); }; });
  c = add(*config, chosen, "diff", "Show what a reload of a configuration would change",
          [&a](Client& client) { return config_diff(client, a.file, a.json); });
  c->add_option("file", a.file, "The file")->type_name("FILE")->required();
  c->add_flag("--json", a.json, "Print JSON");
  c = add(app, chosen, "backup", "Copy the daemon's state to a new folder, while it runs",
          [&a](Client& client) { return backup(client, a.folder); });
  c->add_option("folder", a.folder, "The folder to make; it holds secrets")
      ->type_name("FOLDER")
      ->required();
  add(app, chosen, "dump", "Print the daemon's state as JSON, to look for a defect", dump);
  c = app.add_subcommand("demo", "Run a complete example on this machine");
  c->callback([&chosen] { chosen.without_daemon = demo; });
}

/// The commands that print the completion script and the man page.
void add_own_commands(CLI::App& app, Arguments& a, Chosen& chosen) {
  CLI::App* c =
      app.add_subcommand("completion", "Print a shell script that completes these commands");
  c->add_option("shell", a.shell, "The shell: bash")
      ->type_name("SHELL")
      ->required()
      ->check(CLI::Validator(
          [](std::string& shell) {
            return shell == "bash" ? "" : "'" + shell + "' is not supported; use bash";
          },
          ""));
  c->callback([&app, &chosen] {
    chosen.without_daemon = [&app] {
      std::fputs(usage::bash_completion(usage::command_of(app), completions()).c_str(), stdout);
      return exit_code::kOk;
    };
  });
  c = app.add_subcommand("man", "Print the manual page; view it with man -l -")->group("");
  c->callback([&app, &chosen] {
    chosen.without_daemon = [&app] {
      const auto page = usage::man_page(usage::command_of(app), 1, HOSTLER_VERSION, sections(),
                                        ".BR hostlerd (8)");
      std::fputs(page.c_str(), stdout);
      return exit_code::kOk;
    };
  });
}

/// The innermost command that was parsed. Appends its words to `name`: "hostler driver".
const CLI::App& deepest(const CLI::App& app, std::string& name) {
  const auto chosen = app.get_subcommands();
  if (chosen.empty()) return app;
  name += " " + chosen.front()->get_name();
  return deepest(*chosen.front(), name);
}

/// Prints what is wrong with the arguments and which --help describes them.
int refuse(const CLI::App& app, const CLI::ParseError& error) {
  std::string name = "hostler";
  const CLI::App& command = deepest(app, name);
  std::string what = error.what();
  const bool lacks_command = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr &&
                             !command.get_subcommands(nullptr).empty();
  const auto unknown = app.remaining(true);
  if (lacks_command && unknown.empty()) what = "a command is needed";
  if (lacks_command && !unknown.empty()) what = "there is no command '" + unknown[0] + "'";
  if (name == "hostler submit" && !unknown.empty())
    what += " (put -- before a command that has options)";
  std::fprintf(stderr, "%s: %s; see %s --help\n", name.c_str(), what.c_str(), name.c_str());
  return exit_code::kUsage;
}

int run(int argc, char** argv) {
  ::signal(SIGPIPE, SIG_DFL);
  CLI::App app{kDescription, "hostler"};
  usage::lay_out_help(app);
  Arguments a;
  Chosen chosen;
  app.require_subcommand(1);
  app.set_help_flag("-h,--help", "Print this help");
  app.set_version_flag("--version", std::string("hostler ") + HOSTLER_VERSION, "Print the version");
  app.add_option("--url", a.url,
                 "Address of the daemon: unix:///path, http://host:port (HOSTLER_URL)")
      ->type_name("URL");
  app.add_option("--token-file", a.token_file, "File with the token (HOSTLER_TOKEN_FILE)")
      ->type_name("FILE");
  app.add_option("--ca-file", a.ca_file,
                 "File with the PEM certificates of trusted CAs, for https (HOSTLER_CA_FILE)")
      ->type_name("FILE");
  app.fallthrough();
  add_job_commands(app, a, chosen);
  add_lease_commands(app, a, chosen);
  add_work_commands(app, a, chosen);
  add_fleet_commands(app, a, chosen);
  add_planning_commands(app, a, chosen);
  add_driver_commands(app, a, chosen);
  add_site_commands(app, a, chosen);
  add_own_commands(app, a, chosen);
  refuse_empty_values(app);
  // Set last, because commands that are added later would inherit the footer.
  app.footer("'hostler COMMAND --help' describes one command.\n\n" + usage::help_text(sections()));
  try {
    refuse_empty_values(argc, argv);
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    return refuse(app, error);
  }
  if (chosen.without_daemon) return chosen.without_daemon();
  auto endpoint = Endpoint::find(a.url, a.token_file, a.ca_file);
  if (!endpoint) return complain(endpoint.error());
  Client client(std::move(*endpoint));
  return chosen.with_daemon(client);
}

/// The status, or a failure if what the command has printed could not be written.
int written(int status) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  warn("standard output could not be written");
  return status == exit_code::kOk ? exit_code::kFailed : status;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return written(run(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hostler: %s\n", error.what());
    return exit_code::kFailed;
  }
}
