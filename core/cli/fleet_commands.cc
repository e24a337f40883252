#include "core/cli/command_line.h"

namespace hostler::cli {
namespace {

void add_instances(CLI::App& app, Arguments& a, Chosen& chosen) {
  CLI::App* list = add(app, chosen, "instances", "List instances", [&a](Client& client) {
    return instances(client, a.json, a.form == "wide");
  });
  list->add_flag("--json", a.json, "Print JSON");
  list->add_option("-o", a.form, "\"wide\": also GPUs by state, and whole lines")
      ->type_name("FORM")
      ->check(one_of({"wide"}));
  const std::vector<std::pair<std::string, const char*>> actions{
      {"hold", "Keep instances, but place no work on them"},
      {"drain",
       "Place no work on instances, and destroy them when their jobs or leases have ended"},
      {"run", "Undo hold or drain"},
      {"kill", "Destroy instances now, with the jobs on them; a lease ends with its instance"},
      {"ready", "Report that hosts are ready, of pools whose readiness is reported"}};
  for (const auto& [action, help] : actions) {
    CLI::App* act = add(app, chosen, action.c_str(), help, [&a, action = action](Client& client) {
      return act_on_instances(client, action, a.ids, a.reason);
    });
    act->add_option("ids", a.ids, "E.g. h-7 h-8")
        ->type_name("INSTANCE")
        ->check(id_of("h"))
        ->required();
    if (action == "kill")
      act->add_option("--reason", a.reason, "Reason to record in the ledger")->type_name("TEXT");
  }
  CLI::App* c = add(app, chosen, "console", "Show the end of what an instance wrote to its console",
                    [&a](Client& client) { return console(client, a.id, a.json); });
  c->add_option("id", a.id, "E.g. h-7")->type_name("INSTANCE")->check(id_of("h"))->required();
  c->add_flag("--json", a.json, "Print JSON");
}

void add_push(CLI::App& app, Arguments& a, Chosen& chosen) {
  PushOptions& o = a.push;
  CLI::App* c = add(app, chosen, "push", "Say for a scheduler of your own what its pool needs",
                    [&a](Client& client) { return push(client, a.push); });
  c->add_option("pool", o.pool, "The pool")->type_name("POOL")->required();
  c->add_option("--file", o.file, "Needed: the push, as JSON; - is standard input")
      ->type_name("FILE")
      ->required();
  c->add_flag("--json", o.json, "Print JSON");
}

void add_sets(CLI::App& app, Arguments& a, Chosen& chosen) {
  CLI::App* c =
      add_list(app, a, chosen, "sets", "List instance sets and the state of their clouds", sets);
  CLI::App* accept = add(*c, chosen, "accept-account",
                         "Use the account and region that the set's cloud reports now",
                         [&a](Client& client) { return accept_account(client, a.id); });
  CLI::App* believe =
      add(*c, chosen, "believe",
          "Show the instances that the set's last list omits, or is doubted for, or believe it",
          [&a](Client& client) { return believe_list(client, a.id, a.list); });
  believe
      ->add_option(
          "--list", a.list,
          "Believe list number N, the one that you saw: the instances it omits are gone, and those "
          "that it is doubted for are the set's")
      ->check(positive())
      ->type_name("N");
  CLI::App* end =
      add(*c, chosen, "give-up", "Destroy the hosts of the set that became unreachable together",
          [&a](Client& client) { return give_up(client, a.id); });
  for (CLI::App* of_set : {accept, believe, end})
    of_set->add_option("set", a.id, "The instance set")->type_name("SET")->required();
}

void add_gates(CLI::App& app, Arguments& a, Chosen& chosen) {
  CLI::App* c =
      add_list(app, a, chosen, "gates",
               "List shut gates: requests that clouds refused, and until when they wait", gates);
  c = add(*c, chosen, "open", "Open a gate: the requests that it holds back are tried now",
          [&a](Client& client) { return open_gate(client, a.subject); });
  c->add_option("key", a.subject, "The gate, in quotes, as gates prints it")
      ->type_name("KEY")
      ->required();
}

void add_money(CLI::App& app, Arguments& a, Chosen& chosen) {
  CLI::App* c = add(app, chosen, "prices", "Show the prices that clouds reported",
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
}

void add_looks(CLI::App& app, Arguments& a, Chosen& chosen) {
  CLI::App* c =
      add(app, chosen, "why", "Explain the state of a job, lease, instance, pool, set or gate",
          [&a](Client& client) { return why(client, a.subject, a.json); });
  c->add_option("subject", a.subject,
                "j-42, l-3, h-7, \"pool NAME\", \"set NAME\", \"gate KEY\" or site")
      ->type_name("SUBJECT")
      ->required();
  c->add_flag("--json", a.json, "Print JSON");
  c = add(app, chosen, "events", "Print events as they happen, one JSON record per line",
          [&a](Client& client) { return events(client, a.after); });
  c->add_option("--after", a.after, "Only events after this revision")
      ->type_name("REV")
      ->check(whole_number());
}

}  // namespace

/// In the order of the manual.
void add_fleet_commands(CLI::App& app, Arguments& a, Chosen& chosen) {
  add_instances(app, a, chosen);
  add_list(app, a, chosen, "pools", "List pools", pools);
  add_push(app, a, chosen);
  add_list(app, a, chosen, "types", "List instance types, also those that pools choose", types);
  add_sets(app, a, chosen);
  add_gates(app, a, chosen);
  add_money(app, a, chosen);
  add_looks(app, a, chosen);
}

}  // namespace hostler::cli
