#include "core/cli/command_line.h"

namespace hostler::cli {
namespace {

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

void add_eval(CLI::App& app, Arguments& a, Chosen& chosen) {
  EvalOptions& o = a.eval;
  CLI::App* c = app.add_subcommand(
      "eval", "Compute the bounds of a pool that are expressions; no daemon is needed");
  CLI::Option* pool = c->add_option("pool", o.pool, "The pool")->type_name("POOL");
  CLI::Option* expr = c->add_option("--expr", o.expr, "Compute this expression, not a pool's")
                          ->type_name("TEXT")
                          ->excludes(pool);
  c->add_option("--config", o.config,
                "The configuration (/etc/hostler/hostler.json; with --expr none)")
      ->type_name("FILE");
  CLI::Option* set =
      c->add_option("--set", o.set,
                    "A metric, or created, started, idle, busy or queued, in place of what is "
                    "read; repeat for more")
          ->type_name("NAME=N")
          ->allow_extra_args(false);
  CLI::Option* at =
      c->add_option("--at", o.at, "As of this time: 2026-11-21T10:15:04Z, or seconds since 1970")
          ->type_name("TIME");
  c->add_option("--test", o.test, "Check the cases of this file, and read nothing")
      ->type_name("FILE")
      ->excludes(expr)
      ->excludes(set)
      ->excludes(at);
  c->add_flag("--json", o.json, "Print JSON");
  c->callback([&a, &chosen] {
    if (a.eval.pool.empty() == a.eval.expr.empty())
      throw CLI::ValidationError("give a pool or --expr TEXT");
    chosen.without_daemon = [&a] { return eval(a.eval); };
  });
}

}  // namespace

void add_planning_commands(CLI::App& app, Arguments& a, Chosen& chosen) {
  add_plan(app, a, chosen);
  add_simulate(app, a, chosen);
  add_eval(app, a, chosen);
}

}  // namespace hostler::cli
