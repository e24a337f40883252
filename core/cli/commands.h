#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/cli/client.h"
#include "core/cli/print.h"

/// The commands of `hostler`, one function each. main.cc parses the arguments. Each function prints
/// its result and returns the exit status.
namespace hostler::cli {

/// The options that work of every kind is submitted with, one member each.
struct WorkOptions {
  std::string name, vcpus, ram, scratch, gpus, gpu_memory, type, market, zone, client_key;
  int priority = 0;
  bool wait = false, json = false;
};

/// The options of `hostler submit`, likewise.
struct SubmitOptions : WorkOptions {
  std::vector<std::string> command;
  std::string script;  ///< Name of a file; "-" is standard input.
  std::string file;    ///< A file with one JSON object per line, each a job; "-" as above.
  std::string time_limit, stdin_file, interruption_command;
  int attempts_max = 0, start_failures_max = 0, array = 0;
  bool restartable = false, dry_run = false;
  std::vector<std::string> env, inputs, outputs;
};
int submit(Client& client, const SubmitOptions& options);
/// Shows what would become of the jobs.
int dry_run(Client& client, const SubmitOptions& options);
/// Submits one job and returns its id.
Result<std::string> submit_one(Client& client, const SubmitOptions& options);

/// Shows progress on standard error, streams the job's output if `stream_output`, and returns the
/// job's exit status. If the job succeeded but reading its output failed, returns the exit status
/// of that error.
int wait_for_job(Client& client, const std::string& id, bool stream_output);
/// Waits until all jobs have ended, and all leases are granted or have ended. Prints for each lease
/// the same as wait_for_grant(). Returns the last exit status that is not 0, else 0. `json`: prints
/// `{"jobs": [...]}` instead, and `leases` if there are some.
int wait_all(Client& client, const std::vector<std::string>& ids, bool json);
/// Waits until the lease is granted, prints "l-3 h-7 ADDRESS PORT" and returns 0. If it ends
/// before, returns exit_code::kNoStatus.
int wait_for_grant(Client& client, const std::string& id, bool json);
/// The same, for whoever has EndSignals: returns 128 + n once signal n has come.
int await_grant(Client& client, const std::string& id, bool json);
int logs(Client& client, const std::string& id, bool standard_error, bool follow);
int fetch(Client& client, const std::string& id, const std::string& folder, bool partial);

struct JobsOptions {
  std::string state, name, principal;
  int limit = 100;
  bool json = false;
};
int jobs(Client& client, const JobsOptions& options);

// `id`, `ids`: of jobs and of leases.
int show_work(Client& client, const std::string& id, bool json);
int cancel(Client& client, const std::vector<std::string>& ids);
int release(Client& client, const std::vector<std::string>& ids);
/// All held jobs and leases at once. `action`: release or cancel.
int act_on_held(Client& client, const std::string& action);

/// The options of `hostler lease`, one member each.
struct LeaseOptions : WorkOptions {
  std::string term;  ///< --for
  std::string pool, wait_max, notice_command;
  std::vector<std::string> key_files;  ///< --ssh-key: of public keys.
  std::uint32_t count = 1;             ///< More than one: a gang.
  bool one_zone = false;               ///< Its hosts are in one zone.
  bool ssh = false;  ///< Log in once it is granted, by the default key if none is named, and give
                     ///< it back then.
  bool dry_run = false;  ///< Show what would become of it.
};
int lease(Client& client, const LeaseOptions& options);
struct LeasesOptions {
  std::string state, name, principal;
  int limit = 100;
  bool all = false;  ///< Also those that have ended, where `state` is empty.
  bool json = false;
};
int leases(Client& client, const LeasesOptions& options);
/// Logs in on the host of a granted lease by ssh, which accepts no key of a host but those that the
/// daemon has proved. Runs the command there; empty: a shell. Returns the status of ssh.
int ssh(Client& client, const std::string& id, const std::vector<std::string>& command);
/// Waits until the lease is granted, opens a shell there, and gives the lease back at its end,
/// however that comes. `identities`: as of SshTarget.
int ssh_and_return(Client& client, const std::string& id,
                   const std::vector<std::string>& identities);
/// The terms end after the time `term` from now; prints of each when that is. Returns the last exit
/// status of those that fail, else 0.
int renew(Client& client, const std::vector<std::string>& ids, const std::string& term);
/// Gives hosts back.
int give_back(Client& client, const std::vector<std::string>& ids, bool used);

/// Deletes the kept outputs of jobs.
int remove_outputs(Client& client, const std::vector<std::string>& ids);
/// Ends jobs whose output is still to come without the rest of it.
int give_up_outputs(Client& client, const std::vector<std::string>& ids);
/// Limits and what there is; an empty `principal`: all that the daemon shows.
int quotas(Client& client, const std::string& principal, bool json);

/// `wide`: with the cards of each, and all of each line.
int instances(Client& client, bool json, bool wide = false);
/// `action`: hold, drain, run, kill or ready.
int act_on_instances(Client& client, const std::string& action, const std::vector<std::string>& ids,
                     const std::string& reason);
/// The end of what the instance has written to its console.
int console(Client& client, const std::string& id, bool json);
int pools(Client& client, bool json);
int types(Client& client, bool json);
int sets(Client& client, bool json);
/// Accepts the account that the cloud of the set reports.
int accept_account(Client& client, const std::string& set);
/// Shows what of the set's last list an admin may believe, or believes the list of that number.
int believe_list(Client& client, const std::string& set, std::uint64_t list);
/// Ends the hosts of the set that became unreachable together.
int give_up(Client& client, const std::string& set);
/// Lists the gates that are shut.
int gates(Client& client, bool json);
int open_gate(Client& client, const std::string& key);
int why(Client& client, const std::string& subject, bool json);
int events(Client& client, std::uint64_t after);

/// An empty `set` or `type` selects all of them.
struct PriceOptions {
  std::string set, type;
  int limit = 1000;
  bool json = false;
};
int prices(Client& client, const PriceOptions& options);
struct CostOptions {
  std::string by = "user", since, until;
  int limit = 100;
  bool json = false;
};
int cost(Client& client, const CostOptions& options);
int shares(Client& client, bool json);

/// Writes a backup of the daemon's state to `folder`, which must not exist.
int backup(Client& client, const std::string& folder);

/// Shows what the daemon would do now.
int plan(Client& client, bool json);
/// The plan of a saved snapshot, without a daemon.
int plan_of_snapshot(const std::string& file, bool json);
/// Writes what the daemon's plan depends on to the file, in place of what it has.
int save_snapshot(Client& client, const std::string& file);

/// Prints the daemon's state as JSON, as it comes.
int dump(Client& client);

int config_check(const std::string& file, bool json);
/// Shows what a reload of the file would change.
int config_diff(Client& client, const std::string& file, bool json);

/// The options of `hostler driver list`, `info` and `explain`.
struct DriverOptions {
  std::string name;    ///< Of a driver; of `info` also the path of a manifest.
  std::string config;  ///< Of hostlerd: which drivers it takes, and where they are; empty: none.
  std::vector<std::string> folders;
  bool json = false;
};
int driver_list(const DriverOptions& options);
/// Shows what the manifest says, and whether hostlerd would use the driver.
int driver_info(const DriverOptions& options);
/// Every path that was tried, and why a driver is used or not.
int driver_explain(const DriverOptions& options);
/// Writes the signature of a manifest beside it.
int driver_sign(const std::string& manifest, const std::string& key);
int driver_manifest(const std::string& library, const std::string& sandbox,
                    const std::vector<std::string>& files);

struct DriverNewOptions {
  std::string name, language;
  std::string sdk;  ///< The folder with the templates; empty: look for it.
};
/// Makes the folder `name` with a driver to start from. Fails if there is one already.
int driver_new(const DriverNewOptions& options);

/// The options of `hostler driver check`, which are those of driver-check; empty: not given.
struct DriverCheckOptions {
  std::string library, config, format, seed, budget;
  std::vector<std::string> only;
  bool live = false, list_tests = false, in_process = false;
};
/// Runs the conformance kit in place of this program. Returns only if that fails.
int driver_check(const DriverCheckOptions& options);

struct CloudTestOptions {
  std::string set, config, type, format, budget;
};
/// Runs the kit's live tests on a set of a configuration, likewise.
int cloudtest(const CloudTestOptions& options);
/// The options of `hostler driver replay`, one member each.
struct DriverReplayOptions {
  std::string library, recording;
  std::string config;  ///< Of hostlerd: it has the settings of the set; empty: there are none.
  std::string set;     ///< In the config; empty: as the recording names it.
  std::uint32_t creates_max = 10;
  bool json = false;
};
/// Makes the recorded calls against the driver, and prints what is different.
int driver_replay(const DriverReplayOptions& options);

/// The options of `hostler simulate`, one member each.
struct SimulateOptions {
  std::string scenario;              ///< A file.
  std::string record;                ///< Write the daemon's jobs to this file; empty: simulate.
  std::string config;                ///< Empty: the one that the scenario names.
  std::vector<std::string> compare;  ///< Config files; empty: no comparison.
  std::optional<std::uint64_t> seed;
  std::string svg;  ///< Write a drawing to this file; empty: none.
  bool json = false;
};
/// Runs a scenario in virtual time and prints what came of it.
int simulate(const SimulateOptions& options);
/// Writes the jobs of the daemon to a file, as a trace for a scenario.
int record(Client& client, const std::string& file);

/// The options of `hostler push`, one member each.
struct PushOptions {
  std::string pool;
  std::string file;  ///< With the push; "-" is standard input.
  bool json = false;
};
/// Sends what an outside scheduler says of its pool, and prints the answer.
int push(Client& client, const PushOptions& options);

/// The options of `hostler eval`, one member each; empty: not given.
struct EvalOptions {
  std::string pool, expr;        ///< One of both.
  std::string config;            ///< Empty: hostlerd's usual one; none for `expr`.
  std::vector<std::string> set;  ///< "NAME=NUMBER"
  std::string at, test;
  bool json = false;
};
/// Computes the bounds of a pool, or one expression, now. Returns exit_code::kFailed if one of them
/// is unknown, or not as the cases of the file `test` expect.
int eval(const EvalOptions& options);

/// Runs a complete example on this machine; see demo.cc.
int demo();

}  // namespace hostler::cli
