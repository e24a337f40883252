#include "core/cli/command_line.h"

namespace hostler::cli {
namespace {

void add_driver_reports(CLI::App& driver, Arguments& a, Chosen& chosen) {
  const auto add_report = [&](const char* name, const char* what,
                              int (*run)(const DriverOptions&)) {
    CLI::App* c = driver.add_subcommand(name, what);
    c->add_option("--config", a.driver.config,
                  "hostlerd's configuration: which drivers it allows, and where they are")
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
  c->add_option("--config", o.config, "Which cloud to use (driver-check.json beside the driver)")
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
  c->add_flag("--live", o.live, "Also make machines in the cloud of --config, and destroy them");
  c->add_option("--budget", o.budget, "At most N machines at once (3)")
      ->type_name("N")
      ->check(positive());
  c->add_flag("--list-tests", o.list_tests, "List the tests, and run none");
  c->add_flag("--in-process", o.in_process, "No process for each test: for a debugger");
  c->callback([&a, &chosen] {
    if (a.check.library.empty() && !a.check.list_tests)
      throw CLI::ValidationError("name the driver's .so");
    chosen.without_daemon = [&a] { return driver_check(a.check); };
  });
}

void add_driver_manifest(CLI::App& driver, Arguments& a, Chosen& chosen) {
  CLI::App* c = driver.add_subcommand("manifest", "Print the manifest of a driver");
  c->add_option("library", a.file, "The driver's .so")->type_name("FILE")->required();
  c->add_option("--sandbox", a.sandbox, "The sandbox that the driver asks for: full, files or none")
      ->type_name("SANDBOX")
      ->check(one_of({"full", "files", "none"}));
  c->add_option(
       "--file", a.files,
       "A file of the driver's own, beside the .so: a program that it starts, or a library "
       "that it needs; repeatable")
      ->type_name("FILE")
      ->allow_extra_args(false);
  c->callback([&a, &chosen] {
    chosen.without_daemon = [&a] { return driver_manifest(a.file, a.sandbox, a.files); };
  });
}

void add_driver_sign(CLI::App& driver, Arguments& a, Chosen& chosen) {
  CLI::App* c =
      driver.add_subcommand("sign", "Sign a manifest, for sites that take signed drivers only");
  c->add_option("manifest", a.file, "NAME.hostler.json")->type_name("FILE")->required();
  c->add_option("--key", a.key, "A private key of ed25519 in PEM that only you may read")
      ->type_name("FILE")
      ->required();
  c->callback(
      [&a, &chosen] { chosen.without_daemon = [&a] { return driver_sign(a.file, a.key); }; });
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

void add_cloudtest(CLI::App& app, Arguments& a, Chosen& chosen) {
  CloudTestOptions& o = a.cloudtest;
  CLI::App* c = app.add_subcommand(
      "cloudtest", "Make machines in the cloud of a set, log in to them, and destroy them");
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

}  // namespace

void add_driver_commands(CLI::App& app, Arguments& a, Chosen& chosen) {
  CLI::App* driver = app.add_subcommand("driver", "Make, check, describe and sign cloud drivers")
                         ->require_subcommand(1);
  add_driver_reports(*driver, a, chosen);
  add_driver_new(*driver, a, chosen);
  add_driver_check(*driver, a, chosen);
  add_driver_manifest(*driver, a, chosen);
  add_driver_sign(*driver, a, chosen);
  add_driver_replay(*driver, a, chosen);
  add_cloudtest(app, a, chosen);
}

}  // namespace hostler::cli
