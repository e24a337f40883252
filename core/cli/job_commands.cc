#include "core/cli/command_line.h"

namespace hostler::cli {
namespace {

/// What goes to the host and comes back from it.
void add_data(CLI::App* c, SubmitOptions& o) {
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
}

/// How long and how often it may run.
void add_limits(CLI::App* c, SubmitOptions& o) {
  c->add_option("--time-limit", o.time_limit,
                "End the job after this time, e.g. 30m: TERM, then KILL")
      ->type_name("DURATION");
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
  add_work_options(c, o, "job");
  add_data(c, o);
  add_limits(c, o);
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

void add_job_looks(CLI::App& app, Arguments& a, Chosen& chosen) {
  CLI::App* c = add(app, chosen, "jobs", "List jobs, newest first",
                    [&a](Client& client) { return jobs(client, a.jobs); });
  c->add_option("--state", a.jobs.state, "Only jobs in these states, e.g. queued,running")
      ->type_name("STATE");
  c->add_option("--name", a.jobs.name, "Only jobs of this name")->type_name("NAME");
  c->add_option("--principal", a.jobs.principal, "Only jobs of this submitter")->type_name("NAME");
  add_limit(c, a.jobs.limit);
  c->add_flag("--json", a.jobs.json, "Print JSON");
  c = add(app, chosen, "job", "Show one job",
          [&a](Client& client) { return show_work(client, a.id, a.json); });
  c->add_option("id", a.id, "E.g. j-42")->type_name("JOB")->check(id_of("j"))->required();
  c->add_flag("--json", a.json, "Print JSON");
  c = add(app, chosen, "wait", "Wait until jobs end, and until leases are granted or have ended",
          [&a](Client& client) { return wait_all(client, a.ids, a.json); });
  c->add_option("ids", a.ids, "E.g. j-42 l-3")->type_name("WORK")->check(work_id())->required();
  c->add_flag("--json", a.json, "Print the jobs and leases as JSON");
  c = add(app, chosen, "logs", "Print a job's output",
          [&a](Client& client) { return logs(client, a.id, a.standard_error, a.follow); });
  c->add_option("id", a.id, "E.g. j-42")->type_name("JOB")->check(id_of("j"))->required();
  c->add_flag("--stderr", a.standard_error, "Print standard error instead of standard output");
  c->add_flag("--follow", a.follow, "Continue until the job ends");
  c = add(app, chosen, "fetch", "Download a job's output files",
          [&a](Client& client) { return fetch(client, a.id, a.folder, a.partial); });
  c->add_option("id", a.id, "E.g. j-42")->type_name("JOB")->check(id_of("j"))->required();
  c->add_option("-o,--output", a.folder, "Folder to write to (.)")->type_name("FOLDER");
  c->add_flag("--partial", a.partial, "Also take files of which a part is missing");
}

void add_quota_commands(CLI::App& app, Arguments& a, Chosen& chosen) {
  CLI::App* outputs = app.add_subcommand("outputs", "Kept output of jobs")->require_subcommand(1);
  add(*outputs, chosen, "rm", "Delete the kept output of jobs that have ended",
      [&a](Client& client) { return remove_outputs(client, a.ids); })
      ->add_option("ids", a.ids, "E.g. j-42 j-43")
      ->type_name("JOB")
      ->check(id_of("j"))
      ->required();
  add(*outputs, chosen, "give-up",
      "End jobs in the state collecting without the rest of their output",
      [&a](Client& client) { return give_up_outputs(client, a.ids); })
      ->add_option("ids", a.ids, "E.g. j-42 j-43")
      ->type_name("JOB")
      ->check(id_of("j"))
      ->required();
  CLI::App* c = add(app, chosen, "quotas", "Show limits of principals, and what they have",
                    [&a](Client& client) { return quotas(client, a.jobs.principal, a.json); });
  c->add_option("--principal", a.jobs.principal, "Only this one, e.g. \"token ci\"")
      ->type_name("NAME");
  c->add_flag("--json", a.json, "Print JSON");
}

}  // namespace

void add_job_commands(CLI::App& app, Arguments& a, Chosen& chosen) {
  add_submit(app, a, chosen);
  add_job_looks(app, a, chosen);
  add_quota_commands(app, a, chosen);
}

}  // namespace hostler::cli
