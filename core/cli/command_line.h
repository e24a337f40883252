#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "core/cli/arguments.h"
#include "core/cli/client.h"
#include "core/cli/commands.h"

/// Makes the commands of `hostler` for CLI11: their options, and the function that each calls.
namespace hostler::cli {

using Run = std::function<int(Client&)>;

/// The command that the arguments name; one of the two is set. If one is
/// below another (`gates`, `gates open`), CLI11 reports it first: it is meant.
struct Chosen {
  Run with_daemon;
  std::function<int()> without_daemon;
};

/// Adds a command that asks the daemon.
CLI::App* add(CLI::App& app, Chosen& chosen, const char* name, const char* help, Run run);
/// The same with the option --json.
CLI::App* add_list(CLI::App& app, Arguments& a, Chosen& chosen, const char* name, const char* help,
                   int (*list)(Client&, bool));
/// The option --limit; its default is what `limit` is.
void add_limit(CLI::App* command, int& limit);

// Validators without a description of their own in --help: the option's text names the values.
CLI::Validator one_of(std::vector<std::string> words);
CLI::Validator within(int min, int max);
CLI::Validator amount_of_vcpus();
/// "2" or "a100:2".
CLI::Validator number_of_gpus();
CLI::Validator positive();
/// "j-42", if `kind` is "j".
CLI::Validator id_of(const std::string& kind);
/// Checks that a word is the id of a job or a lease.
CLI::Validator work_id();
/// Lets no option of the command, and of those below it, have an empty value. The words of a
/// command to run may be empty.
void refuse_empty_values(CLI::App& app);
/// The same for "--type=", which CLI11 gives the next word as its value. Throws CLI::ParseError.
void refuse_empty_values(int argc, const char* const* argv);
/// 0 to the largest that a scenario may have.
CLI::Validator whole_number();

/// The options that work of every kind is submitted with; `what`: "job".
void add_work_options(CLI::App* command, WorkOptions& options, const std::string& what);

// The commands, one function for each file.
void add_job_commands(CLI::App& app, Arguments& a, Chosen& chosen);
void add_lease_commands(CLI::App& app, Arguments& a, Chosen& chosen);
void add_work_commands(CLI::App& app, Arguments& a, Chosen& chosen);
void add_fleet_commands(CLI::App& app, Arguments& a, Chosen& chosen);
void add_planning_commands(CLI::App& app, Arguments& a, Chosen& chosen);
void add_driver_commands(CLI::App& app, Arguments& a, Chosen& chosen);

}  // namespace hostler::cli
