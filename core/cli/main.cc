#include <signal.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <functional>

#include "core/cli/arguments.h"
#include "core/cli/commands.h"
#include "core/cli/manual.h"
#include "core/model/vcpus.h"

/// Parses the arguments of `hostler`. The other files implement the commands.
namespace {

using namespace hostler::cli;
namespace usage = hostler::usage;

using Run = std::function<int(Client&)>;

// Validators without a description of their own in --help: the option's text names the values.
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

CLI::Validator positive() {
  const auto problem = [](const std::string& text) {
    const bool is_number = text.find_first_not_of("0123456789") == std::string::npos;
    const bool is_positive = is_number && text.find_first_not_of('0') != std::string::npos;
    return is_positive ? std::string() : "a number from 1 on is needed, not " + text;
  };
  return {problem, ""};
}

/// 0 to the largest that a scenario may have.
CLI::Validator whole_number() {
  const auto problem = [](const std::string& text) {
    const bool good = !text.empty() && text.size() <= 18 &&
                      text.find_first_not_of("0123456789") == std::string::npos;
    return good ? std::string() : "a whole number of at most 18 digits is needed, not " + text;
  };
  return {problem, ""};
}

void add_limit(CLI::App* command, int& limit) {
  command
      ->add_option("--limit", limit,
                   "Show at most N rows, up to 10000 (" + std::to_string(limit) + ")")
      ->type_name("N")
      ->check(within(1, 10000));
}

/// The command that the arguments name; one of the two is set. Of a command and a command below it
/// (`gates`, `gates open`), CLI11 reports the one below first: that one is meant.
struct Chosen {
  Run with_daemon;
  std::function<int()> without_daemon;
};

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

void add_submit(CLI::App& app, Arguments& a, Chosen& chosen) {
  SubmitOptions& o = a.submit;
  CLI::App* c =
      add(app, chosen, "submit", "Submit a job; put -- before a command that has options",
          [&a](Client& client) {
            return a.submit.dry_run ? dry_run(client, a.submit) : submit(client, a.submit);
          });
  c->add_option("command", o.command, "The command to run, and its arguments")
      ->type_name("COMMAND");
  c->add_option("--script", o.script, "Run this file with /bin/sh instead; - is standard input")
      ->type_name("FILE");
  CLI::Option* file =
      c->add_option("--file", o.file,
                    "Submit the jobs in this file, one JSON object per line; - is standard input; "
                    "excludes the options that describe a job")
          ->type_name("FILE");
  c->add_option("--name", o.name, "Name of the job")->type_name("NAME");
  c->add_option("--vcpus", o.vcpus,
                "Number of vcpus that the job needs, also parts: 0.25; or 0 (1)")
      ->type_name("N")
      ->check(amount_of_vcpus());
  c->add_option("--ram", o.ram, "Memory that the job needs, e.g. 512MiB (1GiB)")->type_name("SIZE");
  c->add_option("--scratch", o.scratch, "Disk space that the job needs, e.g. 10GiB")
      ->type_name("SIZE");
  c->add_option("--gpus", o.gpus, "Number of gpus that the job needs (0)")
      ->type_name("N")
      ->check(within(0, 1 << 20));
  c->add_option("--priority", o.priority,
                "Jobs of higher priority start first, -1000000 to 1000000 (0)")
      ->type_name("N")
      ->check(within(-1'000'000, 1'000'000));
  c->add_option("--time-limit", o.time_limit,
                "End the job after this time, e.g. 30m: TERM, then KILL")
      ->type_name("DURATION");
  c->add_option("--env", o.env, "Set an environment variable; repeat for more")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  c->add_option("--stdin", o.stdin_file, "File for the job's standard input; - is standard input")
      ->type_name("FILE");
  c->add_option("--input", o.inputs,
                "Copy the local FILE to PATH in the job's folder; repeat for more")
      ->type_name("PATH[=FILE]")
      ->allow_extra_args(false);
  c->add_option("--output", o.outputs, "Pattern of output files to keep; repeat for more")
      ->type_name("PATTERN")
      ->allow_extra_args(false);
  c->add_option("--type", o.type, "Only these instance types")->type_name("A,B");
  c->add_option("--market", o.market, "Only this market: on_demand or spot")->type_name("MARKET");
  c->add_option("--zone", o.zone, "Only this zone")->type_name("ZONE");
  c->add_flag("--restartable", o.restartable, "Start the job again if its host is lost");
  c->add_option("--attempts-max", o.attempts_max, "Start the job at most N times, up to 1000 (3)")
      ->type_name("N")
      ->check(within(1, 1000));
  c->add_option("--interruption-command", o.interruption_command,
                "Shell command to run beside the job when its host will be interrupted");
  c->add_option("--start-failures-max", o.start_failures_max,
                "Fail when N different hosts could not start the job, up to 100 (10)")
      ->type_name("N")
      ->check(within(1, 100));
  c->add_option("--client-key", o.client_key,
                "Idempotency key: submitting it twice creates one job")
      ->type_name("KEY");
  c->add_option("--array", o.array,
                "Submit N copies, up to 100000; HOSTLER_ARRAY_INDEX counts from 0")
      ->type_name("N")
      ->check(within(1, 100000));
  // With --file, each line describes a whole job, so options must not.
  for (CLI::Option* option : c->get_options())
    if (option != file && option != c->get_help_ptr() && option->get_name() != "command" &&
        option->get_name() != "--script")
      file->excludes(option);
  c->add_flag("--wait", o.wait, "Show progress and output; exit with the status of the job")
      ->excludes(c->add_flag("--dry-run", o.dry_run,
                             "Submit nothing: show which host each job would get, when, and at "
                             "what price"));
  c->add_flag("--json", o.json, "Print the answer as JSON");
}

void add_job_commands(CLI::App& app, Arguments& a, Chosen& chosen) {
  CLI::App* c = add(app, chosen, "jobs", "List jobs, newest first",
                    [&a](Client& client) { return jobs(client, a.jobs); });
  c->add_option("--state", a.jobs.state, "Only jobs in these states, e.g. queued,running")
      ->type_name("STATE");
  c->add_option("--name", a.jobs.name, "Only jobs of this name")->type_name("NAME");
  c->add_option("--principal", a.jobs.principal, "Only jobs of this submitter")->type_name("NAME");
  add_limit(c, a.jobs.limit);
  c->add_flag("--json", a.jobs.json, "Print JSON");
  c = add(app, chosen, "job", "Show one job",
          [&a](Client& client) { return job(client, a.id, a.json); });
  c->add_option("id", a.id, "E.g. j-42")->type_name("JOB")->required();
  c->add_flag("--json", a.json, "Print JSON");
  c = add(app, chosen, "wait", "Wait until jobs end",
          [&a](Client& client) { return wait_all(client, a.ids, a.json); });
  c->add_option("ids", a.ids, "E.g. j-42 j-43")->type_name("JOB")->required();
  c->add_flag("--json", a.json, "Print the ended jobs as JSON");
  c = add(app, chosen, "logs", "Print a job's output",
          [&a](Client& client) { return logs(client, a.id, a.standard_error, a.follow); });
  c->add_option("id", a.id, "E.g. j-42")->type_name("JOB")->required();
  c->add_flag("--stderr", a.standard_error, "Print standard error instead of standard output");
  c->add_flag("--follow", a.follow, "Continue until the job ends");
  c = add(app, chosen, "fetch", "Download a job's output files",
          [&a](Client& client) { return fetch(client, a.id, a.folder); });
  c->add_option("id", a.id, "E.g. j-42")->type_name("JOB")->required();
  c->add_option("-o,--output", a.folder, "Folder to write to (.)")->type_name("FOLDER");
  c = add(app, chosen, "cancel", "Cancel jobs", [&a](Client& client) {
    return a.all ? act_on_held(client, "cancel") : cancel(client, a.ids);
  });
  c->add_option("ids", a.ids, "E.g. j-42 j-43")->type_name("JOB");
  c->add_flag("--held", a.all, "All jobs that are held");
  c->require_option(1);
  c = add(app, chosen, "release", "Let held jobs start: admins", [&a](Client& client) {
    return a.all ? act_on_held(client, "release") : release(client, a.ids);
  });
  c->add_option("ids", a.ids, "E.g. j-42 j-43")->type_name("JOB");
  c->add_flag("--all", a.all, "All jobs that are held");
  c->require_option(1);
}

void add_quota_commands(CLI::App& app, Arguments& a, Chosen& chosen) {
  CLI::App* outputs = app.add_subcommand("outputs", "Kept output of jobs")->require_subcommand(1);
  add(*outputs, chosen, "rm", "Delete the kept output of jobs that have ended",
      [&a](Client& client) { return remove_outputs(client, a.ids); })
      ->add_option("ids", a.ids, "E.g. j-42 j-43")
      ->type_name("JOB")
      ->required();
  CLI::App* c = add(app, chosen, "quotas", "Show limits of principals, and what they have",
                    [&a](Client& client) { return quotas(client, a.jobs.principal, a.json); });
  c->add_option("--principal", a.jobs.principal, "Only this one, e.g. \"token ci\"")
      ->type_name("NAME");
  c->add_flag("--json", a.json, "Print JSON");
}

void add_plan(CLI::App& app, Arguments& a, Chosen& chosen) {
  CLI::App* c = app.add_subcommand("plan", "Show what the daemon would do now, and why");
  c->callback([&a, &chosen] {
    if (!a.snapshot.empty())
      chosen.without_daemon = [&a] { return plan_of_snapshot(a.snapshot, a.format == "json"); };
    else
      chosen.with_daemon = [&a](Client& client) {
        return a.save_snapshot.empty() ? plan(client, a.format == "json")
                                       : save_snapshot(client, a.save_snapshot);
      };
  });
  CLI::Option* snapshot =
      c->add_option("--snapshot", a.snapshot, "Of this saved snapshot instead; no daemon is needed")
          ->type_name("FILE");
  c->add_option("--save-snapshot", a.save_snapshot,
                "Only save what the plan depends on to this file")
      ->type_name("FILE")
      ->excludes(snapshot);
  c->add_option("--format", a.format, "text or json (text)")
      ->type_name("FORMAT")
      ->check(one_of({"text", "json"}));
}

void add_fleet_commands(CLI::App& app, Arguments& a, Chosen& chosen) {
  add_list(app, a, chosen, "instances", "List instances", instances);
  const std::vector<std::pair<std::string, const char*>> actions{
      {"hold", "Keep instances, but place no jobs on them"},
      {"drain", "Place no jobs on instances, and destroy them when their jobs have ended"},
      {"run", "Undo hold or drain"},
      {"kill", "Destroy instances now, with the jobs on them"}};
  for (const auto& [action, help] : actions) {
    CLI::App* act = add(app, chosen, action.c_str(), help, [&a, action = action](Client& client) {
      return act_on_instances(client, action, a.ids, a.reason);
    });
    act->add_option("ids", a.ids, "E.g. h-7 h-8")->type_name("INSTANCE")->required();
    if (action == "kill")
      act->add_option("--reason", a.reason, "Reason to record in the ledger")->type_name("TEXT");
  }
  CLI::App* c = add(app, chosen, "console", "Show the end of what an instance wrote to its console",
                    [&a](Client& client) { return console(client, a.id, a.json); });
  c->add_option("id", a.id, "E.g. h-7")->type_name("INSTANCE")->required();
  c->add_flag("--json", a.json, "Print JSON");
  add_list(app, a, chosen, "pools", "List pools", pools);
  add_list(app, a, chosen, "types", "List instance types, also those that pools choose", types);
  c = add_list(app, a, chosen, "sets", "List instance sets and the state of their clouds", sets);
  CLI::App* accept = add(*c, chosen, "accept-account",
                         "Use the account and region that the set's cloud reports now",
                         [&a](Client& client) { return accept_account(client, a.id); });
  CLI::App* believe =
      add(*c, chosen, "believe", "Show the instances that the set's last list omits, or believe it",
          [&a](Client& client) { return believe_list(client, a.id, a.list); });
  believe
      ->add_option("--list", a.list, "Its instances are gone: the number of the list that you saw")
      ->check(positive())
      ->type_name("N");
  CLI::App* end =
      add(*c, chosen, "give-up", "Destroy the hosts of the set that became unreachable together",
          [&a](Client& client) { return give_up(client, a.id); });
  for (CLI::App* of_set : {accept, believe, end})
    of_set->add_option("set", a.id, "The instance set")->type_name("SET")->required();
  c = add_list(app, a, chosen, "gates",
               "List shut gates: requests that clouds refused, and until when they wait", gates);
  c = add(*c, chosen, "open", "Open a gate: the requests that it holds back are tried now",
          [&a](Client& client) { return open_gate(client, a.subject); });
  c->add_option("key", a.subject, "The gate, in quotes, as gates prints it")
      ->type_name("KEY")
      ->required();
  c = add(app, chosen, "prices", "Show the prices that clouds reported",
          [&a](Client& client) { return prices(client, a.prices); });
  c->add_option("--set", a.prices.set, "Only this instance set")->type_name("SET");
  c->add_option("--type", a.prices.type, "Only this instance type")->type_name("TYPE");
  add_limit(c, a.prices.limit);
  c->add_flag("--json", a.prices.json, "Print JSON");
  c = add(app, chosen, "cost", "Show costs, highest first",
          [&a](Client& client) { return cost(client, a.cost); });
  c->add_option("--by", a.cost.by, "Group by user, job, instance, type, pool or set (user)")
      ->type_name("WHAT")
      ->check(one_of({"user", "job", "instance", "type", "pool", "set"}));
  c->add_option("--since", a.cost.since, "Start of the period, 2026-11-21 or 2026-11-21T10:00:00Z")
      ->type_name("TIME");
  c->add_option("--until", a.cost.until, "End of the period (now)")->type_name("TIME");
  add_limit(c, a.cost.limit);
  c->add_flag("--json", a.cost.json, "Print JSON");
  add_list(app, a, chosen, "shares", "Show what each user has used lately: the least goes first",
           shares);
  c = add(app, chosen, "why", "Explain the state of a job, instance, pool, set or gate",
          [&a](Client& client) { return why(client, a.subject, a.json); });
  c->add_option("subject", a.subject,
                "j-42, h-7, \"pool NAME\", \"set NAME\", \"gate KEY\" or site")
      ->type_name("SUBJECT")
      ->required();
  c->add_flag("--json", a.json, "Print JSON");
  add_plan(app, a, chosen);
  c = add(app, chosen, "events", "Print events as they happen, one JSON record per line",
          [&a](Client& client) { return events(client, a.after); });
  c->add_option("--after", a.after, "Only events after this revision")->type_name("REV");
}

void add_driver_reports(CLI::App& driver, Arguments& a, Chosen& chosen) {
  const auto add_report = [&](const char* name, const char* what,
                              int (*run)(const DriverOptions&)) {
    CLI::App* c = driver.add_subcommand(name, what);
    c->add_option("--config", a.driver.config, "Of hostlerd: which drivers it takes, and where")
        ->type_name("FILE");
    c->add_option("--driver-path", a.driver.folders, "Look in this folder, too; repeat for more")
        ->type_name("FOLDER")
        ->allow_extra_args(false);
    c->add_flag("--json", a.driver.json, "Print JSON");
    c->callback(
        [&a, &chosen, run] { chosen.without_daemon = [&a, run] { return run(a.driver); }; });
    return c;
  };
  add_report("list", "List the drivers that were found, and where they were looked for",
             driver_list);
  add_report("info", "Show what is known of a driver without running its code", driver_info)
      ->add_option("driver", a.driver.name, "Its name, or the path of its manifest")
      ->type_name("DRIVER")
      ->required();
  add_report("explain", "Show every path that was tried, and why a driver is used or not",
             driver_explain)
      ->add_option("driver", a.driver.name, "Its name")
      ->type_name("NAME")
      ->required();
}

void add_driver_new(CLI::App& driver, Arguments& a, Chosen& chosen) {
  CLI::App* c = driver.add_subcommand("new", "Make a folder with a driver to start from");
  c->add_option("name", a.driver_new.name, "The name of the driver, and of the folder")
      ->type_name("NAME")
      ->required();
  c->add_option("--lang", a.driver_new.language, "c, cpp, rust or go")
      ->type_name("LANG")
      ->check(one_of({"c", "cpp", "rust", "go"}))
      ->required();
  c->add_option("--sdk", a.driver_new.sdk, "The folder with the templates (that of hostler-sdk)")
      ->type_name("FOLDER");
  c->callback([&a, &chosen] { chosen.without_daemon = [&a] { return driver_new(a.driver_new); }; });
}

void add_driver_check(CLI::App& driver, Arguments& a, Chosen& chosen) {
  DriverCheckOptions& o = a.check;
  CLI::App* c = driver.add_subcommand("check", "Check a driver against the rules of the ABI");
  c->add_option("library", o.library, "The driver's .so")->type_name("FILE");
  c->add_option("--config", o.config, "What cloud to use (driver-check.json beside the driver)")
      ->type_name("FILE");
  c->add_option("--only", o.only, "Only tests of these names, e.g. 'call.*'; repeat for more")
      ->type_name("GLOB")
      ->allow_extra_args(false);
  c->add_option("--format", o.format, "text, json or junit (text)")
      ->type_name("FORMAT")
      ->check(one_of({"text", "json", "junit"}));
  c->add_option("--reproduce", o.seed, "Seed of an earlier run: the same random choices")
      ->type_name("N")
      ->check(whole_number());
  CLI::Option* live = c->add_flag(
      "--live", o.live, "Also make machines in the cloud of --config, and give them back");
  c->add_option("--budget", o.budget, "With --live, at most N machines at once (3)")
      ->type_name("N")
      ->check(positive())
      ->needs(live);
  c->add_flag("--list-tests", o.list_tests, "List the tests, and run none");
  c->add_flag("--in-process", o.in_process, "No process for each test: for a debugger");
  c->callback([&a, &chosen] {
    if (a.check.library.empty() && !a.check.list_tests)
      throw CLI::ValidationError("name the driver's .so");
    chosen.without_daemon = [&a] { return driver_check(a.check); };
  });
}

void add_cloudtest(CLI::App& app, Arguments& a, Chosen& chosen) {
  CloudTestOptions& o = a.cloudtest;
  CLI::App* c = app.add_subcommand(
      "cloudtest", "Make machines in the cloud of a set, log in to them, and give them back");
  c->add_option("set", o.set, "The instance set")->type_name("SET")->required();
  c->add_option("--config", o.config, "The configuration")->type_name("FILE")->required();
  c->add_option("--type", o.type, "The instance type (the first of the set's pools)")
      ->type_name("TYPE");
  c->add_option("--budget", o.budget, "At most N machines at once (3)")
      ->type_name("N")
      ->check(positive());
  c->add_option("--format", o.format, "text, json or junit (text)")
      ->type_name("FORMAT")
      ->check(one_of({"text", "json", "junit"}));
  c->callback([&a, &chosen] { chosen.without_daemon = [&a] { return cloudtest(a.cloudtest); }; });
}

void add_driver_replay(CLI::App& driver, Arguments& a, Chosen& chosen) {
  CLI::App* c =
      driver.add_subcommand("replay", "Make recorded calls again, and show what is different");
  c->add_option("library", a.replay.library, "The driver's .so")->type_name("FILE")->required();
  c->add_option("--recording", a.replay.recording, "The recording (sets[].record)")
      ->type_name("FILE")
      ->required();
  c->add_option("--config", a.replay.config, "A configuration with the settings of the set")
      ->type_name("FILE");
  c->add_option("--set", a.replay.set, "The set in it (that of the recording)")->type_name("SET");
  c->add_option("--creates-max", a.replay.creates_max, "Make so many machines at most")
      ->type_name("N")
      ->check(CLI::Range(0, 10'000).description(""));
  c->add_flag("--json", a.replay.json, "Print JSON");
  c->callback([&a, &chosen] { chosen.without_daemon = [&a] { return driver_replay(a.replay); }; });
}

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
  CLI::App* driver = app.add_subcommand("driver", "Inspect cloud drivers")->require_subcommand(1);
  add_driver_reports(*driver, a, chosen);
  add_driver_new(*driver, a, chosen);
  add_driver_check(*driver, a, chosen);
  c = driver->add_subcommand("manifest", "Print the manifest of a driver");
  c->add_option("library", a.file, "The driver's .so")->type_name("FILE")->required();
  c->add_option("--sandbox", a.sandbox, "The sandbox that the driver asks for: full, files or none")
      ->type_name("SANDBOX")
      ->check(one_of({"full", "files", "none"}));
  c->callback([&a, &chosen] {
    chosen.without_daemon = [&a] { return driver_manifest(a.file, a.sandbox); };
  });
  c = driver->add_subcommand("sign", "Sign a manifest, for sites that take signed drivers only");
  c->add_option("manifest", a.file, "NAME.hostler.json")->type_name("FILE")->required();
  c->add_option("--key", a.key, "A private key of ed25519 in PEM that only you may read")
      ->type_name("FILE")
      ->required();
  c->callback(
      [&a, &chosen] { chosen.without_daemon = [&a] { return driver_sign(a.file, a.key); }; });
  add_driver_replay(*driver, a, chosen);
  c = add(app, chosen, "backup", "Copy the daemon's state to a new folder, while it runs",
          [&a](Client& client) { return backup(client, a.folder); });
  c->add_option("folder", a.folder, "The folder to make; it holds secrets")
      ->type_name("FOLDER")
      ->required();
  add_cloudtest(app, a, chosen);
  c = app.add_subcommand("demo", "Run a complete example on this machine");
  c->callback([&chosen] { chosen.without_daemon = demo; });
}

void add_simulate(CLI::App& app, Arguments& a, Chosen& chosen) {
  SimulateOptions& o = a.simulate;
  CLI::App* c = app.add_subcommand(
      "simulate", "Run a scenario in virtual time: costs, waits and hosts of a configuration");
  c->add_option("scenario", o.scenario, "The scenario: load, clouds and their faults")
      ->type_name("FILE");
  c->add_option("--record", o.record,
                "Ask the daemon for its jobs and write them to this file, as a trace for scenarios")
      ->type_name("FILE");
  CLI::Option* config =
      c->add_option("--config", o.config, "Use this configuration, not the scenario's")
          ->type_name("FILE");
  c->add_option("--compare", o.compare, "Run with each of these configurations, side by side")
      ->type_name("FILE")
      ->expected(2, 8)
      ->excludes(config);
  c->add_option("--seed", o.seed, "Seed of the random numbers, in place of the scenario's")
      ->type_name("N")
      ->check(whole_number());
  c->add_option("--svg", o.svg, "Draw queue and fleet over time, into this file")
      ->type_name("FILE");
  c->add_flag("--json", o.json, "Print JSON");
  c->callback([&a, &chosen] {
    if (a.simulate.scenario.empty() == a.simulate.record.empty())
      throw CLI::ValidationError("give a scenario or --record FILE, not both");
    if (!a.simulate.record.empty())
      chosen.with_daemon = [&a](Client& client) { return record(client, a.simulate.record); };
    else
      chosen.without_daemon = [&a] { return simulate(a.simulate); };
  });
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
  add_submit(app, a, chosen);
  add_job_commands(app, a, chosen);
  add_quota_commands(app, a, chosen);
  add_fleet_commands(app, a, chosen);
  add_site_commands(app, a, chosen);
  add_simulate(app, a, chosen);
  add_own_commands(app, a, chosen);
  // Set last, because commands that are added later would inherit the footer.
  app.footer("'hostler COMMAND --help' describes one command.\n\n" + usage::help_text(sections()));
  try {
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

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hostler: %s\n", error.what());
    return exit_code::kFailed;
  }
}
