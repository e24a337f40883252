#include <signal.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <functional>

#include "core/cli/commands.h"
#include "core/cli/manual.h"

/// The arguments of `hostler`. What the commands do is in the other files.
namespace {

using namespace hostler::cli;
namespace usage = hostler::usage;

struct Arguments {
  std::string url, token_file, ca_file;
  SubmitOptions submit;
  JobsOptions jobs;
  PriceOptions prices;
  CostOptions cost;
  std::vector<std::string> ids, folders;
  std::string id, folder = ".", subject, reason, file, shell;
  bool json = false, standard_error = false, follow = false;
  std::uint64_t after = 0;
};

using Run = std::function<int(Client&)>;

/// These say nothing of themselves in --help: the option's text does.
CLI::Validator one_of(std::vector<std::string> words) {
  return CLI::Validator(CLI::IsMember(std::move(words))).description("");
}

CLI::Validator within(int min, int max) {
  return CLI::Validator(CLI::Range(min, max)).description("");
}

void add_limit(CLI::App* command, int& limit) {
  command
      ->add_option("--limit", limit, "At most so many, up to 10000 (" + std::to_string(limit) + ")")
      ->type_name("N")
      ->check(within(1, 10000));
}

/// What is to be run once the arguments are read: with a daemon, or without.
struct Chosen {
  Run with_daemon;
  std::function<int()> alone;
};

CLI::App* add(CLI::App& app, Chosen& chosen, const char* name, const char* help, Run run) {
  CLI::App* command = app.add_subcommand(name, help);
  command->callback([&chosen, run = std::move(run)] { chosen.with_daemon = run; });
  return command;
}

void add_submit(CLI::App& app, Arguments& a, Chosen& chosen) {
  SubmitOptions& o = a.submit;
  CLI::App* c =
      add(app, chosen, "submit", "Queue a job; a command with options of its own goes behind --",
          [&a](Client& client) { return submit(client, a.submit); });
  c->add_option("command", o.command, "The command and its arguments")->type_name("COMMAND");
  c->add_option("--script", o.script, "A file that /bin/sh runs instead; - for standard input")
      ->type_name("FILE");
  CLI::Option* file =
      c->add_option("--file", o.file,
                    "Jobs, one JSON object a line; - for standard input; without options that tell "
                    "of a job")
          ->type_name("FILE");
  c->add_option("--name", o.name, "A name for people")->type_name("NAME");
  c->add_option("--vcpus", o.vcpus, "Needs so many vcpus (1)")
      ->type_name("N")
      ->check(within(1, 1 << 20));
  c->add_option("--ram", o.ram, "Needs so much memory, e.g. 512MiB (1GiB)")->type_name("SIZE");
  c->add_option("--scratch", o.scratch, "Needs so much disk, e.g. 10GiB")->type_name("SIZE");
  c->add_option("--gpus", o.gpus, "Needs so many gpus (0)")
      ->type_name("N")
      ->check(within(0, 1 << 20));
  c->add_option("--priority", o.priority, "Higher goes first, -1000000 to 1000000 (0)")
      ->type_name("N")
      ->check(within(-1'000'000, 1'000'000));
  c->add_option("--time-limit", o.time_limit, "E.g. 30m; TERM, then KILL")->type_name("DURATION");
  c->add_option("--env", o.env, "NAME=VALUE, again for more")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  c->add_option("--stdin", o.stdin_file, "A file for its standard input; - for ours")
      ->type_name("FILE");
  c->add_option("--input", o.inputs, "PATH[=FILE]: put a local file there, again for more")
      ->type_name("PATH[=FILE]")
      ->allow_extra_args(false);
  c->add_option("--output", o.outputs, "A pattern of files to bring back, again for more")
      ->type_name("PATTERN")
      ->allow_extra_args(false);
  c->add_option("--type", o.type, "Only these instance types, a,b")->type_name("A,B");
  c->add_option("--market", o.market, "Only this market, on_demand or spot")->type_name("MARKET");
  c->add_option("--zone", o.zone, "Only this zone")->type_name("ZONE");
  c->add_flag("--restartable", o.restartable, "May be started again when its host is lost");
  c->add_option("--attempts-max", o.attempts_max, "Started so often at most, up to 1000 (3)")
      ->type_name("N")
      ->check(within(1, 1000));
  c->add_option("--client-key", o.client_key, "The same key makes no second job")->type_name("KEY");
  c->add_option("--array", o.array, "So many of it, up to 100000, with HOSTLER_ARRAY_INDEX from 0")
      ->type_name("N")
      ->check(within(1, 100000));
  // All that describes a job is in the file's lines.
  for (CLI::Option* option : c->get_options())
    if (option != file && option != c->get_help_ptr() && option->get_name() != "command" &&
        option->get_name() != "--script")
      file->excludes(option);
  c->add_flag("--wait", o.wait, "Show its progress and output, exit with its status");
  c->add_flag("--json", o.json, "Print the answer as JSON");
}

void add_job_commands(CLI::App& app, Arguments& a, Chosen& chosen) {
  CLI::App* c = add(app, chosen, "jobs", "List jobs, newest first",
                    [&a](Client& client) { return jobs(client, a.jobs); });
  c->add_option("--state", a.jobs.state, "Only these, e.g. queued,running")->type_name("STATE");
  c->add_option("--name", a.jobs.name, "Only jobs of this name")->type_name("NAME");
  c->add_option("--principal", a.jobs.principal, "Only jobs of this submitter")->type_name("NAME");
  add_limit(c, a.jobs.limit);
  c->add_flag("--json", a.jobs.json, "As JSON");
  c = add(app, chosen, "job", "Show one job",
          [&a](Client& client) { return job(client, a.id, a.json); });
  c->add_option("id", a.id, "E.g. j-42")->type_name("JOB")->required();
  c->add_flag("--json", a.json, "As JSON");
  c = add(app, chosen, "wait", "Wait until jobs have ended",
          [&a](Client& client) { return wait_all(client, a.ids, a.json); });
  c->add_option("ids", a.ids, "E.g. j-42 j-43")->type_name("JOB")->required();
  c->add_flag("--json", a.json, "Print the jobs as they ended, as JSON");
  c = add(app, chosen, "logs", "Print a job's output",
          [&a](Client& client) { return logs(client, a.id, a.standard_error, a.follow); });
  c->add_option("id", a.id, "E.g. j-42")->type_name("JOB")->required();
  c->add_flag("--stderr", a.standard_error, "Its standard error");
  c->add_flag("--follow", a.follow, "Until it has ended");
  c = add(app, chosen, "fetch", "Bring a job's output files here",
          [&a](Client& client) { return fetch(client, a.id, a.folder); });
  c->add_option("id", a.id, "E.g. j-42")->type_name("JOB")->required();
  c->add_option("-o,--output", a.folder, "Into this folder (.)")->type_name("FOLDER");
  c = add(app, chosen, "cancel", "Cancel jobs",
          [&a](Client& client) { return cancel(client, a.ids); });
  c->add_option("ids", a.ids, "E.g. j-42 j-43")->type_name("JOB")->required();
}

void add_fleet_commands(CLI::App& app, Arguments& a, Chosen& chosen) {
  CLI::App* c = add(app, chosen, "instances", "List instances",
                    [&a](Client& client) { return instances(client, a.json); });
  c->add_flag("--json", a.json, "As JSON");
  const std::vector<std::pair<std::string, const char*>> actions{
      {"hold", "Keep instances, and give them no work"},
      {"drain", "Give instances no new work, and end them when they are empty"},
      {"run", "Use instances as the policy says again"},
      {"kill", "End instances now, whatever runs on them"}};
  for (const auto& [action, help] : actions) {
    c = add(app, chosen, action.c_str(), help, [&a, action = action](Client& client) {
      return act_on_instances(client, action, a.ids, a.reason);
    });
    c->add_option("ids", a.ids, "E.g. h-7 h-8")->type_name("INSTANCE")->required();
    if (action == "kill") c->add_option("--reason", a.reason, "For the ledger")->type_name("TEXT");
  }
  c = add(app, chosen, "pools", "List pools",
          [&a](Client& client) { return pools(client, a.json); });
  c->add_flag("--json", a.json, "As JSON");
  c = add(app, chosen, "sets", "List instance sets, and whether their clouds let us in",
          [&a](Client& client) { return sets(client, a.json); });
  c->add_flag("--json", a.json, "As JSON");
  c = add(app, chosen, "gates", "List gates that are shut: what clouds refused, and until when",
          [&a](Client& client) { return gates(client, a.json); });
  c->add_flag("--json", a.json, "As JSON");
  c = add(app, chosen, "prices", "Show what clouds say that types cost, and from when on",
          [&a](Client& client) { return prices(client, a.prices); });
  c->add_option("--set", a.prices.set, "Only of this instance set")->type_name("SET");
  c->add_option("--type", a.prices.type, "Only of this instance type")->type_name("TYPE");
  add_limit(c, a.prices.limit);
  c->add_flag("--json", a.prices.json, "As JSON");
  c = add(app, chosen, "cost", "Show what was spent, dearest first",
          [&a](Client& client) { return cost(client, a.cost); });
  c->add_option("--by", a.cost.by, "By user, job, instance, type, pool or set (user)")
      ->type_name("WHAT")
      ->check(one_of({"user", "job", "instance", "type", "pool", "set"}));
  c->add_option("--since", a.cost.since, "From then on, 2026-11-21 or 2026-11-21T10:00:00Z")
      ->type_name("TIME");
  c->add_option("--until", a.cost.until, "Up to then (now)")->type_name("TIME");
  add_limit(c, a.cost.limit);
  c->add_flag("--json", a.cost.json, "As JSON");
  c = add(app, chosen, "why", "Say why something is as it is",
          [&a](Client& client) { return why(client, a.subject, a.json); });
  c->add_option("subject", a.subject,
                "j-42, h-7, \"pool NAME\", \"set NAME\", \"gate KEY\" or site")
      ->type_name("SUBJECT")
      ->required();
  c->add_flag("--json", a.json, "As JSON");
  c = add(app, chosen, "events", "Follow what happens, a JSON record a line",
          [&a](Client& client) { return events(client, a.after); });
  c->add_option("--after", a.after, "Only what came after this revision")->type_name("REV");
}

void add_site_commands(CLI::App& app, Arguments& a, Chosen& chosen) {
  CLI::App* config = app.add_subcommand("config", "The configuration")->require_subcommand(1);
  CLI::App* c = config->add_subcommand("check", "Name all that is wrong with a configuration");
  c->add_option("file", a.file, "The file")->type_name("FILE")->required();
  c->add_flag("--json", a.json, "As JSON");
  c->callback([&a, &chosen] { chosen.alone = [&a] { return config_check(a.file, a.json); }; });
  CLI::App* driver = app.add_subcommand("driver", "Cloud drivers")->require_subcommand(1);
  c = driver->add_subcommand("list", "Where drivers were looked for, and what was found");
  c->add_option("--driver-path", a.folders, "Look in this folder too, again for more")
      ->type_name("FOLDER")
      ->allow_extra_args(false);
  c->add_flag("--json", a.json, "As JSON");
  c->callback([&a, &chosen] { chosen.alone = [&a] { return driver_list(a.folders, a.json); }; });
  c = driver->add_subcommand("manifest", "Print the manifest of a driver");
  c->add_option("library", a.file, "The driver's .so")->type_name("FILE")->required();
  c->callback([&a, &chosen] { chosen.alone = [&a] { return driver_manifest(a.file); }; });
  c = app.add_subcommand("demo", "Run hostler's main job on this machine, start to end");
  c->callback([&chosen] { chosen.alone = demo; });
}

/// What the program says of itself, from the same words as --help.
void add_own_commands(CLI::App& app, Arguments& a, Chosen& chosen) {
  CLI::App* c = app.add_subcommand("completion", "Print a script that completes these commands");
  c->add_option("shell", a.shell, "For this shell: bash")
      ->type_name("SHELL")
      ->required()
      ->check(CLI::Validator(
          [](std::string& shell) {
            return shell == "bash" ? "" : "there is none for '" + shell + "', only for bash";
          },
          ""));
  c->callback([&app, &chosen] {
    chosen.alone = [&app] {
      std::fputs(usage::bash_completion(usage::command_of(app), completions()).c_str(), stdout);
      return exit_code::kOk;
    };
  });
  c = app.add_subcommand("man", "Print the manual page, for man -l -")->group("");
  c->callback([&app, &chosen] {
    chosen.alone = [&app] {
      const auto page = usage::man_page(usage::command_of(app), 1, HOSTLER_VERSION, sections(),
                                        ".BR hostlerd (8)");
      std::fputs(page.c_str(), stdout);
      return exit_code::kOk;
    };
  });
}

/// The command that the arguments have got to: "hostler driver".
const CLI::App& deepest(const CLI::App& app, std::string& name) {
  const auto chosen = app.get_subcommands();
  if (chosen.empty()) return app;
  name += " " + chosen.front()->get_name();
  return deepest(*chosen.front(), name);
}

/// Says what is wrong with the arguments, and who knows better.
int refuse(const CLI::App& app, const CLI::ParseError& error) {
  std::string name = "hostler";
  const CLI::App& command = deepest(app, name);
  std::string what = error.what();
  const bool lacks_command = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr &&
                             !command.get_subcommands(nullptr).empty();
  const auto strangers = app.remaining(true);
  if (lacks_command && strangers.empty()) what = "a command is needed";
  if (lacks_command && !strangers.empty()) what = "there is no command '" + strangers[0] + "'";
  if (name == "hostler submit" && !app.remaining(true).empty())
    what += " (a command with options of its own goes behind --)";
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
  app.set_help_flag("-h,--help", "Print this");
  app.set_version_flag("--version", std::string("hostler ") + HOSTLER_VERSION, "Print the version");
  app.add_option("--url", a.url, "The daemon: unix:///path, http://host:port (HOSTLER_URL)")
      ->type_name("URL");
  app.add_option("--token-file", a.token_file, "A file with the token (HOSTLER_TOKEN_FILE)")
      ->type_name("FILE");
  app.add_option("--ca-file", a.ca_file,
                 "PEM certificates that a daemon's https may be signed by (HOSTLER_CA_FILE)")
      ->type_name("FILE");
  app.fallthrough();
  add_submit(app, a, chosen);
  add_job_commands(app, a, chosen);
  add_fleet_commands(app, a, chosen);
  add_site_commands(app, a, chosen);
  add_own_commands(app, a, chosen);
  // Not before: what is added would inherit it.
  app.footer("'hostler COMMAND --help' tells more of each.\n\n" + usage::help_text(sections()));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    return refuse(app, error);
  }
  if (chosen.alone) return chosen.alone();
  auto endpoint = Endpoint::find(a.url, a.token_file, a.ca_file);
  if (!endpoint) return complain(endpoint.error());
  Client client(std::move(*endpoint));
  return chosen.with_daemon(client);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hostler: %s\n", error.what());
    return exit_code::kFailed;
  }
}
